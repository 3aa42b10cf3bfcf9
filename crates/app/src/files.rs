//! Where the files of an application come from. The rest of the crate does no I/O.

use mizzen_text::{Diagnostic, Source};

pub trait Files {
    /// A file by its name, from the folder of `app.yaml`; nothing where there is none.
    fn file(&self, name: &str) -> Result<Option<Source>, Box<Diagnostic>>;

    /// The names of the files in the folder of `app.yaml`.
    fn names(&self) -> Vec<String>;

    /// The YAML and JSON files of a folder, or the one file of that name, in a stable order.
    fn folder(&self, name: &str) -> Vec<Result<Source, Box<Diagnostic>>>;
}
