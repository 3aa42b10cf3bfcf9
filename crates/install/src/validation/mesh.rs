//! The mesh's configuration, which an IstioOperator may have in two places: `spec.meshConfig` and `spec.values.meshConfig`.
//!
//! The first is merged into the second before anybody asks, so what is wrong with it is mostly found twice and told once.

use mizzen_api::{
    Unreadable, mesh,
    proto::{istio::mesh::v1alpha1::MeshConfig, istio_descriptors},
};
use mizzen_check::mesh::mesh_config;
use mizzen_text::{At, Severity, Step, nearest};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::Value;

use super::{Finding, Findings};

const MESSAGE: &str = "istio.mesh.v1alpha1.MeshConfig";

/// How many fields that cannot be read are passed over to get at the rest.
const UNREADABLE: usize = 32;

pub(super) fn check(config: &Value, values: &Value, spec: &At<'_>, found: &mut Findings) {
    let own = findings(config);
    let mut in_values = findings(values.get("meshConfig").unwrap_or(&Value::Null));
    in_values.errors.retain(|finding| !own.errors.contains(finding));
    in_values.warnings.retain(|finding| !own.warnings.contains(finding));
    let values = spec.field("values");
    for (at, part) in [(spec.field("meshConfig"), own), (values.field("meshConfig"), in_values)] {
        for finding in part.errors {
            found.push_error(below(&at, finding));
        }
        found.warnings.extend(part.warnings.into_iter().map(|finding| below(&at, finding)));
    }
}

fn below(at: &At<'_>, mut finding: Finding) -> Finding {
    let mut path = at.path();
    path.0.append(&mut finding.path.0);
    Finding { path, ..finding }
}

/// Paths are from the top of the configuration.
fn findings(config: &Value) -> Findings {
    let mut found = Findings::default();
    if config.is_null() {
        return found;
    }
    if let Some(message) = istio_descriptors().get_message_by_name(MESSAGE) {
        unknown(&message, config, &At::TOP, &mut found);
    }
    let Some(mesh) = read(config, &mut found) else { return found };
    for finding in mesh_config(&mesh).iter() {
        let list = if finding.severity == Severity::Error { &mut found.errors } else { &mut found.warnings };
        list.push(Finding {
            path: finding.path.clone(),
            message: finding.message.clone(),
            hint: finding.hint.clone(),
        });
    }
    found
}

/// The configuration without the fields that cannot be read: one of them must not hide what else is wrong.
fn read(config: &Value, found: &mut Findings) -> Option<MeshConfig> {
    let mut rest = config.clone();
    for _ in 0..UNREADABLE {
        match mesh::apply_mesh_config(&mesh::mesh_config(), &rest) {
            Ok(mesh) => return Some(mesh),
            Err(Unreadable::Field { path, message }) => {
                let removed = remove(&mut rest, &path.0);
                found.push_error(Finding { path, message, hint: None });
                if !removed {
                    return None;
                }
            }
            Err(other) => {
                found.error(&At::TOP, other.to_string());
                return None;
            }
        }
    }
    None
}

fn remove(value: &mut Value, path: &[Step]) -> bool {
    let Some((last, way)) = path.split_last() else { return false };
    let parent = way.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Index(index) => value.get_mut(index),
    });
    match (parent, last) {
        (Some(Value::Object(fields)), Step::Field(name)) => fields.remove(name).is_some(),
        (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

/// Istioctl takes what it does not know in silence, and then it has no effect.
fn unknown(message: &MessageDescriptor, value: &Value, at: &At<'_>, found: &mut Findings) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let at = at.field(name);
        match message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name)) {
            Some(field) => unknown_in(&field, value, &at, found),
            None => {
                let names: Vec<String> = message.fields().map(|field| field.json_name().to_owned()).collect();
                let meant = nearest(name, names.iter().map(String::as_str));
                let hint = meant.map(|meant| format!("did you mean `{meant}`?"));
                found.warning(&at, format!("unknown field `{name}`, which has no effect"), hint);
            }
        }
    }
}

fn unknown_in(field: &FieldDescriptor, value: &Value, at: &At<'_>, found: &mut Findings) {
    let kind = match field.kind() {
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    };
    let Kind::Message(message) = kind else { return };
    if message.package_name() == "google.protobuf" {
        return;
    }
    match value {
        Value::Object(entries) if field.is_map() => {
            for (key, value) in entries {
                unknown(&message, value, &at.field(key), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                unknown(&message, item, &at.index(index), found);
            }
        }
        value => unknown(&message, value, at, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_two_places_have_in_common_is_told_once() {
        let wrong = json!({ "accessLogFile": 5, "trustDomain": "" });
        let mut found = Findings::default();
        check(&wrong, &json!({ "meshConfig": wrong }), &At::TOP.field("spec"), &mut found);
        let paths: Vec<String> = found.errors.iter().map(|finding| finding.path.to_string()).collect();
        assert_eq!(paths, ["spec.meshConfig.accessLogFile", "spec.meshConfig.trustDomain"]);
    }

    #[test]
    fn an_unknown_field_is_a_warning_with_the_nearest_name() {
        let found = findings(&json!({ "acessLogFile": "/dev/stdout", "defaultConfig": { "tracng": {} } }));
        assert_eq!(found.errors, []);
        let hints: Vec<_> = found.warnings.into_iter().filter_map(|finding| finding.hint).collect();
        assert_eq!(hints, ["did you mean `accessLogFile`?", "did you mean `tracing`?"]);
    }

    #[test]
    fn a_field_that_cannot_be_removed_ends_the_reading() {
        assert!(!remove(&mut json!({}), &[]));
    }
}
