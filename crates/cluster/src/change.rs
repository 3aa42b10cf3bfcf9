//! What a reflector tells.

use serde::de::DeserializeOwned;

/// Which object of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Empty for what is in no namespace.
    pub namespace: Box<str>,
    pub name: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// It is there, or it has changed.
    Applied(T),
    Gone(Key),
    /// It is there, but it is no `T`.
    Broken {
        key: Key,
        reason: String,
    },
    /// All that was there when somebody looked has been told. Said again after every time that everything was listed;
    /// a kind that the server does not serve has no objects and is in step at once.
    Synced,
}

/// An object, cut down to what its reader needs, straight from the bytes of the server.
pub trait Trimmed: DeserializeOwned + Send + 'static {
    fn identity(&self) -> Identity<'_>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Identity<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    /// `metadata.resourceVersion`
    pub version: &'a str,
}

impl Identity<'_> {
    pub fn key(&self) -> Key {
        Key { namespace: self.namespace.into(), name: self.name.into() }
    }
}
