use crate::{Definition, File};
pub(crate) fn files(_: &[Definition]) -> Vec<File> {
    Vec::new()
}
