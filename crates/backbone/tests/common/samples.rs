//! The objects of Istio's own samples, of the kinds that have a definition here.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

use mizzen_api::crd::Crd;
use mizzen_testkit::tools;
use mizzen_text::{Source, yaml};
use serde_json::Value;
use std::{fs, path::Path};

pub(crate) struct Sample {
    pub(crate) file: String,
    pub(crate) object: Value,
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

pub(crate) fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    collect(&tools::folder("modules/istio").unwrap().join("samples"), &mut samples);
    samples
}

fn collect(folder: &Path, samples: &mut Vec<Sample>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, samples);
        } else if path.extension().is_some_and(|end| end == "yaml") {
            let source = Source::new(path.display().to_string(), fs::read(&path).unwrap());
            // Some are templates.
            for document in yaml::load_all(&source, &yaml::Options::KUBERNETES).flatten() {
                samples.extend(sample(&path, document.value));
            }
        }
    }
}

fn sample(path: &Path, object: Value) -> Option<Sample> {
    let (group, version) = object["apiVersion"].as_str()?.split_once('/')?;
    let kind = object["kind"].as_str()?;
    Crd::of(group, kind)?.schema(version)?;
    let (group, version, kind) = (group.to_owned(), version.to_owned(), kind.to_owned());
    Some(Sample { file: path.display().to_string(), object, group, version, kind })
}
