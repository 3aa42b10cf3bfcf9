//! Go's text/template, Sprig and the Helm engine on top: charts and values in, text out.
//!
//! ```text
//! text ─▶ lex ─▶ parse ─▶ tree ─┐
//! values ─▶ Value ──────────────┴─▶ exec (Functions, Limits) ─▶ text, or a Failure with its places
//! helm: files ─▶ Chart ─▶ coalesced values ─▶ every template on one shared root ─▶ rendered files
//! ```
//!
//! Maps are shared by reference, as in Go: charts change `.Values` while they render and later templates see it.
//! Knows no Kubernetes; no function reads a file, the network, the environment or the clock.

mod exec;
mod failure;
mod function;
mod go;
pub mod helm;
pub mod injection;
mod lex;
mod limits;
mod memory;
mod parse;
pub mod sprig;
mod value;

pub use exec::{MissingKey, Run, Templates};
pub use failure::{Failure, Place};
pub use function::{Call, Function, Functions, Host};
pub use limits::Limits;
pub use memory::{Memory, Printed};
pub use parse::Template;
pub use value::{Elements, List, Map, Object, Value};
