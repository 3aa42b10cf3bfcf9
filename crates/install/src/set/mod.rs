//! `--set path=value`: the path language, the type of the value, and the change in the tree.
//!
//! In: a tree and what was typed. Out: the changed tree and the concrete path that was written, or one sentence that says
//! why not. The language is istioctl's: fields are parted by dots, `\.` is a dot in a name, `name[0]` (or `name.[0]`) is an
//! item of a list, past its end a new one, `[key:value]` the item whose field is the value.
//!
//! What istioctl loses or breaks down over is done or refused here: a value below null, a replaced list item, a path
//! without a name. `null` as a value means that nothing shall be there.

mod path;
mod read;
mod typed;
mod write;

use mizzen_text::Path;
use serde_json::Value;

pub use read::get_path;
pub use typed::typed;
pub use write::{SetError, set_path};

/// One `--set`, read but not yet done.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// From the top of the IstioOperator; `spec` is put in front of what was typed.
    pub path: String,
    pub value: Value,
    /// `path` alone, without `=`: the value is empty then.
    pub bare: bool,
}

impl Assignment {
    /// Reads `path=value`. The first `=` parts them, so that values may have some.
    pub fn read(text: &str) -> Self {
        let (path, value, bare) = match text.split_once('=') {
            Some((path, value)) => (path.trim(), value.trim(), false),
            None => (text, "", true),
        };
        let path = format!("spec.{path}");
        let value = match value {
            "null" => Value::Null,
            _ => typed(&path, value),
        };
        Self { path, value, bare }
    }

    pub fn apply(&self, tree: &mut Value) -> Result<Path, SetError> {
        set_path(tree, &self.path, self.value.clone())
    }
}
