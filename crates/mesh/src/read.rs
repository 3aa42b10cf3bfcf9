//! A document → an event. The same for files and for a watch.

use crate::{
    Event, Key, KeyKind,
    input::{self, Input},
};
use mizzen_api::{Identity, Object, Unreadable};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRead {
    /// A kind that a mesh has no use for.
    #[error("{0} is not a kind of the mesh")]
    Other(String),
    /// `key` is there if the document says who it is.
    #[error("{reason}")]
    Broken { key: Option<Key>, reason: String },
}

impl Event {
    pub fn read(document: &Value) -> Result<Self, NotRead> {
        let broken = |key, reason: String| NotRead::Broken { key, reason };
        let identity =
            Identity::of(document).ok_or_else(|| broken(None, Unreadable::NoIdentity.to_string()))?;
        if let Some(kind) = identity.istio_kind() {
            return Object::read(document)
                .map(|object| Self::Istio(Arc::new(object)))
                .map_err(|error| broken(Some(key(KeyKind::Istio(kind), document)), error.to_string()));
        }
        match (identity.group(), identity.kind) {
            ("", "Service") => typed(KeyKind::Service, document).map(Self::Service),
            ("discovery.k8s.io", "EndpointSlice") => {
                typed::<input::EndpointSlice>(KeyKind::EndpointSlice, document).map(Self::EndpointSlice)
            }
            ("", "Pod") => typed(KeyKind::Pod, document).map(Self::Pod),
            ("", "Node") => typed(KeyKind::Node, document).map(Self::Node),
            ("", "Namespace") => typed(KeyKind::Namespace, document).map(Self::Namespace),
            (group, kind) => {
                Err(NotRead::Other(if group.is_empty() { kind.into() } else { format!("{group} {kind}") }))
            }
        }
    }

    /// Which object it is about; nothing for settings.
    pub fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Service(object) => of(KeyKind::Service, &**object),
            Self::EndpointSlice(object) => of(KeyKind::EndpointSlice, &**object),
            Self::Pod(object) => of(KeyKind::Pod, &**object),
            Self::Node(object) => of(KeyKind::Node, &**object),
            Self::Namespace(object) => of(KeyKind::Namespace, &**object),
            Self::Istio(object) => Key::of(object),
            Self::Broken { key, .. } | Self::Gone(key) => key.clone(),
            Self::Settings(_) => return None,
        })
    }
}

fn of<T: Input>(kind: KeyKind, object: &T) -> Key {
    let metadata = object.metadata();
    Key { kind, namespace: metadata.namespace.as_str().into(), name: metadata.name.as_str().into() }
}

fn typed<T: DeserializeOwned>(kind: KeyKind, document: &Value) -> Result<Arc<T>, NotRead> {
    T::deserialize(document)
        .map(Arc::new)
        .map_err(|error| NotRead::Broken { key: Some(key(kind, document)), reason: error.to_string() })
}

fn key(kind: KeyKind, document: &Value) -> Key {
    let text = |name| document.pointer(name).and_then(Value::as_str).unwrap_or_default();
    Key { kind, namespace: text("/metadata/namespace").into(), name: text("/metadata/name").into() }
}
