//! Text in and out: YAML as kubectl reads it and as Go prints it, and one kind of diagnostic for everything that is
//! wrong with what a person wrote. Knows none of the kinds.

mod diagnostic;
mod nearest;
mod path;
mod severity;
mod source;
pub mod yaml;

pub use diagnostic::{Code, Diagnostic, Object, Related, to_sarif};
pub use nearest::nearest;
pub use path::{At, Path, Step};
pub use severity::Severity;
pub use source::{Place, Source};
