//! Istio's custom resource definitions, as they are installed and as objects are checked against.
//!
//! In: the word by which somebody calls a kind. Out: its definition, whole or by its parts. The files under `crds/` are
//! generated; each is read when its kind is first asked for, so that a program pays only for the kinds that it meets.

mod entries;

use serde_json::Value;

/// One kind's definition.
#[derive(Debug)]
pub struct Crd {
    /// The `CustomResourceDefinition`, with numbers in the place of schemas.
    definition: Value,
    schemas: Vec<Value>,
    pub group: String,
    pub kind: String,
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub versions: Vec<Version>,
}

#[derive(Debug)]
pub struct Version {
    pub name: String,
    pub served: bool,
    /// The one that is written to etcd.
    pub storage: bool,
    schema: usize,
}

impl Crd {
    /// All of them, in the order of their groups and plurals.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        entries::ALL.iter().map(entries::Entry::crd)
    }

    /// That of one kind of one group, as an object names them.
    pub fn of(group: &str, kind: &str) -> Option<&'static Self> {
        let entry = entries::ALL.iter().find(|entry| entry.kind == kind && entry.group == group)?;
        Some(entry.crd())
    }

    /// By any name that kubectl takes: kind, plural, singular, short name, also with the group behind a dot;
    /// upper and lower case are the same.
    pub fn called(word: &str) -> Option<&'static Self> {
        let word = word.to_ascii_lowercase();
        Self::all().find(|crd| {
            let name = word.strip_suffix(&crd.group).and_then(|name| name.strip_suffix('.')).unwrap_or(&word);
            crd.names().any(|known| known.eq_ignore_ascii_case(name))
        })
    }

    /// The kind that somebody may have meant by a word that is none.
    pub fn nearest(word: &str) -> Option<&'static str> {
        let meant = mizzen_text::nearest(word, Self::all().flat_map(Self::names))?;
        Self::called(meant).map(|crd| crd.kind.as_str())
    }

    /// What it may be called.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let long = [&self.kind, &self.plural, &self.singular];
        long.into_iter().chain(&self.short_names).map(String::as_str)
    }

    /// The name of the definition itself: `virtualservices.networking.istio.io`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The schema of one version, if there is that version.
    pub fn schema(&self, version: &str) -> Option<&Value> {
        self.schemas.get(self.schema_number(version)?)
    }

    /// Versions with one number have one schema.
    pub fn schema_number(&self, version: &str) -> Option<usize> {
        self.versions.iter().find(|known| known.name == version).map(|known| known.schema)
    }

    /// Every different schema, by its number.
    pub fn schemas(&self) -> &[Value] {
        &self.schemas
    }

    /// The versions in which objects may be written.
    pub fn served(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().filter(|version| version.served).map(|version| version.name.as_str())
    }

    /// The whole `CustomResourceDefinition`, ready for an API server.
    pub fn object(&self) -> Value {
        let mut object = self.definition.clone();
        for version in object["spec"]["versions"].as_array_mut().into_iter().flatten() {
            let number = version["schema"].as_u64().and_then(|number| usize::try_from(number).ok());
            if let Some(schema) = number.and_then(|number| self.schemas.get(number)) {
                version["schema"] = serde_json::json!({ "openAPIV3Schema": schema });
            }
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_every_name_it_has() {
        let words = [
            "VirtualService",
            "virtualservice",
            "virtualservices",
            "vs",
            "VS",
            "virtualservices.networking.istio.io",
        ];
        for word in words {
            assert_eq!(Crd::called(word).map(|crd| crd.kind.as_str()), Some("VirtualService"), "{word}");
        }
        for word in
            ["", "virtualservicess", "networking.istio.io", ".networking.istio.io", "vs.security.istio.io"]
        {
            assert!(Crd::called(word).is_none(), "{word}");
        }
    }

    #[test]
    fn no_two_kinds_share_a_name() {
        let mut names: Vec<_> =
            Crd::all().flat_map(|crd| crd.names().map(|name| (name.to_lowercase(), &crd.kind))).collect();
        names.sort();
        names.dedup();
        let (total, kinds) = (names.len(), names.iter().map(|(name, _)| name));
        let different: std::collections::BTreeSet<_> = kinds.collect();
        assert_eq!(different.len(), total, "{names:?}");
    }

    #[test]
    fn a_definition_is_whole() {
        for crd in Crd::all() {
            let object = crd.object();
            assert_eq!(object["metadata"]["name"], crd.name());
            for (version, known) in object["spec"]["versions"].as_array().unwrap().iter().zip(&crd.versions) {
                assert_eq!(version["schema"]["openAPIV3Schema"]["type"], "object", "{}", crd.kind);
                assert_eq!(Some(&version["schema"]["openAPIV3Schema"]), crd.schema(&known.name));
            }
            assert_eq!(crd.versions.iter().filter(|version| version.storage).count(), 1);
        }
    }

    #[test]
    fn what_was_probably_meant_is_named() {
        let cases = [
            ("VirtualServce", Some("VirtualService")),
            ("destinationrul", Some("DestinationRule")),
            ("envoyfliters", Some("EnvoyFilter")),
            ("pod", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(Crd::nearest(word), expected, "{word}");
        }
    }
}
