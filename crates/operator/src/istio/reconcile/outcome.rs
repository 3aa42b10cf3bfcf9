//! What becomes of a component, and what it has done so far.

use super::{Component, Failed, Pass};
use mizzen_cluster::Step;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Success,
    Error,
    NotStarted,
}

/// What became of a component; or would become of it.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    #[serde(serialize_with = "named")]
    pub component: Component,
    pub status: Status,
    /// Objects that change.
    #[serde(rename = "objects")]
    pub steps: Vec<Step>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Outcome {
    pub(super) fn of(component: Component, done: Done, failed: Option<String>) -> Self {
        let Done { steps, notes, refused } = done;
        let error: Vec<String> = refused.into_iter().chain(failed).collect();
        let error = (!error.is_empty()).then(|| error.join("\n"));
        let status = if error.is_some() { Status::Error } else { Status::Success };
        Self { component, status, steps, notes, error }
    }

    pub(super) fn not_started(component: Component) -> Self {
        Self { component, status: Status::NotStarted, steps: Vec::new(), notes: Vec::new(), error: None }
    }
}

fn named<S: serde::Serializer>(component: &Component, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(component.name())
}

/// What a component has done so far.
#[derive(Default)]
pub(super) struct Done {
    pub(super) steps: Vec<Step>,
    pub(super) notes: Vec<String>,
    /// Why it must not be done, of a plan.
    refused: Vec<String>,
}

impl Done {
    /// A plan goes on, so that all that is in the way is told at once; and what goes is known to the components behind.
    pub(super) fn refuse(&mut self, pass: &Pass<'_>, why: Vec<String>) -> Result<(), Failed> {
        if pass.order.dry_run {
            self.refused.extend(why);
        } else if !why.is_empty() {
            return Err(Failed::Said(why.join("\n")));
        }
        Ok(())
    }
}
