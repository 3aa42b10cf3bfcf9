//! Equality by identity, for keys made of shared values.

use std::{
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

/// A shared value that is equal only to itself. A snapshot keeps the same `Arc` for what did not change, so two keys
/// of these pointers are equal exactly if nothing that they stand for has changed. It holds the value alive: an address is never
/// used again while a key has it.
#[derive(Debug)]
pub struct ByPointer<T: ?Sized>(pub Arc<T>);

impl<T: ?Sized> Clone for ByPointer<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> From<&Arc<T>> for ByPointer<T> {
    fn from(shared: &Arc<T>) -> Self {
        Self(Arc::clone(shared))
    }
}

impl<T: ?Sized> PartialEq for ByPointer<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}

impl<T: ?Sized> Eq for ByPointer<T> {}

impl<T: ?Sized> Hash for ByPointer<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

impl<T: ?Sized> Deref for ByPointer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
