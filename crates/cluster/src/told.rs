//! What was told so far: so that nothing is told twice, and that what vanished while nobody looked is told as gone.

use crate::{Change, Identity, Key, Trimmed};
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Told {
    objects: HashMap<Key, Known>,
    /// Which list is being told.
    round: u32,
}

struct Known {
    version: Box<str>,
    round: u32,
}

/// As much of any object as says who it is.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Head {
    pub(crate) metadata: HeadMetadata,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct HeadMetadata {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) resource_version: String,
}

impl HeadMetadata {
    fn identity(&self) -> Identity<'_> {
        Identity { namespace: &self.namespace, name: &self.name, version: &self.resource_version }
    }
}

impl Told {
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Everything is going to be listed.
    pub(crate) fn start(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// An object that is there; nothing if that is no news.
    pub(crate) fn there<T: Trimmed>(&mut self, object: &[u8]) -> Option<Change<T>> {
        match serde_json::from_slice::<T>(object) {
            Ok(object) => self.note(object.identity()).then_some(Change::Applied(object)),
            Err(error) => {
                // What does not even say who it is cannot be told of, and cannot have come from an API server.
                let head: Head = serde_json::from_slice(object).ok()?;
                let identity = head.metadata.identity();
                self.note(identity).then(|| Change::Broken { key: identity.key(), reason: error.to_string() })
            }
        }
    }

    fn note(&mut self, identity: Identity<'_>) -> bool {
        let known = Known { version: identity.version.into(), round: self.round };
        let before = self.objects.insert(identity.key(), known);
        before.is_none_or(|before| *before.version != *identity.version)
    }

    pub(crate) fn gone<T>(&mut self, object: &[u8]) -> Option<Change<T>> {
        let head: Head = serde_json::from_slice(object).ok()?;
        let key = head.metadata.identity().key();
        self.objects.remove(&key).map(|_| Change::Gone(key))
    }

    /// The list is complete: what was not on it is gone.
    pub(crate) fn finish(&mut self) -> Vec<Key> {
        let round = self.round;
        let gone = self.objects.extract_if(|_, known| known.round != round).map(|(key, _)| key);
        let mut gone: Vec<Key> = gone.collect();
        gone.sort();
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, Debug, PartialEq)]
    struct Thing {
        name: String,
        version: String,
    }

    impl Trimmed for Thing {
        fn identity(&self) -> Identity<'_> {
            Identity { namespace: "", name: &self.name, version: &self.version }
        }
    }

    fn thing(name: &str, version: &str) -> Vec<u8> {
        format!(
            r#"{{"name":"{name}","version":"{version}","metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn the_same_version_is_told_once() {
        let mut told = Told::default();
        assert!(told.there::<Thing>(&thing("a", "1")).is_some());
        assert!(told.there::<Thing>(&thing("a", "1")).is_none());
        assert!(told.there::<Thing>(&thing("a", "2")).is_some());
    }

    #[test]
    fn what_is_not_on_the_next_list_is_gone() {
        let mut told = Told::default();
        told.start();
        told.there::<Thing>(&thing("a", "1"));
        told.there::<Thing>(&thing("b", "2"));
        assert_eq!(told.finish(), []);
        told.start();
        assert!(told.there::<Thing>(&thing("b", "2")).is_none());
        let gone = told.finish();
        assert_eq!(gone.iter().map(|key| &*key.name).collect::<Vec<_>>(), ["a"]);
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn what_cannot_be_read_is_broken_with_its_name_and_goes_by_it() {
        let mut told = Told::default();
        let odd = br#"{"name":7,"metadata":{"name":"odd","namespace":"n","resourceVersion":"5"}}"#;
        let Some(Change::Broken { key, reason }) = told.there::<Thing>(odd) else { panic!("it was read") };
        assert_eq!((&*key.namespace, &*key.name), ("n", "odd"));
        assert!(reason.contains("invalid type"), "{reason}");
        assert!(told.there::<Thing>(odd).is_none(), "once is enough");
        assert_eq!(told.gone::<Thing>(odd), Some(Change::Gone(key)));
        assert_eq!(told.gone::<Thing>(odd), None);
    }
}
