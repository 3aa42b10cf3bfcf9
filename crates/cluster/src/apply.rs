//! A plan carried out: several objects at a time, none of which waits for another.

use crate::{
    adoption::Adoption,
    cluster::{Cluster, Mode, Refused},
    inventory::{Claim, NoInventory},
    object::{Desired, ObjectId},
    plan::{Action, Going, NotPlanned, Planned, Step},
};
use std::{
    collections::{HashMap, VecDeque},
    future::Future,
    sync::Arc,
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

/// Objects that are worked on at once.
const AT_ONCE: usize = 8;
/// Times that an object is planned again because somebody changed it meanwhile.
const AGAIN: u32 = 8;

/// An object for which something could not be done; the others were not kept by it.
#[derive(Debug)]
pub struct Failed {
    pub id: ObjectId,
    pub reason: NotPlanned,
}

#[derive(Debug)]
pub struct Outcome<T> {
    /// In the order of the objects.
    pub done: Vec<T>,
    pub failed: Vec<Failed>,
}

impl Cluster {
    /// Of one object, as it was planned, or as it has to be planned anew because it has changed since. What is as it should be is not
    /// written. `patience` is for one of the same name that is being deleted.
    pub async fn bring(
        &self,
        desired: &Desired,
        adoption: &Adoption,
        planned: Option<Planned>,
        patience: Duration,
    ) -> Result<Step, NotPlanned> {
        self.bring_claimed(desired, adoption, planned, patience, None).await
    }

    /// The same while a claim holds: who has changed the object meanwhile may have taken over the whole work.
    pub async fn bring_claimed(
        &self,
        desired: &Desired,
        adoption: &Adoption,
        planned: Option<Planned>,
        patience: Duration,
        claim: Option<&Claim>,
    ) -> Result<Step, NotPlanned> {
        let mut planned = planned;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let now = match planned.take() {
                Some(planned) => planned,
                None => self.plan(desired, adoption).await?,
            };
            if now.step.action == Action::Unchanged {
                return Ok(now.step);
            }
            if now.going.is_some() {
                self.gone(&desired.id, patience).await?;
                // It is made anew, and nothing of what was planned holds.
                continue;
            }
            match self.carry_out(&now).await {
                Ok(()) => return Ok(now.step),
                Err(Refused::Conflict { .. }) if attempt < AGAIN => {
                    sleep(Duration::from_millis(20)).await;
                    planned = Some(self.plan(desired, adoption).await?);
                    if let Some(claim) = claim {
                        self.still(claim).await?;
                    }
                }
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    async fn still(&self, claim: &Claim) -> Result<(), Refused> {
        self.holds(claim).await.map_err(|error| match error {
            NoInventory::Refused(refused) => refused,
            other => Refused::Conflict { what: "going on".to_owned(), message: other.to_string() },
        })
    }

    async fn carry_out(&self, planned: &Planned) -> Result<(), Refused> {
        let mut send = planned.send.clone();
        if let Some(takeover) = &planned.takeover {
            let version = send.value["metadata"]["resourceVersion"].clone();
            let Some(taken) = self.merge(&send.id, takeover.patch(&version)).await? else {
                return Err(Refused::Conflict {
                    what: format!("taking over {}", send.id),
                    message: "it is gone".to_owned(),
                });
            };
            send.value_mut()["metadata"]["resourceVersion"] = taken["metadata"]["resourceVersion"].clone();
        }
        let mode = Mode { dry_run: false, force: planned.force };
        self.apply(&send, mode).await?;
        Ok(())
    }

    /// Waits until an object that is being deleted is no more.
    pub async fn gone(&self, id: &ObjectId, patience: Duration) -> Result<(), NotPlanned> {
        let end = Instant::now() + patience;
        loop {
            let going = self.get(id, None).await?.as_ref().and_then(Going::of);
            match going {
                None => return Ok(()),
                Some(going) if Instant::now() > end => {
                    return Err(NotPlanned::Going { id: id.clone(), going });
                }
                Some(_) => sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// Does something for each object, several at a time. One that fails does not keep the others.
    pub async fn for_all<I, T, W, F>(
        self: &Arc<Self>,
        items: Vec<I>,
        id: impl Fn(&I) -> ObjectId,
        work: W,
    ) -> Outcome<T>
    where
        T: Send + 'static,
        W: Fn(Arc<Self>, I) -> F,
        F: Future<Output = Result<T, NotPlanned>> + Send + 'static,
    {
        let mut waiting: VecDeque<(usize, I)> = items.into_iter().enumerate().collect();
        let mut running = JoinSet::new();
        let (mut begun, mut ended) = (HashMap::new(), Vec::new());
        loop {
            while running.len() < AT_ONCE
                && let Some((place, item)) = waiting.pop_front()
            {
                let id = id(&item);
                let work = work(Arc::clone(self), item);
                let task = running.spawn(work);
                begun.insert(task.id(), (place, id));
            }
            let (task, result) = match running.join_next_with_id().await {
                Some(Ok((task, result))) => (task, result),
                // A task that panicked is a bug of ours, and no reason to lose what the others did.
                Some(Err(error)) => {
                    let what = "working on it".to_owned();
                    (error.id(), Err(Refused::Unreachable { what, message: error.to_string() }.into()))
                }
                None => break,
            };
            if let Some((place, id)) = begun.remove(&task) {
                ended.push((place, id, result));
            }
        }
        ended.sort_by_key(|(place, ..)| *place);
        let mut outcome = Outcome { done: Vec::new(), failed: Vec::new() };
        for (_, id, result) in ended {
            match result {
                Ok(done) => outcome.done.push(done),
                Err(reason) => outcome.failed.push(Failed { id, reason }),
            }
        }
        outcome
    }
}
