//! Routes of one HTTP listener.

use crate::{Context, Resource, memo::Table};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inputs {}

pub type Built = Table<Inputs, Arc<Resource>>;

/// The route configuration `name`; nothing if this proxy has no such.
pub fn build(_context: &Context<'_>, _name: &str) -> Option<Arc<Resource>> {
    None
}
