//! Istio objects of the installed module: what its own tests and its users write.

use mizzen_api::Identity;
use mizzen_testkit::tools;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// An object of one of Istio's kinds, and where it stands.
pub(crate) struct Found {
    pub(crate) file: String,
    pub(crate) object: Value,
}

/// Every Istio object in the YAML files below a folder of the tools cache. Files that are no YAML, such as templates of
/// charts, have none.
pub(crate) fn below(folder: &str) -> Vec<Found> {
    let top = tools::folder(folder).unwrap();
    let mut files = Vec::new();
    walk(&top, &mut files);
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(&top).unwrap().display().to_string();
        let source = Source::new(name.clone(), fs::read(&file).unwrap());
        for document in yaml::load_all(&source, &Options::KUBERNETES).flatten() {
            objects(document.value, &name, &mut found);
        }
    }
    found
}

fn objects(value: Value, file: &str, found: &mut Vec<Found>) {
    if Identity::of(&value).is_some_and(|identity| identity.istio_kind().is_some()) {
        found.push(Found { file: file.to_owned(), object: value });
    } else if let Some(Value::Array(items)) = value.get("items").cloned() {
        items.into_iter().for_each(|item| objects(item, file, found));
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            files.push(path);
        }
    }
}
