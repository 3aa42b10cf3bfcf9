//! The charts of this repository, as files: which there are, and where.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part, and may end at a surprise")]

pub(crate) mod comments;
pub(crate) mod logic;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every chart, by its folder, which is Istio's too.
pub(crate) const CHARTS: [&str; 4] =
    ["base", "istio-control/istio-discovery", "gateways/istio-ingress", "gateways/istio-egress"];

/// A folder at the root of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

pub(crate) fn chart(folder: &str) -> PathBuf {
    repository("charts").join(folder)
}

/// All files below a folder, with their paths in it, sorted.
pub(crate) fn files(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
