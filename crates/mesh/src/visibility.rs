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
    /// `export_to` of an object in `namespace` (`*` before `~` before names); where it says nothing, `default` (from the mesh configuration) holds.
    pub fn read<S: AsRef<str>>(export_to: &[S], namespace: &str, default: &[String]) -> Self {
        if export_to.is_empty() {
            if default.is_empty() { Self::Public } else { Self::of(default, namespace) }
        } else {
            Self::of(export_to, namespace)
        }
    }

    fn of<S: AsRef<str>>(export_to: &[S], namespace: &str) -> Self {
        let has = |word: &str| export_to.iter().any(|entry| entry.as_ref() == word);
        if has("*") {
            return Self::Public;
        }
        if has("~") {
            return Self::Nobody;
        }
        let own = |entry| if entry == "." { namespace } else { entry };
        Self::Namespaces(export_to.iter().map(|entry| Arc::from(own(entry.as_ref()))).collect())
    }

    pub fn includes(&self, namespace: &str) -> bool {
        match self {
            Self::Public => true,
            Self::Nobody => false,
            Self::Namespaces(namespaces) => namespaces.contains(namespace),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_goes_before_nobody_and_nobody_before_names() {
        let none: &[String] = &[];
        let own =
            |names: &[&str]| Visibility::Namespaces(names.iter().map(|name| Arc::from(*name)).collect());
        for (export_to, default, visibility) in [
            (&["*", "~"][..], &[][..], Visibility::Public),
            (&["~", "a"], &[], Visibility::Nobody),
            (&[".", "a"], &[], own(&["a", "here"])),
            (&[], &["."], own(&["here"])),
            (&[], &["*"], Visibility::Public),
            (&["a"], &["*"], own(&["a"])),
        ] {
            let default: Vec<String> = default.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(
                Visibility::read(export_to, "here", &default),
                visibility,
                "{export_to:?} {default:?}"
            );
        }
        assert_eq!(Visibility::read(none, "here", none), Visibility::Public);
    }
}
