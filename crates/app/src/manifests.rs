//! `manifests`: plain Kubernetes objects that belong to the application. They are taken as they are; only what names no
//! namespace gets the application's.

use crate::{
    files::Files,
    front::shape::Fields,
    made::{Made, Origin},
    naming,
    platform::{PLATFORM, Platform},
    release::Owner,
    secret,
};
use mizzen_cluster::ObjectId;
use mizzen_text::{
    Code, Diagnostic, Path, Severity, Step,
    yaml::{Document, Options, load_all},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Kubernetes' own kinds that live in no namespace.
const CLUSTER_WIDE: [&str; 31] = [
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "CustomResourceDefinition",
    "DeviceClass",
    "FlowSchema",
    "GatewayClass",
    "IPAddress",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceSlice",
    "RuntimeClass",
    "ServiceCIDR",
    "StorageClass",
    "StorageVersionMigration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "VolumeAttributesClass",
];

/// Whether objects of a kind live in a namespace, as far as that is known without a cluster.
fn is_namespaced(api_version: &str, kind: &str, defined: &BTreeMap<(String, String), bool>) -> Option<bool> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if let Some(&namespaced) = defined.get(&(group.to_owned(), kind.to_owned())) {
        return Some(namespaced);
    }
    let known = !group.contains('.') || group.ends_with(".k8s.io") || group.ends_with(".istio.io");
    known.then(|| !CLUSTER_WIDE.contains(&kind))
}

/// What the definitions among these documents say of their kinds.
fn defined(documents: &[Document]) -> BTreeMap<(String, String), bool> {
    let mut defined = BTreeMap::new();
    for (_, object) in documents.iter().flat_map(items) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        if let ("CustomResourceDefinition", Some(group), Some(kind)) =
            (text("/kind").unwrap_or_default(), text("/spec/group"), text("/spec/names/kind"))
        {
            let cluster_wide = text("/spec/scope") == Some("Cluster");
            defined.insert((group.to_owned(), kind.to_owned()), !cluster_wide);
        }
    }
    defined
}

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

impl Manifests {
    /// Objects that have the names of records: the next release would write over them, or they over it.
    pub(crate) fn records(&self, owner: &Owner) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        for made in &self.made {
            let Origin::Manifest { file, at } = &made.origin else { continue };
            if ObjectId::of(&made.object).is_ok_and(|id| owner.is_record(&id)) {
                let steps = ["metadata", "name"].map(|step| Step::Field(step.to_owned()));
                let path = Path(at.0.iter().cloned().chain(steps).collect());
                let message =
                    format!("releases of {} are recorded under the name `{}`", owner.name(), made.name());
                let place = self.documents[*file].place(&path);
                let hint = "records are written by `apply` alone: take the object out";
                told.push(Diagnostic::new(Code::AppName, message).at(place).path(path).hint(hint));
            }
        }
        told
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
    let defined = defined(&read.documents);
    for file in 0..read.documents.len() {
        objects(&mut read, file, namespace, &defined);
    }
    read
}

/// The objects of a document: a `List` is its items.
fn items(document: &Document) -> Vec<(Path, &Value)> {
    let items = document.value["items"]
        .as_array()
        .filter(|_| document.value["kind"].as_str().is_some_and(|kind| kind.ends_with("List")));
    match items {
        Some(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (Path(vec![Step::Field("items".to_owned()), Step::Index(index)]), item))
            .collect(),
        None => vec![(Path::default(), &document.value)],
    }
}

fn objects(read: &mut Manifests, file: usize, namespace: &str, defined: &BTreeMap<(String, String), bool>) {
    let document = &read.documents[file];
    let mut told = BTreeSet::new();
    for (at, object) in items(document) {
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
        if let Some((field, message)) = naming::refused_object(object) {
            let steps = ["metadata", field].map(|step| Step::Field(step.to_owned()));
            let path = Path(at.0.iter().cloned().chain(steps).collect());
            let place = document.place(&path);
            read.diagnostics.push(Diagnostic::new(Code::AppName, message).at(place).path(path));
        }
        let (api_version, kind) =
            (text("/apiVersion").unwrap_or_default(), text("/kind").unwrap_or_default());
        let namespaced = is_namespaced(api_version, kind, defined);
        let mut object = object.clone();
        secret::encode(&mut object);
        if object["metadata"]["namespace"].is_null() && namespaced.unwrap_or(true) {
            if namespaced.is_none() && told.insert((api_version, kind)) {
                let message = format!(
                    "whether {kind} of {api_version} lives in a namespace is known in a cluster only"
                );
                let hint = "name its namespace, or give its definition, too; `apply` asks the cluster";
                let place = document.place(&at);
                let doubt = Diagnostic::new(Code::AppDoubtful, message).severity(Severity::Info).at(place);
                read.diagnostics.push(doubt.path(at.clone()).hint(hint));
            }
            object["metadata"]["namespace"] = namespace.into();
        }
        read.made.push(Made { object, origin: Origin::Manifest { file, at }, unread: Vec::new() });
    }
}
