//! Definitions and their models in a test.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

pub(crate) mod fits;

use mizzen_api::crd::Crd;
use mizzen_backbone::{Definition, File, Language, files, read};
use mizzen_text::{Diagnostic, Source};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
};

pub(crate) fn definitions(name: &str, text: impl Into<Vec<u8>>) -> Vec<Definition> {
    let mut diagnostics = Vec::new();
    let definitions = read(&Source::new(name, text), &mut diagnostics);
    assert!(diagnostics.is_empty(), "{}", told(&diagnostics));
    definitions
}

/// All of Istio's kinds.
pub(crate) fn istio() -> Vec<Definition> {
    let items: Vec<_> = Crd::all().map(Crd::object).collect();
    definitions("crds.json", json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string())
}

pub(crate) fn told(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| diagnostic.for_people(false)).collect()
}

pub(crate) fn models(definitions: &[Definition], language: Language) -> Vec<File> {
    files(definitions, language, "models")
}

/// A folder that goes with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn write_all(&self, files: &[File]) {
        for file in files {
            self.write(&file.path, &file.text);
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
