//! A proxy, and what builders may ask about it.

mod attributes;
mod node;
mod sees;
mod subject;

pub use attributes::{Answer, Attributes, Facts, Question, Reads, Target};
pub use node::{Interception, Node, Proxy, ProxyKind, Refused};
pub use sees::Sees;
pub use subject::Subject;
