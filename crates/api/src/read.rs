//! A JSON document → an [`Object`]. Lenient, as Istio reads: a field that is not known is passed by, `null` is as good
//! as absent. [`Object::read_strict`] refuses unknown fields, all of them at once.

use crate::{Kind, Metadata, Object, Spec, fields, tolerant};
use mizzen_text::{Path, Step};
use prost_reflect::MessageDescriptor;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// What a document says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    pub api_version: &'a str,
    pub kind: &'a str,
}

impl<'a> Identity<'a> {
    /// Nothing without both names: then it is no Kubernetes object.
    pub fn of(document: &'a Value) -> Option<Self> {
        let text = |name| document.get(name).and_then(Value::as_str).filter(|text: &&str| !text.is_empty());
        Some(Self { api_version: text("apiVersion")?, kind: text("kind")? })
    }

    pub fn group(&self) -> &'a str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    pub fn version(&self) -> &'a str {
        self.api_version.split_once('/').map_or(self.api_version, |(_, version)| version)
    }

    /// The kind of ours that it names, in whatever version.
    pub fn istio_kind(&self) -> Option<Kind> {
        Kind::find(self.group(), self.kind)
    }
}

/// Why a document is no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it has no apiVersion and kind")]
    NoIdentity,
    #[error("{api_version} {kind} is not one of Istio's kinds")]
    NotIstio { api_version: String, kind: String },
    #[error("{kind} has no version {version}; it is served as {}", served.join(", "))]
    Version { kind: &'static str, version: String, served: &'static [&'static str] },
    #[error("{path}: {message}")]
    Field { path: Path, message: String },
    #[error("{} is an unknown field", .0.iter().map(Path::to_string).collect::<Vec<_>>().join(", "))]
    Unknown(Vec<Path>),
}

impl Object {
    /// Strict: the same, but for fields that the kind does not have.
    pub fn read_strict(document: &Value) -> Result<Self, Unreadable> {
        let object = Self::read(document)?;
        match fields::unknown_fields(document) {
            unknown if unknown.is_empty() => Ok(object),
            unknown => Err(Unreadable::Unknown(unknown)),
        }
    }

    pub fn read(document: &Value) -> Result<Self, Unreadable> {
        let identity = Identity::of(document).ok_or(Unreadable::NoIdentity)?;
        let kind = identity.istio_kind().ok_or_else(|| Unreadable::NotIstio {
            api_version: identity.api_version.to_owned(),
            kind: identity.kind.to_owned(),
        })?;
        let version = kind.version(identity.version()).ok_or_else(|| Unreadable::Version {
            kind: kind.name(),
            version: identity.version().to_owned(),
            served: kind.versions(),
        })?;
        Ok(Self {
            version,
            metadata: part::<Option<Metadata>>(document, "metadata")?.unwrap_or_default(),
            spec: spec(kind, document.get("spec").unwrap_or(&Value::Null))?,
            status: document.get("status").filter(|status| !status.is_null()).cloned(),
        })
    }
}

fn part<T: DeserializeOwned + Default>(document: &Value, name: &str) -> Result<T, Unreadable> {
    match document.get(name) {
        None => Ok(T::default()),
        Some(json) => serde_path_to_error::deserialize(json).map_err(|error| below(&[name], &error)),
    }
}

fn spec(kind: Kind, json: &Value) -> Result<Spec, Unreadable> {
    if json.is_null() {
        return Ok(Spec::empty(kind));
    }
    Spec::read(kind, json).or_else(|error| {
        let forgiven = kind.descriptor().and_then(|message| tolerant::forgiven(&message, json));
        let forgiven = forgiven.ok_or_else(|| below(&["spec"], &error))?;
        Spec::read(kind, &forgiven).map_err(|error| below(&["spec"], &error))
    })
}

/// A message that is no object's spec, as Istio reads it. `top` is where it stands in its document.
pub(crate) fn message<T: DeserializeOwned>(
    descriptor: &MessageDescriptor,
    json: &Value,
    top: &[&str],
) -> Result<T, Unreadable> {
    serde_path_to_error::deserialize(json).or_else(|error| {
        let forgiven = tolerant::forgiven(descriptor, json).ok_or_else(|| below(top, &error))?;
        serde_path_to_error::deserialize(&forgiven).map_err(|error| below(top, &error))
    })
}

fn below(top: &[&str], error: &serde_path_to_error::Error<serde_json::Error>) -> Unreadable {
    let mut steps: Vec<Step> = top.iter().map(|part| Step::Field((*part).to_owned())).collect();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => steps.push(Step::Index(*index)),
            Segment::Map { key } => steps.push(Step::Field(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    Unreadable::Field { path: Path(steps), message: error.inner().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(kind: &str, spec: &Value) -> Result<Value, String> {
        let group = if kind == "Telemetry" { "telemetry.istio.io" } else { "networking.istio.io" };
        let version = if kind == "EnvoyFilter" { "v1alpha3" } else { "v1" };
        let api_version = format!("{group}/{version}");
        let object = Object::read(&json!({"apiVersion": api_version, "kind": kind, "spec": spec}));
        object.map_err(|error| error.to_string()).map(|object| object.to_json().unwrap()["spec"].clone())
    }

    #[test]
    fn json_is_read_as_istio_reads_it() {
        for (kind, spec, written) in [
            ("VirtualService", json!({"http": [null]}), json!({"http": [{}]})),
            ("VirtualService", json!({"hosts": [null]}), json!({"hosts": [""]})),
            ("VirtualService", json!({"hosts": null, "http": [{"timeout": null}]}), json!({"http": [{}]})),
            (
                "VirtualService",
                json!({"http": [{"match": [{"port": "80"}]}]}),
                json!({"http": [{"match": [{"port": 80}]}]}),
            ),
            ("VirtualService", json!({"export_to": ["a"]}), json!({"exportTo": ["a"]})),
            ("VirtualService", json!({"export_to": ["a"], "exportTo": ["b"]}), json!({"exportTo": ["b"]})),
            ("VirtualService", json!({"exportto": ["a"]}), json!({})),
            (
                "VirtualService",
                json!({"http": [{"timeout": "1.5h"}]}),
                json!({"http": [{"timeout": "5400s"}]}),
            ),
            ("VirtualService", Value::Null, json!({})),
            ("ServiceEntry", json!({"resolution": 2}), json!({"resolution": "DNS"})),
            ("ServiceEntry", json!({"resolution": null}), json!({})),
            ("WorkloadEntry", json!({"ports": {"a": "80", "b": null}}), json!({"ports": {"a": 80, "b": 0}})),
            ("WorkloadEntry", json!({"labels": {"a": null}}), json!({"labels": {"a": ""}})),
            (
                "DestinationRule",
                json!({"trafficPolicy": {"outlierDetection": {"consecutiveGatewayErrors": "5"}}}),
                json!({"trafficPolicy": {"outlierDetection": {"consecutiveGatewayErrors": 5}}}),
            ),
            (
                "EnvoyFilter",
                json!({"configPatches": [{"patch": {"value": {"a": 1, "b": 1.5, "c": null, "d": []}}}]}),
                json!({"configPatches": [{"patch": {"value": {"a": 1, "b": 1.5, "c": null, "d": []}}}]}),
            ),
        ] {
            assert_eq!(read(kind, &spec), Ok(written), "{spec}");
        }
    }

    #[test]
    fn a_free_form_number_may_be_larger_than_a_float_can_tell() {
        let large = |number: Value| json!({"configPatches": [{"patch": {"value": {"a": [number]}}}]});
        let written = read("EnvoyFilter", &large(json!(12_345_678_901_234_567_890_u64))).unwrap();
        assert_eq!(written, large(json!(12_345_678_901_234_567_890_f64)));
        assert!(read("EnvoyFilter", &large(json!(i64::MIN))).is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_field() {
        for (kind, spec, path) in [
            ("VirtualService", json!({"hosts": "a"}), "spec.hosts"),
            ("VirtualService", json!({"hosts": ["a", 1]}), "spec.hosts[1]"),
            ("VirtualService", json!({"http": [{"timeout": 5}]}), "spec.http[0].timeout"),
            ("VirtualService", json!({"http": [{"match": [{"port": -1}]}]}), "spec.http[0].match[0].port"),
            ("VirtualService", json!({"http": [{"match": [{"port": 80.5}]}]}), "spec.http[0].match[0].port"),
            ("VirtualService", json!([]), "spec"),
            ("ServiceEntry", json!({"resolution": "static"}), "spec.resolution"),
        ] {
            let error = read(kind, &spec).unwrap_err();
            assert!(error.starts_with(&format!("{path}: ")), "{spec}: {error}");
        }
    }

    #[test]
    fn a_oneof_cannot_hold_two_things() {
        let both = json!({"http": [{"match": [{"uri": {"exact": "a", "prefix": "b"}}]}]});
        let error = read("VirtualService", &both).unwrap_err();
        assert!(error.starts_with("spec.http[0].match[0].uri"), "{error}");
    }

    #[test]
    fn strict_reading_names_every_unknown_field() {
        let document = json!({
            "apiVersion": "networking.istio.io/v1",
            "kind": "VirtualService",
            "metadata": {"name": "a", "colour": "red"},
            "spec": {"host": [], "http": [{"route": [{"wait": 1}]}]},
            "extra": 1,
        });
        assert!(Object::read(&document).is_ok());
        let Err(Unreadable::Unknown(paths)) = Object::read_strict(&document) else {
            panic!("nothing is unknown")
        };
        let paths: Vec<_> = paths.iter().map(Path::to_string).collect();
        assert_eq!(paths, ["extra", "metadata.colour", "spec.host", "spec.http[0].route[0].wait"]);
    }

    #[test]
    fn only_istio_s_kinds_in_their_versions_are_read() {
        let read = |api_version: &str, kind: &str| {
            Object::read(&json!({"apiVersion": api_version, "kind": kind})).unwrap_err().to_string()
        };
        assert!(read("v1", "Service").contains("not one of Istio's kinds"));
        assert!(read("networking.istio.io/v2", "Gateway").contains("v1, v1alpha3, v1beta1"));
        assert_eq!(Object::read(&json!({"kind": "Gateway"})), Err(Unreadable::NoIdentity));
    }
}
