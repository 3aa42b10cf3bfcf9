//! What would happen to a cluster, before anything does.
//!
//! For each object that is wanted: what is there now, who has which of its fields, and what the server itself says would come of applying
//! it (a dry run). An object that is there as it should be is found out without asking for the dry run, so that a second installation
//! costs one reading an object and writes nothing.

use crate::{
    cluster::{Cluster, Mode, Refused},
    difference::{FieldChange, difference},
    object::{Desired, ObjectId},
    owners::{Left, Manager, Owners},
};
use serde_json::Value;
use std::fmt;

/// Whom fields are taken over from.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// Managers by name, such as `istio-operator` or `helm`.
    pub from: Vec<String>,
}

impl Adoption {
    fn takes(&self, manager: &Manager) -> bool {
        manager.subresource.is_empty() && self.from.contains(&manager.name)
    }
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "action", rename_all = "camelCase")]
pub enum Action {
    Create,
    Change { changes: Vec<FieldChange> },
    /// It is somebody else's, and becomes ours.
    Adopt { from: Vec<Manager>, changes: Vec<FieldChange> },
    Unchanged,
    Delete,
}

/// One object of a plan.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Step {
    pub id: ObjectId,
    #[serde(flatten)]
    pub action: Action,
    /// Fields that stay as others have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left>,
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Create => write!(out, "+ {}", self.id)?,
            Action::Change { .. } => write!(out, "~ {}", self.id)?,
            Action::Adopt { from, .. } => {
                let names: Vec<String> = from.iter().map(ToString::to_string).collect();
                write!(out, "~ {} (taken over from {})", self.id, names.join(", "))?;
            }
            Action::Unchanged => write!(out, "= {}", self.id)?,
            Action::Delete => write!(out, "- {}", self.id)?,
        }
        if let Action::Change { changes } | Action::Adopt { changes, .. } = &self.action {
            for change in changes {
                write!(out, "\n    {change}")?;
            }
        }
        for left in &self.left {
            write!(out, "\n    {} stays {} as {} has it, not {}", left.path, left.theirs, left.manager, left.ours)?;
        }
        Ok(())
    }
}

/// An object that is ready to be sent, and what would come of it.
#[derive(Clone, Debug)]
pub struct Planned {
    pub step: Step,
    /// Without what is left to others. It holds only for the object as it was read: another version of it is a conflict.
    pub(crate) send: Desired,
    pub(crate) force: bool,
}

/// Somebody else's object, whom nobody said to take it over from.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotPlanned {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{id} is there already and belongs to {managers}")]
    Foreign { id: ObjectId, managers: String },
}

impl Cluster {
    pub async fn plan(&self, desired: &Desired, adoption: &Adoption) -> Result<Planned, NotPlanned> {
        let live = self.get(&desired.id, Some(&desired.version)).await?;
        let Some(live) = live else {
            let step = Step { id: desired.id.clone(), action: Action::Create, left: Vec::new() };
            return Ok(Planned { step, send: desired.clone(), force: false });
        };
        let owners = Owners::of(&live);
        let mut send = desired.clone();
        let takes = |manager: &Manager| adoption.takes(manager);
        let left = owners.leave_to_others(self.manager(), takes, &live, &mut send.value);
        let from: Vec<Manager> = owners.others(self.manager()).filter(|manager| takes(manager)).cloned().collect();
        let ours = owners.has_applied(self.manager());
        if !ours && from.is_empty() {
            let managers: Vec<String> = owners.others(self.manager()).map(ToString::to_string).collect();
            let managers = if managers.is_empty() { "nobody who says so".to_owned() } else { managers.join(", ") };
            return Err(NotPlanned::Foreign { id: desired.id.clone(), managers });
        }
        let step = |action| Step { id: desired.id.clone(), action, left: left.clone() };
        if ours && from.is_empty() && is_within(&send.value, &live) && !owners.has_more_than(self.manager(), &send.value) {
            return Ok(Planned { step: step(Action::Unchanged), send, force: false });
        }
        // The version that was looked at: who changes it meanwhile is not overrun.
        if let Some(version) = live.pointer("/metadata/resourceVersion") {
            send.value["metadata"]["resourceVersion"] = version.clone();
        }
        let force = !from.is_empty();
        let result = self.apply(&send, Mode { dry_run: true, force }).await?;
        let changes = difference(&live, &result);
        let action = match (ours && from.is_empty(), changes.is_empty()) {
            (false, _) => Action::Adopt { from, changes },
            (true, true) if !owners.has_more_than(self.manager(), &send.value) => Action::Unchanged,
            (true, _) => Action::Change { changes },
        };
        Ok(Planned { step: step(action), send, force })
    }
}

/// Whether everything that is wanted is there, as it is written.
fn is_within(wanted: &Value, live: &Value) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => {
            wanted.iter().all(|(key, wanted)| live.get(key).is_some_and(|live| is_within(wanted, live)))
        }
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len() && wanted.iter().zip(live).all(|(wanted, live)| is_within(wanted, live))
        }
        (wanted, live) => wanted == live,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wanted_may_be_less_than_what_is_there() {
        let live = json!({ "a": 1, "b": { "c": [{ "d": 1, "e": 2 }] } });
        assert!(is_within(&json!({ "b": { "c": [{ "d": 1 }] } }), &live));
        for other in [json!({ "a": 2 }), json!({ "x": 1 }), json!({ "b": { "c": [] } }), json!({ "b": { "c": [{}, {}] } })] {
            assert!(!is_within(&other, &live), "{other}");
        }
    }

    #[test]
    fn a_step_reads_as_a_line_and_its_fields_below() {
        let id = ObjectId { group: String::new(), kind: "Service".into(), namespace: "n".into(), name: "x".into() };
        let change = FieldChange { path: "spec.port".into(), before: Some(1.into()), after: Some(2.into()) };
        let step = Step { id, action: Action::Change { changes: vec![change] }, left: Vec::new() };
        assert_eq!(step.to_string(), "~ Service n/x\n    spec.port: 1 → 2");
    }
}
