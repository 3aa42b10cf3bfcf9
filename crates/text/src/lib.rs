//! Text in and out: YAML as kubectl reads it and as Go prints it, and one kind of diagnostic for everything that is
//! wrong with what a person wrote. Knows none of the kinds.

mod path;
mod severity;

pub use path::{At, Path, Step};
pub use severity::Severity;
