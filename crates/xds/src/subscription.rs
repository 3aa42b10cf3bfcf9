//! What a client wants of one type.

use crate::names::NameSet;

/// Everything, or these names, or both (a client may name what it wants to hear about even if it does not exist).
/// Equal subscriptions share their names, so this is cheap to clone, compare and use as a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subscription {
    wildcard: bool,
    names: NameSet,
}

impl Subscription {
    pub fn new(wildcard: bool, names: NameSet) -> Self {
        Self { wildcard, names }
    }

    pub fn everything() -> Self {
        Self::new(true, NameSet::default())
    }

    pub fn to<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::new(false, NameSet::new(names))
    }

    pub fn is_wildcard(&self) -> bool {
        self.wildcard
    }

    pub fn names(&self) -> &NameSet {
        &self.names
    }

    /// Whether a resource of this name, should there be one, is to be sent.
    pub fn contains(&self, name: &str) -> bool {
        self.wildcard || self.names.contains(name)
    }

    /// Whether it is to nothing at all.
    pub fn is_empty(&self) -> bool {
        !self.wildcard && self.names.is_empty()
    }
}
