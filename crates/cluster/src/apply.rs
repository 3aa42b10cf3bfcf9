//! A plan carried out: object after object in the order of their groups, several of a group at a time.

use crate::{
    cluster::{Cluster, Mode, Refused},
    object::{Desired, ObjectId},
    plan::{Action, Adoption, NotPlanned, Planned, Step},
};
use serde_json::Value;
use std::{collections::VecDeque, sync::Arc};
use tokio::task::JoinSet;

/// Objects that are sent at once.
const AT_ONCE: usize = 8;
/// Times that an object is planned again because somebody changed it meanwhile.
const AGAIN: u32 = 5;

/// What became of one object.
#[derive(Debug)]
pub struct Applied {
    pub step: Step,
    /// As the server has it.
    pub live: Option<Value>,
}

/// An object that could not be applied; the others were.
#[derive(Debug)]
pub struct NotApplied {
    pub id: ObjectId,
    pub reason: NotPlanned,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub applied: Vec<Applied>,
    pub failed: Vec<NotApplied>,
}

impl Cluster {
    /// Of one object. What is as it should be is not written.
    pub async fn bring(&self, desired: &Desired, adoption: &Adoption) -> Result<Applied, NotPlanned> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let Planned { step, send, force } = self.plan(desired, adoption).await?;
            if step.action == Action::Unchanged {
                return Ok(Applied { step, live: None });
            }
            match self.apply(&send, Mode { dry_run: false, force }).await {
                Ok(live) => return Ok(Applied { step, live: Some(live) }),
                Err(Refused::Conflict { .. }) if attempt < AGAIN => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// Of many, none of which waits for another. One that fails does not keep the others.
    pub async fn bring_all(self: &Arc<Self>, objects: Vec<Desired>, adoption: &Adoption) -> Outcome {
        let mut waiting: VecDeque<(usize, Desired)> = objects.into_iter().enumerate().collect();
        let mut running = JoinSet::new();
        let mut done = Vec::new();
        loop {
            while running.len() < AT_ONCE
                && let Some((place, desired)) = waiting.pop_front()
            {
                let (cluster, adoption) = (Arc::clone(self), adoption.clone());
                running.spawn(async move {
                    let result = cluster.bring(&desired, &adoption).await;
                    (place, desired.id, result)
                });
            }
            match running.join_next().await {
                Some(Ok(finished)) => done.push(finished),
                // A task that panicked is a bug of ours, and no reason to lose what the others did.
                Some(Err(error)) => tracing::error!(%error, "an object was lost"),
                None => break,
            }
        }
        done.sort_by_key(|(place, ..)| *place);
        let mut outcome = Outcome::default();
        for (_, id, result) in done {
            match result {
                Ok(applied) => outcome.applied.push(applied),
                Err(reason) => outcome.failed.push(NotApplied { id, reason }),
            }
        }
        outcome
    }
}
