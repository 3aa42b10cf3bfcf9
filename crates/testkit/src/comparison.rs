//! Data of other projects that ours is compared with. It is not copied into this repository: it is looked for in the folder that
//! `MIZZEN_DATA` names, then in `../shared/data` beside the checkout. Where there is none, the tests that read it are `not here`,
//! in CI as well.

use std::{
    env,
    path::{Path, PathBuf},
};

/// A file or folder of the data.
pub fn find(name: &str) -> Option<PathBuf> {
    let named = env::var_os("MIZZEN_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    named.into_iter().chain([beside]).map(|folder| folder.join(name)).find(|place| place.exists())
}

/// The path of a file of the data; the test ends here, and is counted as not here, where there is none.
#[macro_export]
macro_rules! compared_with {
    ($name:expr) => {
        match $crate::comparison::find($name) {
            Some(place) => place,
            None => return $crate::needs::not_here($name),
        }
    };
}
