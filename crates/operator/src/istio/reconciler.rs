//! IstioReconciler: one look at one resource.

use super::{
    FINALIZER, LOCK, NAMESPACE, applied,
    bring::bring,
    decide::{Decision, decide},
    follow,
    images::Images,
    manager::IstioManager,
    metrics, reason,
    sidecars::Counts,
    telling::Telling,
    uninstall::uninstall,
};
use crate::{
    finalizers,
    follow::News,
    pages::Shown,
    pass::Stopped,
    queue::{Outcome, Pace},
    work::Work,
};
use mizzen_api::istio::{GROUP, KIND, State, VERSIONS};
use mizzen_cluster::{Client, Cluster, Key, ObjectId};
use mizzen_install::Charts;
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::JoinSet};

/// What the process was started with.
pub struct Settings {
    /// Upstream's charts, for resources that ask for them.
    pub istio: IstioManager,
    pub images: Option<Images>,
    pub pull_secret: Option<String>,
    /// Whether experimental wishes are granted.
    pub experimental: bool,
    pub pace: Pace,
}

pub(crate) struct IstioReconciler<'a> {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) charts: &'a dyn Charts,
    /// Of this program, for labels.
    pub(crate) version: &'a str,
    pub(crate) settings: &'a Settings,
    /// For each component to become ready.
    pub(crate) patience: Duration,
    pub(crate) shown: Arc<Shown>,
    /// From the start of the process on.
    pub(crate) restarts: Counts,
}

impl IstioReconciler<'_> {
    /// A resource whose finalizer somebody took away gets it back: without it the mesh would stay when the resource goes, whatever is
    /// refused meanwhile. One that cannot get it says why when it is brought.
    async fn held(&self, id: &ObjectId, resource: Value) -> Value {
        let metadata = &resource["metadata"];
        let lacks_it = metadata.get("deletionTimestamp").is_none()
            && metadata["namespace"] == NAMESPACE
            && applied::tag(&resource).is_some()
            && !finalizers::has(&resource, FINALIZER);
        if !lacks_it {
            return resource;
        }
        match finalizers::add(&self.cluster, id, &resource, FINALIZER).await {
            Ok(Some(now)) => now,
            _ => resource,
        }
    }
}

impl Work for IstioReconciler<'_> {
    fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    fn kind(&self) -> (&'static str, &'static str) {
        (GROUP, KIND)
    }

    fn lock(&self) -> String {
        LOCK.to_owned()
    }

    fn pace(&self) -> Pace {
        self.settings.pace
    }

    fn id(&self, key: &Key) -> ObjectId {
        ObjectId::new(GROUP, KIND, &*key.namespace, &*key.name)
    }

    fn has(&self, _: &Key) -> bool {
        true
    }

    fn watches(&self) -> usize {
        1
    }

    fn follow(&self, client: &Client, out: &mpsc::Sender<News>) -> JoinSet<()> {
        follow::start(client, out)
    }

    async fn pass(&self, key: &Key) -> Result<Outcome, Stopped> {
        let (id, cluster) = (self.id(key), &self.cluster);
        // Definitions may have come or gone.
        cluster.look().await?;
        let Some(resource) = cluster.get(&id, Some(VERSIONS[0])).await? else { return Ok(Outcome::Gone) };
        let all = cluster.list_in(GROUP, KIND, NAMESPACE, "").await?;
        let resource = self.held(&id, resource).await;
        let mut telling = Telling::new(cluster, &id, &resource);
        let decision = decide(&resource, &all, self.settings.experimental);
        let is_the_mesh = matches!(decision, Decision::Bring(_) | Decision::Remove);
        let result = match decision {
            Decision::NotNeeded => {
                telling.set(&reason::INSTALL_NOT_NEEDED);
                telling.state(State::Deleting, "Deleting Istio").await?;
                return Ok(Outcome::Gone);
            }
            Decision::Refused(refusal) => {
                tracing::info!(resource = %id, "{}", refusal.description);
                telling.fails(refusal.state, refusal.reason, &refusal.description).await?;
                return Ok(Outcome::Settled);
            }
            Decision::Bring(spec) => {
                self.shown.tell("spec", metrics::page(&spec));
                Box::pin(bring(self, &id, &resource, &spec, &mut telling)).await
            }
            Decision::Remove => {
                Box::pin(uninstall(self, &resource, &mut telling)).await.map(|()| Outcome::Gone)
            }
            Decision::Release => Ok(Outcome::Gone),
        };
        match &result {
            // What nobody can do is told where people look.
            Err(stopped @ (Stopped::Refused(_) | Stopped::Inventory(_))) if !stopped.is_a_race() => {
                telling.fails(State::Error, &reason::FAILED, &stopped.to_string()).await?;
            }
            Ok(Outcome::Gone) => {
                // Its status has been written since.
                if let Some(now) = cluster.get(&id, None).await?.filter(|now| finalizers::has(now, FINALIZER))
                {
                    finalizers::remove(cluster, &id, &now, FINALIZER).await?;
                }
            }
            _ => {}
        }
        if is_the_mesh {
            let is_gone = matches!(result, Ok(Outcome::Gone));
            let state = if is_gone { String::new() } else { metrics::state(&telling.status) };
            self.shown.tell("state", state);
        }
        result
    }
}
