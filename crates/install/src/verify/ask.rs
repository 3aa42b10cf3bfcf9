//! Every object, several at a time.

use std::sync::Arc;

use mizzen_cluster::{Cluster, ObjectId};
use tokio::task::JoinSet;

use super::{Checked, Report, State};

/// Objects that are asked for at once.
const AT_ONCE: usize = 8;

impl Report {
    /// What should be in a namespace and names none is looked for in this one.
    pub async fn read(cluster: &Arc<Cluster>, mut objects: Vec<ObjectId>, namespace: &str) -> Self {
        let served = cluster.served();
        for id in objects.iter_mut().filter(|id| id.namespace.is_empty()) {
            if served.find(&id.group, &id.kind, None).is_some_and(|kind| kind.namespaced) {
                namespace.clone_into(&mut id.namespace);
            }
        }
        let mut waiting = objects.into_iter().enumerate();
        let mut running = JoinSet::new();
        let mut done = Vec::new();
        loop {
            for (place, id) in waiting.by_ref().take(AT_ONCE - running.len()) {
                let cluster = Arc::clone(cluster);
                running.spawn(async move {
                    let state = match cluster.get(&id, None).await {
                        Ok(live) => explained(&cluster, &id, State::of(live.as_ref())).await,
                        Err(refused) => State::Unknown(refused.to_string()),
                    };
                    (place, Checked { id, state })
                });
            }
            match running.join_next().await {
                Some(checked) => done.extend(checked),
                None => break,
            }
        }
        done.sort_by_key(|(place, _)| *place);
        Self { checked: done.into_iter().map(|(_, checked)| checked).collect() }
    }
}

/// With what its pods say.
async fn explained(cluster: &Cluster, id: &ObjectId, state: State) -> State {
    match (&state, cluster.not_ready(id)) {
        (State::NotReady(_), asked) => asked.await.ok().flatten().map_or(state, State::NotReady),
        _ => state,
    }
}
