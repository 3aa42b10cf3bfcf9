//! What a rendering gives: the text of every template, the notes apart.

use crate::Printed;

/// What came out of it.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// Every template that is no partial, the empty ones, too, sorted by name; NOTES.txt apart.
    pub files: Vec<(String, String)>,
    /// The chart's own NOTES.txt.
    pub notes: Option<String>,
    /// The files of `crds/`, as they are.
    pub crds: Vec<(String, String)>,
    /// What is odd about the values.
    pub warnings: Vec<String>,
    /// Documents in the files that need not be read to be printed.
    pub printed: Printed,
}
