//! The sample: a small chandlery of six services, one of them in three versions, served by this very binary.
//!
//! ```text
//! ingress ─▶ shop ─┬─▶ catalog ─▶ stock
//!                  ├─▶ prices
//!                  └─▶ reviews v1
//!                      reviews v2 ─▶ ratings
//!                      reviews v3 ─▶ ratings
//! ```

mod answer;
mod call;
mod serve;

pub use serve::{NotServing, serve};

use crate::state::write;
use std::{fs, io, path::Path};

pub(crate) const NAMES: [&str; 6] = ["catalog", "prices", "ratings", "reviews", "shop", "stock"];

/// The files of the sample mesh, by their paths.
const FILES: [(&str, &str); 6] = [
    ("mesh.yaml", include_str!("files/mesh.yaml")),
    ("mesh/ingress.yaml", include_str!("files/mesh/ingress.yaml")),
    ("mesh/reviews.yaml", include_str!("files/mesh/reviews.yaml")),
    ("try/half-v2.yaml", include_str!("files/try/half-v2.yaml")),
    ("try/ratings-fail.yaml", include_str!("files/try/ratings-fail.yaml")),
    ("try/README.md", include_str!("files/try/README.md")),
];

/// Writes what is not there yet: what somebody has changed stays.
pub(crate) fn write_files(folder: &Path) -> io::Result<()> {
    if folder.join("mesh.yaml").exists() {
        return Ok(());
    }
    for sub in ["mesh", "try"] {
        fs::create_dir_all(folder.join(sub))?;
    }
    // The file that says that all are there comes last.
    for (name, text) in FILES.iter().rev() {
        write(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}
