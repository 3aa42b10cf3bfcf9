//! What is told of a resource in its status.

use super::reason::{self, READY, Reason};
use crate::{carried::Teller, written::Written};
use mizzen_api::istio::{Component, Condition, Phase, State, Status, VERSIONS};
use mizzen_cluster::{Cluster, ObjectId, Refused, now};
use mizzen_install::{
    COMPONENTS,
    deploy::{Event, Mesh, Plan},
};
use serde_json::Value;
use std::sync::Arc;

pub(super) struct Telling {
    written: Written,
    pub(super) status: Status,
    generation: Option<i64>,
}

impl Telling {
    pub(super) fn new(cluster: &Arc<Cluster>, id: &ObjectId, resource: &Value) -> Self {
        Self {
            written: Written::new(cluster, id, VERSIONS[0], resource),
            status: Status::of(resource),
            generation: resource["metadata"]["generation"].as_i64(),
        }
    }

    /// Whether everything that is told is told of another spec than this one.
    fn is_outdated(&self) -> bool {
        self.status.observed_generation != self.generation
    }

    pub(super) fn set(&mut self, reason: &Reason) {
        self.say(reason, reason.message);
    }

    /// The same in other words.
    pub(super) fn say(&mut self, reason: &Reason, message: &str) {
        set(&mut self.status.conditions, reason, message, self.generation, &now());
    }

    pub(super) fn forget(&mut self, kind: &str) {
        self.status.conditions.retain(|condition| condition.kind != kind);
    }

    /// A state that lasts, about the spec as it is now.
    pub(super) async fn end(&mut self, state: State, description: &str) -> Result<(), Refused> {
        self.status.observed_generation = self.generation;
        self.state(state, description).await
    }

    pub(super) async fn state(&mut self, state: State, description: &str) -> Result<(), Refused> {
        self.status.state = state;
        self.status.description = description.to_owned();
        self.tells().await
    }

    /// Whatever the reason is of, the resource is not ready either.
    pub(super) async fn fails(
        &mut self,
        state: State,
        reason: &Reason,
        description: &str,
    ) -> Result<(), Refused> {
        self.set(reason);
        if reason.kind != READY {
            self.set(&reason::FAILED);
        }
        self.end(state, description).await
    }
}

impl Teller for Telling {
    async fn begins(&mut self, _: &Mesh, plan: &Plan) -> Result<(), Refused> {
        let was = std::mem::take(&mut self.status.components);
        let well = plan.changes_nothing() && !self.is_outdated();
        self.status.components = plan
            .parts
            .iter()
            .map(|part| {
                let known = was.iter().find(|known| known.name == part.component.name);
                let pending = Component { name: part.component.name.to_owned(), ..Component::default() };
                known.filter(|_| well).cloned().unwrap_or(pending)
            })
            .collect();
        // One that is as it should be stays as it is: whoever looks at it is not told that something happens.
        if well {
            return Ok(());
        }
        self.set(&reason::UNKNOWN);
        self.state(State::Processing, "Reconciling Istio").await
    }

    fn hears(&mut self, event: &Event) {
        let (title, phase, reason) = match event {
            Event::Waits { component, for_what } => {
                let told: Vec<String> = for_what.iter().map(ToString::to_string).collect();
                (component, Phase::Waiting, told.join("; "))
            }
            Event::Ready { component } => (component, Phase::Ready, String::new()),
            Event::Failed { component, reason } => (component, Phase::Failed, reason.clone()),
            Event::Begins { .. } | Event::Brought { .. } | Event::Deleted { .. } | Event::Kept { .. } => {
                return;
            }
        };
        let Some(known) = COMPONENTS.iter().find(|known| known.title == *title) else { return };
        let component = self.status.components.iter_mut().find(|component| component.name == known.name);
        if let Some(component) = component {
            (component.phase, component.reason) = (phase, reason);
        }
        if phase == Phase::Waiting && self.status.state == State::Ready {
            self.status.state = State::Processing;
            self.status.description = "Reconciling Istio".to_owned();
            self.set(&reason::UNKNOWN);
        }
    }

    async fn tells(&mut self) -> Result<(), Refused> {
        let value = serde_json::to_value(&self.status).unwrap_or_default();
        self.written.write(value).await
    }
}

/// When a condition became what it is moves only when its status does.
fn set(all: &mut Vec<Condition>, reason: &Reason, message: &str, generation: Option<i64>, now: &str) {
    let mut condition = Condition {
        kind: reason.kind.to_owned(),
        status: reason.status.to_owned(),
        reason: reason.name.to_owned(),
        message: message.to_owned(),
        last_transition_time: now.to_owned(),
        observed_generation: generation,
    };
    match all.iter_mut().find(|known| known.kind == reason.kind) {
        Some(known) => {
            if known.status == condition.status {
                condition.last_transition_time.clone_from(&known.last_transition_time);
            }
            *known = condition;
        }
        None => all.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_there_once_and_keeps_its_time_until_its_status_changes() {
        let mut all = Vec::new();
        set(&mut all, &reason::UNKNOWN, "a", Some(1), "t1");
        set(&mut all, &reason::FAILED, "b", Some(1), "t2");
        set(&mut all, &reason::VALIDATION, "c", Some(2), "t3");
        set(&mut all, &reason::NO_FILTER_FOUND, "d", Some(2), "t3");
        let told: Vec<_> = all
            .iter()
            .map(|one| (one.reason.as_str(), one.last_transition_time.as_str(), one.observed_generation))
            .collect();
        assert_eq!(
            told,
            [("ValidationFailed", "t2", Some(2)), ("IngressTargetingUserResourceNotFound", "t3", Some(2))]
        );
    }
}
