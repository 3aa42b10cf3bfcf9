//! Who may see an object: `exportTo`.

use std::{collections::BTreeSet, sync::Arc};

/// The namespaces that see a service or a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Visibility {
    #[default]
    Public,
    /// Nobody (`~`).
    Nobody,
    /// These; `.` has been replaced by the object's own namespace.
    Namespaces(BTreeSet<Arc<str>>),
}

impl Visibility {
    /// `export_to` of an object in `namespace`; where it says nothing, `default` (from the mesh configuration) holds.
    pub fn read<S: AsRef<str>>(export_to: &[S], namespace: &str, default: &[String]) -> Self {
        if export_to.is_empty() {
            if default.is_empty() { Self::Public } else { Self::of(default, namespace) }
        } else {
            Self::of(export_to, namespace)
        }
    }

    fn of<S: AsRef<str>>(export_to: &[S], namespace: &str) -> Self {
        let mut namespaces = BTreeSet::new();
        for entry in export_to {
            match entry.as_ref() {
                "*" => return Self::Public,
                "~" => {}
                "." => {
                    namespaces.insert(Arc::from(namespace));
                }
                other => {
                    namespaces.insert(Arc::from(other));
                }
            }
        }
        if namespaces.is_empty() { Self::Nobody } else { Self::Namespaces(namespaces) }
    }

    pub fn includes(&self, namespace: &str) -> bool {
        match self {
            Self::Public => true,
            Self::Nobody => false,
            Self::Namespaces(namespaces) => namespaces.contains(namespace),
        }
    }
}
