//! What would happen to a cluster, before anything does.
//!
//! For each object that is wanted: what is there now, who has which of its fields, and what the server itself says would come of
//! applying it (a dry run). An object that is there as it should be is found out without asking for the dry run, so that a second
//! installation costs one reading an object and writes nothing.

use crate::{
    adoption::{Adoption, Takeover},
    cluster::{Cluster, Mode, Refused},
    difference::{FieldChange, difference},
    object::{Desired, ObjectId},
    owners::{Left, Manager, Owners, SCALE},
    reclaim::Reclaim,
    same::{is_nothing, is_within},
    wait::{Ready, readiness},
};
use serde_json::Value;
use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};
use tokio::time::sleep;

/// The name of an object that is never made.
const ANEW: &str = "mizzen-anew";
/// Times that an object is looked at again because it has changed meanwhile.
const AGAIN: u32 = 8;

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "action", rename_all = "camelCase")]
pub enum Action {
    Create,
    Change {
        changes: Vec<FieldChange>,
    },
    /// It is somebody else's, and becomes ours.
    Adopt {
        from: Vec<Manager>,
        changes: Vec<FieldChange>,
    },
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
                write!(out, "\n    {}", change.to_string().replace('\n', "\n    "))?;
            }
        }
        for left in &self.left {
            write!(out, "\n    {left}")?;
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
    pub(crate) takeover: Option<Takeover>,
    /// Whether fields are taken from others. What is left to them is not sent, so that nothing else can be meant.
    pub(crate) force: bool,
    /// The one of this name is on its way out, and has to be gone first.
    pub going: Option<Going>,
    /// Whether it was ready when it was looked at.
    ready: bool,
}

impl Planned {
    /// Whether there is nothing to do and nothing to wait for.
    pub fn is_done(&self) -> bool {
        self.step.action == Action::Unchanged && self.ready
    }
}

/// An object that is being deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Going {
    pub since: String,
    /// Who has to let it go.
    pub finalizers: Vec<String>,
}

impl Going {
    /// Nothing if it is not.
    pub fn of(live: &Value) -> Option<Self> {
        let since = live.pointer("/metadata/deletionTimestamp")?.as_str()?.to_owned();
        let finalizers = live.pointer("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten();
        Some(Self { since, finalizers: finalizers.filter_map(Value::as_str).map(str::to_owned).collect() })
    }
}

impl fmt::Display for Going {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "is being deleted since {}", self.since)?;
        match self.finalizers.as_slice() {
            [] => Ok(()),
            finalizers => write!(out, " and is held by {}", finalizers.join(", ")),
        }
    }
}

/// Why nothing can be planned for an object.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotPlanned {
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Somebody else's object, whom nobody said to take it over from.
    #[error("{id} is there already and belongs to {managers}")]
    Foreign { id: ObjectId, managers: String },
    #[error("{id} {going}")]
    Going { id: ObjectId, going: Going },
}

impl Cluster {
    /// What applying this object would do; nothing is written. One that changes between the reading and the dry run, as a workload
    /// does while it is rolled out, is looked at again.
    pub async fn plan(&self, desired: &Desired, adoption: &Adoption) -> Result<Planned, NotPlanned> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.plan_once(desired, adoption).await {
                Err(NotPlanned::Refused(Refused::Conflict { .. })) if attempt < AGAIN => {
                    sleep(Duration::from_millis(20)).await;
                }
                planned => return planned,
            }
        }
    }

    async fn plan_once(&self, desired: &Desired, adoption: &Adoption) -> Result<Planned, NotPlanned> {
        let live = self.get(&desired.id, Some(&desired.version)).await?;
        let going = live.as_ref().and_then(Going::of);
        let Some(live) = live.filter(|_| going.is_none()) else {
            let step = Step { id: desired.id.clone(), action: Action::Create, left: Vec::new() };
            return Ok(Planned {
                step,
                send: desired.clone(),
                takeover: None,
                force: false,
                going,
                ready: false,
            });
        };
        let ready = readiness(&live) == Ready::Yes;
        let owners = Owners::of(&live);
        let mut send = desired.clone();
        let us = self.manager();
        // Whoever scales by hand has a field like everybody else; an autoscaler is meant to have it.
        let by_hand = owners.are_scaling() && !self.is_autoscaled(&desired.id).await?;
        let scaled = |manager: &Manager, path: &str| {
            by_hand && manager.subresource == SCALE && path == "spec.replicas"
        };
        let take = |manager: &Manager, path: &str| {
            adoption.takes(manager)
                || adoption.reclaim.takes_back(&desired.id, manager, path)
                || adoption.reclaim == Reclaim::All && scaled(manager, path)
        };
        let mut value = Value::clone(&desired.value);
        let mut left = owners.leave_to_others(us, take, &live, &mut value);
        if value != *desired.value {
            send.value = Arc::new(value);
        }
        for left in &mut left {
            left.meant &= !scaled(&left.manager, &left.path);
        }
        let takeover = Takeover::of(&live, us, adoption);
        let force = takeover.is_some() || adoption.reclaim != Reclaim::Nothing;
        let known = is_only_named(&desired.value) || adoption.recorded.contains(&desired.id);
        let ours = owners.has_applied(us) || owners.is_nobodys() && known;
        if !ours && takeover.is_none() {
            let managers = owners.others_in_words(us);
            return Err(NotPlanned::Foreign { id: desired.id.clone(), managers });
        }
        let step = |action| Step { id: desired.id.clone(), action, left };
        if takeover.is_none() && is_within(&send.value, &live) && !owners.has_more_than(us, &send.value) {
            return Ok(Planned { step: step(Action::Unchanged), send, takeover, force, going, ready });
        }
        // The version that was looked at: who changes it meanwhile is not overrun.
        if let Some(version) = live.pointer("/metadata/resourceVersion") {
            send.value_mut()["metadata"]["resourceVersion"] = version.clone();
        }
        let result = match &takeover {
            // As the other one would do it: what they had and nobody wants goes, too.
            Some(takeover) => {
                let mode = Mode { dry_run: true, force: true };
                let mut result = self.apply_as(takeover.stand_in(us), &send, mode).await?;
                // Nobody can stand in for several, or for one who did not apply it: what goes with them is found out here.
                if takeover.stand_in(us) == us {
                    let fresh = self.anew(desired).await?;
                    let gives = |manager: &Manager| adoption.takes(manager);
                    owners.give_away(us, gives, &send.value, &fresh, &mut result);
                }
                result
            }
            None => self.apply(&send, Mode { dry_run: true, force }).await?,
        };
        let changes = difference(&live, &result);
        let action = match takeover.as_ref() {
            Some(takeover) => Action::Adopt { from: takeover.from.clone(), changes },
            None if changes.is_empty() && owners.have_as_much(us, &Owners::of(&result)) => Action::Unchanged,
            None => Action::Change { changes },
        };
        Ok(Planned { step: step(action), send, takeover, force, going, ready })
    }

    /// Whether an autoscaler says how many replicas a workload has. Where nobody may look, it is believed.
    async fn is_autoscaled(&self, id: &ObjectId) -> Result<bool, Refused> {
        let scales = |scaler: &Value| {
            let target = &scaler["spec"]["scaleTargetRef"];
            target["kind"] == id.kind.as_str() && target["name"] == id.name.as_str()
        };
        match self.list_in("autoscaling", "HorizontalPodAutoscaler", &id.namespace, "").await {
            Ok(all) => Ok(all.iter().any(scales)),
            Err(Refused::Forbidden { .. }) => Ok(true),
            Err(Refused::NotServed { .. } | Refused::Absent { .. }) => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    /// What a server would make of the object if it were new: with what it puts there by itself. As it was written where the server
    /// does not say.
    async fn anew(&self, desired: &Desired) -> Result<Value, Refused> {
        let mut new = desired.clone();
        ANEW.clone_into(&mut new.id.name);
        new.value_mut()["metadata"]["name"] = ANEW.into();
        match self.apply(&new, Mode { dry_run: true, force: true }).await {
            Ok(made) => Ok(made),
            Err(refused @ Refused::Unreachable { .. }) => Err(refused),
            Err(_) => Ok(Value::clone(&desired.value)),
        }
    }

    /// Whether the server would take a new object, as far as it can say before its kind is there, the role that it binds, and the
    /// namespaces that are `made` before it.
    pub async fn rehearse(&self, planned: &Planned, made: &BTreeSet<String>) -> Result<(), Refused> {
        let Planned { step, send, going, .. } = planned;
        if step.action != Action::Create || going.is_some() {
            return Ok(());
        }
        match self.apply(send, Mode { dry_run: true, force: false }).await {
            Err(Refused::NotServed { .. } | Refused::Absent { .. }) | Ok(_) => Ok(()),
            Err(Refused::NoNamespace { id }) if made.contains(&id.namespace) => Ok(()),
            Err(refused) => Err(refused),
        }
    }
}

/// Whether it says nothing but which object it is: a server notes nobody for that.
fn is_only_named(object: &Value) -> bool {
    let only = |part: &Value, known: &[&str]| {
        let fields = part.as_object().into_iter().flatten();
        let mut told = fields.filter(|(name, _)| !known.contains(&name.as_str()));
        told.all(|(_, value)| is_nothing(value))
    };
    only(object, &["apiVersion", "kind", "metadata"]) && only(&object["metadata"], &["name", "namespace"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_that_is_only_a_name_is_known_as_one() {
        let named = |metadata: Value, data: Value| {
            is_only_named(&json!({ "apiVersion": "v1", "kind": "A", "metadata": metadata, "data": data }))
        };
        assert!(named(json!({ "name": "a", "namespace": "n" }), json!({})));
        assert!(!named(json!({ "name": "a", "labels": { "a": "b" } }), json!({})));
        assert!(!named(json!({ "name": "a" }), json!({ "a": "b" })));
    }

    #[test]
    fn a_step_reads_as_a_line_and_its_fields_below() {
        let id = ObjectId::new("", "Service", "n", "x");
        let change = FieldChange { path: "spec.port".into(), before: Some(1.into()), after: Some(2.into()) };
        let step = Step { id, action: Action::Change { changes: vec![change] }, left: Vec::new() };
        assert_eq!(step.to_string(), "~ Service n/x\n    spec.port: 1 → 2");
    }

    #[test]
    fn an_object_on_its_way_out_says_who_holds_it() {
        let live =
            json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a", "b"] } });
        let going = Going::of(&live).map(|going| going.to_string());
        assert_eq!(going.as_deref(), Some("is being deleted since 2026-01-01T00:00:00Z and is held by a, b"));
        assert_eq!(Going::of(&json!({ "metadata": {} })), None);
    }
}
