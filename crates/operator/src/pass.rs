//! One look at one resource: observe, decide, act, report.

use crate::{
    bring,
    decide::{Decision, FINALIZER, GROUP, KIND, VERSION, decide, revision},
    finalizers,
    follow::{self, News},
    lock,
    queue::{Outcome, Pace},
    remove,
    status::{Status, Word},
    work::Work,
    written::Written,
};
use mizzen_cluster::{Client, Cluster, Key, NoInventory, ObjectId, Onlooker, Refused};
use mizzen_install::Charts;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::mpsc, task::JoinSet};

/// What all passes have in common.
pub(crate) struct Worker<'a> {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) charts: &'a dyn Charts,
    /// Of this program, for a label.
    pub(crate) version: &'a str,
    pub(crate) revision: &'a str,
    /// Empty for all.
    pub(crate) namespaces: &'a [String],
    pub(crate) lease_namespace: &'a str,
    pub(crate) patience: Duration,
    /// What was seen of the operators of other revisions.
    pub(crate) onlookers: Mutex<HashMap<String, Onlooker>>,
}

/// Why a pass came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Inventory(#[from] NoInventory),
    /// Something is wrong with what is wanted, or with what is there: it has been written into the status.
    #[error("{0}")]
    Told(String),
    /// The same, and somebody has to do something about it.
    #[error("{0}")]
    Blocked(String),
}

impl Stopped {
    /// Over before anybody could look at it.
    pub(crate) fn is_a_race(&self) -> bool {
        matches!(self, Self::Refused(Refused::Conflict { .. } | Refused::Unreachable { .. }))
    }
}

impl Work for Worker<'_> {
    fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    fn kind(&self) -> (&'static str, &'static str) {
        (GROUP, KIND)
    }

    fn lock(&self) -> String {
        lock(self.revision)
    }

    fn pace(&self) -> Pace {
        Pace::ISTIO_OPERATOR
    }

    fn id(&self, key: &Key) -> ObjectId {
        id_of(key)
    }

    fn has(&self, key: &Key) -> bool {
        self.namespaces.is_empty() || self.namespaces.iter().any(|namespace| **namespace == *key.namespace)
    }

    fn watches(&self) -> usize {
        self.namespaces.len().max(1)
    }

    fn follow(&self, client: &Client, out: &mpsc::Sender<News>) -> JoinSet<()> {
        follow::start(client, self.namespaces, out)
    }

    async fn pass(&self, key: &Key) -> Result<Outcome, Stopped> {
        let id = id_of(key);
        // Definitions may have come or gone.
        self.cluster.look().await?;
        let resource = self.cluster.get(&id, Some(VERSION)).await?;
        let mut decision = decide(resource.as_ref(), self.revision);
        let Some(mut resource) = resource else { return Ok(Outcome::Gone) };
        if self.is_anothers(&resource).await? {
            // Nothing tells when that one ends.
            return Ok(Outcome::Blocked);
        }
        if decision == Decision::Claim {
            let Some(now) = finalizers::add(&self.cluster, &id, &resource, FINALIZER).await? else {
                return Ok(Outcome::Gone);
            };
            (resource, decision) = (now, Decision::Bring);
        }
        let mut report = Report(Written::new(&self.cluster, &id, VERSION, &resource));
        let result = match decision {
            Decision::Gone | Decision::Ignored | Decision::Others | Decision::Claim => {
                return Ok(Outcome::Gone);
            }
            Decision::Bring => bring::bring(self, &resource, &mut report).await,
            Decision::Remove => remove::remove(self, &resource, &mut report).await.map(|()| Outcome::Gone),
            Decision::Release => Ok(Outcome::Gone),
        };
        if let Err(Stopped::Refused(_) | Stopped::Inventory(_)) = &result {
            // What nobody can do is told where people look, too. A race is over before anybody does.
            report.troubled(&result).await;
        }
        if result.is_ok() && matches!(decision, Decision::Remove | Decision::Release) {
            // Its status has been written since.
            let Some(now) = self.cluster.get(&id, Some(VERSION)).await? else { return Ok(Outcome::Gone) };
            finalizers::remove(&self.cluster, &id, &now, FINALIZER).await?;
            return Ok(Outcome::Gone);
        }
        result
    }
}

impl Worker<'_> {
    /// An operator without a revision leaves resources to one of their own revision, if that is at work.
    async fn is_anothers(&self, resource: &Value) -> Result<bool, Refused> {
        let wanted = revision(resource);
        if wanted == self.revision || !self.revision.is_empty() {
            return Ok(false);
        }
        let lease = ObjectId::new("coordination.k8s.io", "Lease", self.lease_namespace, lock(wanted));
        let lease = self.cluster.get(&lease, None).await?;
        let mut seen = self.onlookers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(seen.entry(wanted.to_owned()).or_default().sees_a_holder(lease.as_ref()))
    }
}

fn id_of(key: &Key) -> ObjectId {
    ObjectId::new(GROUP, KIND, &*key.namespace, &*key.name)
}

/// The status of a resource as it was written last.
pub(crate) struct Report(Written);

impl Report {
    pub(crate) fn before(&self) -> Status {
        Status::read(self.0.value())
    }

    /// Why a pass came to nothing, as far as it can be written.
    async fn troubled(&mut self, result: &Result<Outcome, Stopped>) {
        let sentence = match result {
            Err(stopped) if !stopped.is_a_race() => stopped.to_string(),
            _ => return,
        };
        if let Err(refused) = self.write(&self.before().whole(Word::Error, sentence.as_str())).await {
            tracing::warn!(%refused, "the status could not be written");
        }
    }

    /// If it says anything new.
    pub(crate) async fn write(&mut self, status: &Status) -> Result<(), Refused> {
        self.0.write(status.value()).await
    }
}
