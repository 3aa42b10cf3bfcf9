//! Namespaces, as far as their labels say who is injected: one that is labelled later has pods without a sidecar. And the marks of the
//! mesh's own, which are ours.

use super::{DISCLAIMER, mesh_namespace};
use crate::{follow::News, queue::Cause};
use mizzen_cluster::{Change, Client, Identity, Key, Resource, State, Trimmed, follow};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use tokio::sync::mpsc;

const LABELS: [&str; 3] = ["istio-injection", "istio.io/rev", mesh_namespace::CHECKED];

#[derive(Deserialize)]
struct Namespace {
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    resource_version: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

impl Trimmed for Namespace {
    fn identity(&self) -> Identity<'_> {
        let Metadata { name, resource_version, .. } = &self.metadata;
        Identity { namespace: "", name, version: resource_version }
    }
}

/// What was seen of each.
#[derive(Default)]
struct Known(HashMap<Key, ([Option<String>; 3], Option<String>)>);

impl Known {
    /// A new one has no pods yet.
    fn turn(&mut self, change: Change<Namespace>) -> Option<News> {
        match change {
            Change::Applied(mut namespace) => {
                let key = namespace.identity().key();
                let Metadata { labels, annotations, .. } = &mut namespace.metadata;
                let now = (LABELS.map(|label| labels.remove(label)), annotations.remove(DISCLAIMER));
                let before = self.0.insert(key, now.clone())?;
                (before != now).then_some(News::Everybody(Cause::Drifted))
            }
            Change::Gone(key) => {
                self.0.remove(&key);
                None
            }
            Change::Broken { .. } | Change::Synced => None,
        }
    }
}

/// Until nobody listens any more.
pub(super) async fn start(client: Client, out: mpsc::Sender<News>) {
    let mut known = Known::default();
    let turn = move |change| known.turn(change);
    follow(client, Resource::new("", &["v1"], "namespaces"), Arc::new(State::default()), out, turn).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_namespace_is_news_when_it_is_labelled_otherwise_than_before() {
        let mut known = Known::default();
        let mut tell = |labels: serde_json::Value| {
            let namespace =
                json!({ "metadata": { "name": "shop", "resourceVersion": "1", "labels": labels } });
            known.turn(Change::Applied(serde_json::from_str(&namespace.to_string()).unwrap())).is_some()
        };
        assert!(!tell(json!({})), "it is new");
        assert!(!tell(json!({ "team": "a" })));
        assert!(tell(json!({ "team": "a", "istio-injection": "enabled" })));
        assert!(!tell(json!({ "istio-injection": "enabled" })));
        assert!(tell(json!({ "istio.io/rev": "canary" })));
        assert!(tell(json!({ "istio.io/rev": "canary", mesh_namespace::CHECKED: "enabled" })));
        assert!(known.turn(Change::Gone(Key { namespace: "".into(), name: "shop".into() })).is_none());
    }
}
