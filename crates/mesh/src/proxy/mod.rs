//! A proxy, and what builders may ask about it.

mod attributes;
mod node;
mod sees;

pub use attributes::{Answer, Attributes, Question, Reads, Target};
pub use node::{Interception, Node, Proxy, ProxyKind, Refused};
pub use sees::Sees;
