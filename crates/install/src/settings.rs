//! `k8s` of a component: what a user says about Kubernetes' own fields is laid on the objects that the chart made.
//!
//! In: an entry and its rendered objects. Out: the same objects, patched: first by fields, as strategic merges, then by
//! `overlays`, path by path. A setting for an object that the chart did not make changes nothing.

use mizzen_text::{Code, Diagnostic, Severity, Step};
use serde_json::{Map, Value, json};

use crate::{
    Component, Entry, Manifest, Refused,
    component::Workload,
    patch::{PatchError, overlay, strategic},
    tree,
};

/// Which object a field of `k8s` is about, and where in it.
enum Target {
    Pod(&'static [&'static str]),
    Container(&'static str),
    Workload(&'static [&'static str]),
    Other(&'static str, &'static [&'static str]),
}

const FIELDS: [(&str, Target); 16] = [
    ("affinity", Target::Pod(&["spec", "affinity"])),
    ("env", Target::Container("env")),
    ("hpaSpec", Target::Other("HorizontalPodAutoscaler", &["spec"])),
    ("imagePullPolicy", Target::Container("imagePullPolicy")),
    ("nodeSelector", Target::Pod(&["spec", "nodeSelector"])),
    ("podAnnotations", Target::Pod(&["metadata", "annotations"])),
    ("podDisruptionBudget", Target::Other("PodDisruptionBudget", &["spec"])),
    ("priorityClassName", Target::Pod(&["spec", "priorityClassName"])),
    ("readinessProbe", Target::Container("readinessProbe")),
    ("replicaCount", Target::Workload(&["spec", "replicas"])),
    ("resources", Target::Container("resources")),
    ("securityContext", Target::Pod(&["spec", "securityContext"])),
    ("service", Target::Other("Service", &["spec"])),
    ("serviceAnnotations", Target::Other("Service", &["metadata", "annotations"])),
    ("strategy", Target::Workload(&["spec", "strategy"])),
    ("tolerations", Target::Pod(&["spec", "tolerations"])),
];

/// Patches the objects of one entry; tells what could not be done but is no reason to stop.
pub(crate) fn apply(
    component: &Component,
    entry: &Entry,
    values: &Value,
    objects: &mut [Manifest],
) -> Result<Vec<Diagnostic>, Refused> {
    let Some(k8s) = &entry.k8s else { return Ok(Vec::new()) };
    let mut warnings = Vec::new();
    if let Some(workload) = component.workload() {
        let name = object_name(component, workload, entry, values);
        for (field, target) in FIELDS {
            let Some(value) = k8s.get(field) else { continue };
            let (kind, patch) = patch(workload, &target, setting(component, field, value));
            for object in objects.iter_mut().filter(|it| it.kind() == kind && it.name() == name) {
                object
                    .change(|object| {
                        strategic(object, &patch)?;
                        if field == "podDisruptionBudget" {
                            one_bound(object);
                        }
                        Ok(())
                    })
                    .map_err(|error: PatchError| about(Code::Invalid, entry, &[field], error.to_string()))?;
            }
        }
    }
    for (index, item) in k8s.get("overlays").and_then(Value::as_array).into_iter().flatten().enumerate() {
        overlay_objects(entry, index, item, objects, &mut warnings);
    }
    Ok(warnings)
}

/// What the workload and all that belongs to it are called.
fn object_name(component: &Component, workload: &Workload, entry: &Entry, values: &Value) -> String {
    let name = if entry.name.is_empty() { workload.name } else { &entry.name };
    match tree::text(values, &["revision"]) {
        Some(revision) if component.name == "Pilot" && !matches!(revision, "" | "default") => {
            format!("{name}-{revision}")
        }
        _ => name.to_owned(),
    }
}

/// The ports of a gateway's Service went into its chart as values: merging them by their numbers loses those that differ
/// only by protocol (kubernetes#103544).
fn setting(component: &Component, field: &str, value: &Value) -> Value {
    let mut value = value.clone();
    if field == "service" && component.is_gateway() && value.is_object() {
        tree::put(&mut value, &["ports"], json!([]));
    }
    value
}

fn patch(workload: &Workload, target: &Target, value: Value) -> (&'static str, Value) {
    let mut patch = Value::Object(Map::new());
    let kind = match target {
        Target::Other(kind, way) => {
            tree::put(&mut patch, way, value);
            kind
        }
        Target::Workload(way) => {
            tree::put(&mut patch, way, value);
            workload.kind
        }
        Target::Pod(way) => {
            tree::put(&mut patch, &[&["spec", "template"], *way].concat(), value);
            workload.kind
        }
        Target::Container(field) => {
            let containers = json!([{"name": workload.container, *field: value}]);
            tree::put(&mut patch, &["spec", "template", "spec", "containers"], containers);
            workload.kind
        }
    };
    (kind, patch)
}

/// A budget has one bound. The chart's own default is the lower one, so the user's upper one wins.
fn one_bound(budget: &mut Value) {
    let has = |field| tree::get(budget, &["spec", field]).is_some();
    if has("maxUnavailable") && has("minAvailable") {
        tree::put(budget, &["spec", "minAvailable"], Value::Null);
    }
}

fn overlay_objects(
    entry: &Entry,
    index: usize,
    item: &Value,
    objects: &mut [Manifest],
    warnings: &mut Vec<Diagnostic>,
) {
    let text = |field| item.get(field).and_then(Value::as_str).unwrap_or_default();
    let patches: Vec<(String, Option<Value>)> = item
        .get("patches")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|patch| {
            let path = patch.get("path").and_then(Value::as_str).unwrap_or_default();
            (path.to_owned(), patch.get("value").filter(|value| !value.is_null()).cloned())
        })
        .collect();
    // The overlay's apiVersion is not looked at: charts move on, and old files still work.
    let (kind, name) = (text("kind"), text("name"));
    let mut found = false;
    for object in objects.iter_mut().filter(|it| it.kind() == kind && it.name() == name) {
        found = true;
        // Istioctl drops these errors without a word; the rest of the patches is done all the same.
        for error in object.change(|object| overlay(object, &patches)).err().into_iter().flatten() {
            warnings.push(overlay_warning(entry, index, format!("{kind} {name} is not patched: {error}")));
        }
    }
    if !found {
        let message = format!("there is no {kind} {name} among the rendered objects, so nothing is patched");
        warnings.push(overlay_warning(entry, index, message));
    }
}

fn overlay_warning(entry: &Entry, index: usize, message: String) -> Diagnostic {
    let mut warning = about(Code::Doubtful, entry, &["overlays"], message).severity(Severity::Warning);
    warning.path.0.push(Step::Index(index));
    warning
}

fn about(code: Code, entry: &Entry, fields: &[&str], message: String) -> Diagnostic {
    let mut path = entry.path.clone();
    path.0.extend(["k8s"].iter().chain(fields).map(|field| Step::Field((*field).to_owned())));
    Diagnostic::new(code, message).path(path)
}
