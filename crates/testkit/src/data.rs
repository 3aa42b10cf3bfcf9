//! Data of other projects to compare with, which is not part of the repository: below `MIZZEN_DATA`, else beside the
//! repository in `../shared/data`. Where there is none, those tests are `not here`: named and counted apart, in CI too.

use std::path::{Path, PathBuf};

/// `data!(folder, "kcl-openapi");` as the first line of a test.
#[macro_export]
macro_rules! data {
    ($folder:ident, $name:expr) => {
        let Some($folder) = $crate::data::folder($name) else {
            return $crate::needs::not_here(&format!("no {} below MIZZEN_DATA or ../shared/data", $name));
        };
    };
}

/// A folder of the data, if it is at hand.
pub fn folder(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("MIZZEN_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    Some(named.unwrap_or_else(beside).join(name)).filter(|folder| folder.is_dir())
}
