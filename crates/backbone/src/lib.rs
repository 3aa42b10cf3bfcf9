//! Models out of custom resource definitions: what a definition says of an object, in the words of another language.
//!
//! In: the text of CRDs, of any group. Out: files of KCL, JSON Schema or Rust, or everything that is wrong with the
//! definitions, each at its line. There is one form in the middle ([`Schema`]: types, limits, defaults, groups of which one
//! may be given, rules in CEL), and a printer for each language. No kind is known here by name.

mod cel;
mod crd;
mod json_schema;
pub mod kcl;
mod metadata;
mod names;
mod rust;
mod schema;
mod shapes;
mod words;

pub use crd::{Definition, Version, read};
pub use schema::{Additional, Field, Kind, Limits, Rule, Schema};

/// What the models are printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Kcl(kcl::Style),
    JsonSchema,
    Rust,
}

/// One file to be written, its path below the folder of the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub text: String,
    /// Whether it is only a beginning: one that is there already stays as it is.
    pub beginning: bool,
}

impl File {
    fn new(path: String, text: String) -> Self {
        Self { path, text, beginning: false }
    }
}

/// The files of all versions of all definitions, sorted by path.
pub fn files(definitions: &[Definition], language: Language, package: &str) -> Vec<File> {
    let mut files = match language {
        Language::Kcl(style) => kcl::files(definitions, style, package),
        Language::JsonSchema => json_schema::files(definitions),
        Language::Rust => rust::files(definitions),
    };
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}
