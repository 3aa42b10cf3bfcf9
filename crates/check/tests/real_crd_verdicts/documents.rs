//! Documents to judge, out of folders of YAML files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use mizzen_api::crd::Crd;
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};

/// In which every document is sent, so that none waits for its own.
pub(crate) const NAMESPACE: &str = "default";

pub(crate) struct Named {
    /// File and number, for people.
    pub(crate) name: String,
    pub(crate) object: Value,
    /// What Istio's own test expects to be said of it.
    #[allow(dead_code, reason = "one of the two tests asks for it")]
    pub(crate) expected: Option<String>,
}

/// The Istio objects of all YAML files under a folder; says how many documents were none.
pub(crate) fn of_folder(folder: &Path) -> Vec<Named> {
    let mut found = Vec::new();
    let (mut others, mut unreadable) = (0, Vec::new());
    for file in files(folder) {
        let short = file.strip_prefix(folder).unwrap().display().to_string();
        for (number, document) in read(&file).into_iter().enumerate() {
            match document {
                Ok(object) if is_istio(&object) => {
                    let expected = object["_err"].as_str().map(str::to_owned);
                    let name = format!("{short} #{}", number + 1);
                    found.push(Named { name, object: ready(object), expected });
                }
                Ok(_) => others += 1,
                Err(_) => unreadable.push(short.clone()),
            }
        }
    }
    let name = folder.file_name().unwrap().to_string_lossy();
    println!(
        "{name}: {} Istio objects; passed by: {others} others, {} that are no YAML as they stand {unreadable:?}",
        found.len(),
        unreadable.len()
    );
    found
}

/// Our own: odd specs in every version of their kind, and odd metadata.
pub(crate) fn hostile() -> Vec<Named> {
    let folder = own("hostile");
    let mut found = Vec::new();
    for document in read(&folder.join("specs.yaml")).into_iter().map(Result::unwrap) {
        let kind = document["kind"].as_str().unwrap();
        for spec in document["specs"].as_array().unwrap() {
            found.extend(in_every_version(kind, spec));
        }
    }
    for document in read(&folder.join("metadata.yaml")).into_iter().map(Result::unwrap) {
        for metadata in document["metadata"].as_array().unwrap() {
            let object =
                json!({ "apiVersion": "networking.istio.io/v1", "kind": "Gateway", "metadata": metadata });
            found.push(Named { name: format!("metadata {metadata:.150}"), object, expected: None });
        }
    }
    found
}

pub(crate) fn in_every_version(kind: &str, spec: &Value) -> Vec<Named> {
    let crd = Crd::called(kind).unwrap();
    let objects = crd.served().map(|version| {
        let object = json!({
            "apiVersion": format!("{}/{version}", crd.group),
            "kind": kind,
            "metadata": { "name": "x", "namespace": NAMESPACE },
            "spec": spec,
        });
        Named { name: format!("{kind} {version} {spec:.150}"), object, expected: None }
    });
    objects.collect()
}

/// A folder beside the tests.
pub(crate) fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crd-rules").join(name)
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(crate) fn read(file: &Path) -> Vec<Result<Value, String>> {
    let source = Source::new(file.display().to_string(), fs::read(file).unwrap());
    let options = yaml::Options::default();
    let documents = yaml::load_all(&source, &options);
    documents
        .map(|document| document.map(|document| document.value).map_err(|error| format!("{error:?}")))
        .collect()
}

fn is_istio(object: &Value) -> bool {
    let group =
        object["apiVersion"].as_str().and_then(|version| version.split_once('/')).map(|(group, _)| group);
    object["kind"].as_str().is_some_and(|kind| Crd::of(group.unwrap_or_default(), kind).is_some())
}

/// Without what only upstream's test reads, and in the namespace that is there.
fn ready(mut object: Value) -> Value {
    object.as_object_mut().unwrap().remove("_err");
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.insert("namespace".to_owned(), NAMESPACE.into());
    }
    object
}
