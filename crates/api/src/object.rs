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
        let mut spec = self.spec.to_json()?;
        plain_numbers(&mut spec);
        object.insert("spec".into(), spec);
        if let Some(status) = &self.status {
            object.insert("status".into(), status.clone());
        }
        Ok(Value::Object(object))
    }
}

/// Go prints a whole number without a fraction, whatever its type.
fn plain_numbers(json: &mut Value) {
    /// From here on, floats have gaps between whole numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match json {
        Value::Number(number) if number.is_f64() => {
            if let Some(float) = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < EXACT) {
                // Whole and small enough, so nothing is cut off.
                *json = Value::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_numbers),
        Value::Object(fields) => fields.values_mut().for_each(plain_numbers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
