//! `manifests`: plain Kubernetes objects that belong to the application. They are taken as they are; only what names no
//! namespace gets the application's.

use crate::{
    files::Files,
    front::shape::Fields,
    made::{Made, Origin},
    platform::{PLATFORM, Platform},
};
use mizzen_text::{
    Code, Diagnostic, Path, Step,
    yaml::{Document, Options, load_all},
};
use serde_json::Value;

/// Kinds that live in no namespace. Those of others' own making are taken for namespaced unless they say so.
const CLUSTER_WIDE: [&str; 20] = [
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "FlowSchema",
    "GatewayClass",
    "IngressClass",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "RuntimeClass",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingWebhookConfiguration",
];

/// The objects of every folder that is named, and the documents that they stand in.
#[derive(Debug, Default)]
pub(crate) struct Manifests {
    pub(crate) documents: Vec<Document>,
    pub(crate) made: Vec<Made>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Manifests {
    /// Objects of Istio's kinds that the platform does not allow, wherever they are written.
    pub(crate) fn forbidden(&self, platform: &Platform) -> Vec<Diagnostic> {
        let mut forbidden = Vec::new();
        for made in &self.made {
            let text = |field: &str| made.object[field].as_str().unwrap_or_default();
            let is_istios =
                text("apiVersion").split('/').next().is_some_and(|group| group.ends_with(".istio.io"));
            let Origin::Manifest { file, at } = &made.origin else { continue };
            if is_istios && !platform.allows_named(text("kind")) {
                let message = format!("the platform does not allow {}", text("kind"));
                let hint = format!("{PLATFORM} lists the kinds that are allowed under `allowedKinds`");
                let place = self.documents[*file].place(at);
                forbidden
                    .push(Diagnostic::new(Code::AppForbidden, message).at(place).path(at.clone()).hint(hint));
            }
        }
        forbidden
    }
}

pub(crate) fn read(files: &dyn Files, head: &Fields, namespace: &str) -> Manifests {
    let mut read = Manifests::default();
    let folders = head.get("manifests").and_then(Value::as_array).into_iter().flatten();
    for source in folders.filter_map(Value::as_str).flat_map(|folder| files.folder(folder)) {
        match source {
            Err(diagnostic) => read.diagnostics.push(*diagnostic),
            Ok(source) => {
                for document in load_all(&source, &Options::KUBERNETES) {
                    match document {
                        Err(diagnostic) => read.diagnostics.push(*diagnostic),
                        Ok(mut document) => {
                            read.diagnostics.append(&mut document.warnings);
                            read.documents.push(document);
                        }
                    }
                }
            }
        }
    }
    for file in 0..read.documents.len() {
        objects(&mut read, file, namespace);
    }
    read
}

fn objects(read: &mut Manifests, file: usize, namespace: &str) {
    let document = &read.documents[file];
    let items = document.value["items"]
        .as_array()
        .filter(|_| document.value["kind"].as_str().is_some_and(|kind| kind.ends_with("List")));
    let all: Vec<(Path, &Value)> = match items {
        Some(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (Path(vec![Step::Field("items".to_owned()), Step::Index(index)]), item))
            .collect(),
        None => vec![(Path::default(), &document.value)],
    };
    for (at, object) in all {
        let text = |way: &str| object.pointer(way).and_then(Value::as_str).filter(|text| !text.is_empty());
        let missing = [("/apiVersion", "apiVersion"), ("/kind", "kind"), ("/metadata/name", "metadata.name")];
        let missing: Vec<&str> =
            missing.iter().filter(|(way, _)| text(way).is_none()).map(|(_, name)| *name).collect();
        if !missing.is_empty() {
            let message = format!("this is no Kubernetes object: it has no {}", missing.join(", no "));
            let place = document.place(&at);
            read.diagnostics.push(Diagnostic::new(Code::AppMissing, message).at(place).path(at));
            continue;
        }
        let mut object = object.clone();
        let kind = object["kind"].as_str().unwrap_or_default();
        if object["metadata"]["namespace"].is_null() && !CLUSTER_WIDE.contains(&kind) {
            object["metadata"]["namespace"] = namespace.into();
        }
        read.made.push(Made { object, origin: Origin::Manifest { file, at }, unread: Vec::new() });
    }
}
