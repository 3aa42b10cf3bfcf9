//! Why a rendering stopped, and where: the action that failed and the templates that led to it.

use std::{fmt, sync::Arc};

/// A place in a template: `istiod/templates/deployment.yaml:12:7`, with the action's text as Go tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub template: Arc<str>,
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// The action or field that was being worked on: `.Values.global.hub`, `include "istio.labels" .`
    pub context: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    pub message: String,
    /// The innermost first; empty while a function has not yet been told where it was called.
    pub places: Vec<Place>,
    /// A limit was reached: nothing may go on as if nothing had happened.
    pub limit: bool,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), places: Vec::new(), limit: false }
    }

    pub fn limit(message: impl Into<String>) -> Self {
        Self { limit: true, ..Self::new(message) }
    }

    /// Whether a function refused its arguments before it began.
    pub(crate) fn refuses_arguments(&self) -> bool {
        ["wrong number of args", "wrong type for value", "invalid value; expected"]
            .iter()
            .any(|start| self.message.starts_with(start))
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.places.push(place);
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.template, self.line, self.column)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.places.first() {
            write!(f, "{place}: ")?;
            if !place.context.is_empty() {
                write!(f, "at <{}>: ", place.context)?;
            }
        }
        f.write_str(&self.message)
    }
}
