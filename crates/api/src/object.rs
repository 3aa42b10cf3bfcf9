//! One object of a known kind.

use crate::{Kind, Metadata, Spec};
use serde_json::{Map, Value, json};

/// An object as the mesh understands it. `S` is [`Spec`] for Istio's kinds; a kind of another family brings its own.
///
/// What it does not understand is not in it: whoever prints an object back keeps the document it came from beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<S = Spec> {
    /// One of the kind's served versions.
    pub version: &'static str,
    pub metadata: Metadata,
    pub spec: S,
    /// Kept as it is: whoever writes a status knows its shape.
    pub status: Option<Value>,
}

impl Object {
    pub fn kind(&self) -> Kind {
        self.spec.kind()
    }

    pub fn api_version(&self) -> String {
        format!("{}/{}", self.kind().group(), self.version)
    }

    /// As Istio would write it.
    pub fn to_json(&self) -> Result<Value, serde_json::Error> {
        let mut object = Map::new();
        object.insert("apiVersion".into(), json!(self.api_version()));
        object.insert("kind".into(), json!(self.kind().name()));
        object.insert("metadata".into(), serde_json::to_value(&self.metadata)?);
        object.insert("spec".into(), self.spec.to_json()?);
        if let Some(status) = &self.status {
            object.insert("status".into(), status.clone());
        }
        Ok(Value::Object(object))
    }
}
