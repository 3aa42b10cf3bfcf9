//! A JSON document → an [`Object`]. Lenient, as Istio reads: a field that is not known is passed by, `null` is as good
//! as absent. [`Object::read_strict`] refuses unknown fields, all of them at once.

use crate::{Kind, Metadata, Object, Spec, fields};
use mizzen_text::{Path, Step};
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
        Some(json) => serde_path_to_error::deserialize(json).map_err(|error| at_field(name, &error)),
    }
}

fn spec(kind: Kind, json: &Value) -> Result<Spec, Unreadable> {
    if json.is_null() {
        return Ok(Spec::empty(kind));
    }
    Spec::read(kind, json).or_else(|error| {
        // The generated code stumbles over `null` where Istio passes by. That is rare, so it is paid for only here.
        let stripped = fields::without_nulls(kind, json).ok_or_else(|| at_field("spec", &error))?;
        Spec::read(kind, &stripped).map_err(|error| at_field("spec", &error))
    })
}

fn at_field(part: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> Unreadable {
    let mut steps = vec![Step::Field(part.to_owned())];
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => steps.push(Step::Index(*index)),
            Segment::Map { key } => steps.push(Step::Field(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    Unreadable::Field { path: Path(steps), message: error.inner().to_string() }
}
