//! A document over a message, field by field: what the document says replaces what the message has. It is done in JSON,
//! because there a field that is zero differs from one that is not there, and a typed message cannot tell.

use crate::{Unreadable, fields::field, read};
use mizzen_proto::{
    istio::mesh::v1alpha1::{MeshConfig, MeshNetworks, ProxyConfig, mesh_config::DefaultProviders},
    istio_descriptors,
};
use mizzen_text::Path;
use prost_reflect::{FieldDescriptor, MessageDescriptor};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// A message of the mesh's configuration and its full name.
pub(super) trait Message: Clone + Serialize + DeserializeOwned {
    const NAME: &'static str;
}

impl Message for MeshConfig {
    const NAME: &'static str = "istio.mesh.v1alpha1.MeshConfig";
}

impl Message for MeshNetworks {
    const NAME: &'static str = "istio.mesh.v1alpha1.MeshNetworks";
}

impl Message for ProxyConfig {
    const NAME: &'static str = "istio.mesh.v1alpha1.ProxyConfig";
}

impl Message for DefaultProviders {
    const NAME: &'static str = "istio.mesh.v1alpha1.MeshConfig.DefaultProviders";
}

/// The document over the base. `top` is where the message stands in the whole document.
pub(super) fn lay<T: Message>(base: &T, document: &Value, top: &[&str]) -> Result<T, Unreadable> {
    let broken = |message: String| Unreadable::Field { path: Path::default(), message };
    let descriptor = istio_descriptors()
        .get_message_by_name(T::NAME)
        .ok_or_else(|| broken(format!("{} is not in the descriptor set", T::NAME)))?;
    let said = match document {
        Value::Null => return Ok(base.clone()),
        Value::Object(said) if said.is_empty() => return Ok(base.clone()),
        Value::Object(said) => said,
        // The reader says what is wrong with it, and where.
        other => return read::message(&descriptor, other, top),
    };
    let base = serde_json::to_value(base).map_err(|error| broken(error.to_string()))?;
    let mut laid = match base {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (name, value) in said {
        let Some(field) = field(&descriptor, name) else { continue };
        // Of a field's two spellings the newer counts, even if it says nothing.
        let older = field.json_name() != name && said.contains_key(field.json_name());
        if !older && !value.is_null() {
            forget(&descriptor, &field, &mut laid);
            laid.insert(name.clone(), value.clone());
        }
    }
    read::message(&descriptor, &Value::Object(laid), top)
}

/// Takes out what the base says of a field, and of those that cannot be set beside it.
fn forget(message: &MessageDescriptor, field: &FieldDescriptor, base: &mut Map<String, Value>) {
    base.remove(field.json_name());
    if let Some(choice) = field.containing_oneof() {
        let others = message.fields().filter(|other| other.containing_oneof().as_ref() == Some(&choice));
        others.for_each(|other| drop(base.remove(other.json_name())));
    }
}

/// A part of the document that says something.
pub(super) fn part<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.get(name).filter(|part| !part.is_null())
}
