//! Every object, several at a time.

use std::sync::Arc;

use mizzen_cluster::{Cluster, ObjectId};

use super::{Checked, Report, State};

impl Report {
    /// What should be in a namespace and names none is looked for in this one.
    pub async fn read(cluster: &Arc<Cluster>, mut objects: Vec<ObjectId>, namespace: &str) -> Self {
        let served = cluster.served();
        for id in objects.iter_mut().filter(|id| id.namespace.is_empty()) {
            if served.find(&id.group, &id.kind, None).is_some_and(|kind| kind.namespaced) {
                namespace.clone_into(&mut id.namespace);
            }
        }
        let asked = cluster.for_all(objects, ObjectId::clone, |cluster, id| async move {
            let state = match cluster.get(&id, None).await {
                Ok(live) => explained(&cluster, &id, State::of(live.as_ref())).await,
                Err(refused) => State::Unknown(refused.to_string()),
            };
            Ok(Checked { id, state })
        });
        let asked = asked.await;
        let unknown = asked.failed.into_iter();
        let unknown =
            unknown.map(|failed| Checked { id: failed.id, state: State::Unknown(failed.reason.to_string()) });
        Self { checked: asked.done.into_iter().chain(unknown).collect() }
    }
}

/// With what its pods say.
async fn explained(cluster: &Cluster, id: &ObjectId, state: State) -> State {
    match (&state, cluster.not_ready(id)) {
        (State::NotReady(_), asked) => asked.await.ok().flatten().map_or(state, State::NotReady),
        _ => state,
    }
}
