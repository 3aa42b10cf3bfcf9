//! One look at one resource: observe, decide, act, report.

use crate::{
    bring,
    decide::{Decision, FINALIZER, GROUP, KIND, VERSION, decide, finalizers, revision},
    lock,
    queue::Outcome,
    remove,
    status::{Status, Word},
};
use mizzen_cluster::{Cluster, Desired, Key, NoInventory, ObjectId, Refused};
use mizzen_install::Charts;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// Under this name the status is ours; the mesh's objects are the installer's.
const MANAGER: &str = "mizzen-operator";

/// What all passes have in common.
pub(crate) struct Worker<'a> {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) charts: &'a dyn Charts,
    /// Of this program, for a label.
    pub(crate) version: &'a str,
    pub(crate) revision: &'a str,
    pub(crate) lease_namespace: &'a str,
    pub(crate) patience: Duration,
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

impl Worker<'_> {
    pub(crate) async fn pass(&self, key: &Key) -> Result<Outcome, Stopped> {
        let id = id_of(key);
        // Definitions may have come or gone.
        self.cluster.look().await?;
        let resource = self.cluster.get(&id, Some(VERSION)).await?;
        let mut decision = decide(resource.as_ref(), self.revision);
        let Some(mut resource) = resource else { return Ok(Outcome::Gone) };
        if self.is_anothers(&resource).await? {
            decision = Decision::Others;
        }
        if decision == Decision::Claim {
            let claimed = finalizers(&resource).chain([FINALIZER]).map(str::to_owned).collect();
            let Some(now) = self.set_finalizers(&id, &resource, claimed).await? else {
                return Ok(Outcome::Gone);
            };
            (resource, decision) = (now, Decision::Bring);
        }
        let mut report = Report::new(Arc::clone(&self.cluster), id.clone(), &resource);
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
            return self.release(&id, &now).await;
        }
        result
    }

    /// An operator without a revision leaves resources to one of their own revision, if that is at work.
    async fn is_anothers(&self, resource: &Value) -> Result<bool, Refused> {
        let wanted = revision(resource);
        if wanted == self.revision || !self.revision.is_empty() {
            return Ok(false);
        }
        let lease = ObjectId {
            group: "coordination.k8s.io".to_owned(),
            kind: "Lease".to_owned(),
            namespace: self.lease_namespace.to_owned(),
            name: lock(wanted),
        };
        let lease = self.cluster.get(&lease, None).await?;
        let holder = lease.as_ref().and_then(|lease| lease.pointer("/spec/holderIdentity")?.as_str());
        Ok(holder.is_some_and(|holder| !holder.is_empty()))
    }

    async fn release(&self, id: &ObjectId, resource: &Value) -> Result<Outcome, Stopped> {
        let others = finalizers(resource).filter(|finalizer| *finalizer != FINALIZER);
        self.set_finalizers(id, resource, others.map(str::to_owned).collect()).await?;
        Ok(Outcome::Gone)
    }

    /// Only of the very version that was looked at: others have finalizers, too.
    async fn set_finalizers(
        &self,
        id: &ObjectId,
        resource: &Value,
        finalizers: Vec<String>,
    ) -> Result<Option<Value>, Refused> {
        let patch = json!([
            { "op": "replace", "path": "/metadata/resourceVersion", "value": resource["metadata"]["resourceVersion"] },
            { "op": "add", "path": "/metadata/finalizers", "value": finalizers },
        ]);
        self.cluster.patch(id, patch).await
    }
}

pub(crate) fn id_of(key: &Key) -> ObjectId {
    ObjectId {
        group: GROUP.to_owned(),
        kind: KIND.to_owned(),
        namespace: key.namespace.to_string(),
        name: key.name.to_string(),
    }
}

/// The status of a resource as it was written last.
pub(crate) struct Report {
    cluster: Arc<Cluster>,
    id: ObjectId,
    uid: Value,
    written: Value,
}

impl Report {
    fn new(cluster: Arc<Cluster>, id: ObjectId, resource: &Value) -> Self {
        let written = resource.get("status").cloned().unwrap_or_default();
        Self { cluster, id, uid: resource["metadata"]["uid"].clone(), written }
    }

    pub(crate) fn before(&self) -> Status {
        Status::read(&self.written)
    }

    /// Why a pass came to nothing, as far as it can be written.
    async fn troubled(&mut self, result: &Result<Outcome, Stopped>) {
        let sentence = match result {
            Err(Stopped::Refused(Refused::Conflict { .. } | Refused::Unreachable { .. })) | Ok(_) => return,
            Err(stopped) => stopped.to_string(),
        };
        if let Err(refused) = self.write(&self.before().whole(Word::Error, sentence.as_str())).await {
            tracing::warn!(%refused, "the status could not be written");
        }
    }

    /// If it says anything new.
    pub(crate) async fn write(&mut self, status: &Status) -> Result<(), Refused> {
        let value = status.value();
        if value == self.written {
            return Ok(());
        }
        let object = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": KIND,
            // The very resource: another one of its name has its own status.
            "metadata": { "name": self.id.name, "namespace": self.id.namespace, "uid": self.uid },
            "status": value,
        });
        let desired = Desired { id: self.id.clone(), version: VERSION.to_owned(), value: object };
        // One that is gone needs no status any more.
        if self.cluster.apply_status(MANAGER, &desired).await?.is_some() {
            self.written = value;
        }
        Ok(())
    }
}
