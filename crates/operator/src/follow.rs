//! What happens in the cluster, as far as it concerns a resource: changes of resources themselves, and of objects that they own.
//!
//! A status is nobody's wish, neither a resource's (we write it ourselves) nor an object's (an autoscaler's changes every few
//! seconds); except that a workload which is not available any more is news, and a definition whose kind can be used.

use crate::{
    decide::{FINALIZER, GROUP, IGNORE, VERSION},
    istio,
    queue::Cause,
    rights::OWNED,
};
use mizzen_cluster::{Change, Client, Identity, Key, Resource, State, Trimmed, follow};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use tokio::{sync::mpsc, task::JoinSet};

const COMPONENT: &str = "operator.istio.io/component";
const OWNER: &str = "install.operator.istio.io/owning-resource";
const OWNER_NAMESPACE: &str = "install.operator.istio.io/owning-resource-namespace";

/// Annotations that are nobody's wish: the controller of deployments counts in the first, the second is ours.
const WRITTEN: [&str; 2] = ["deployment.kubernetes.io/revision", istio::applied::ANNOTATION];

/// Of either kind of resource.
const FINALIZERS: [&str; 2] = [FINALIZER, istio::FINALIZER];

/// What the worker hears.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    Look(Vec<(Key, Cause)>),
    /// Something that concerns all resources.
    Everybody(Cause),
    /// All resources of one watch have been told.
    Synced,
}

/// Any object, of which only a mark of its content is kept.
#[derive(Deserialize)]
#[serde(from = "Raw")]
pub(crate) struct Seen {
    metadata: Metadata,
    mark: u64,
    /// Of what a resource wants: not of labels and annotations, but for the one that says that it is to be left alone.
    wish: u64,
    /// A finalizer of ours holds it.
    held: bool,
}

#[derive(Deserialize)]
struct Raw {
    metadata: Metadata,
    #[serde(default)]
    status: Map<String, Value>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: String,
    resource_version: String,
    uid: String,
    deletion_timestamp: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    finalizers: Vec<String>,
}

impl From<Raw> for Seen {
    fn from(Raw { metadata, status, rest }: Raw) -> Self {
        let mut wish = DefaultHasher::new();
        (&metadata.uid, &metadata.deletion_timestamp, metadata.annotations.get(IGNORE)).hash(&mut wish);
        let mut hasher = DefaultHasher::new();
        (&metadata.uid, &metadata.deletion_timestamp, &metadata.labels).hash(&mut hasher);
        for (key, value) in &metadata.annotations {
            if !WRITTEN.contains(&key.as_str()) {
                (key, value).hash(&mut hasher);
            }
        }
        for (key, value) in &rest {
            let text = value.to_string();
            (key, &text).hash(&mut hasher);
            (key, &text).hash(&mut wish);
        }
        // A kind can be used when it is established, and a moment later than it is defined.
        let conditions = status.get("conditions").and_then(Value::as_array).into_iter().flatten();
        let is = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
        conditions.into_iter().any(is).hash(&mut wish);
        let missing =
            ["unavailableReplicas", "numberUnavailable"].into_iter().find_map(|key| status.get(key));
        missing.is_some_and(|count| *count != 0).hash(&mut hasher);
        let held = metadata.finalizers.iter().any(|finalizer| FINALIZERS.contains(&finalizer.as_str()));
        Self { metadata, mark: hasher.finish(), wish: wish.finish(), held }
    }
}

impl Trimmed for Seen {
    fn identity(&self) -> Identity<'_> {
        let Metadata { name, namespace, resource_version, .. } = &self.metadata;
        Identity { namespace, name, version: resource_version }
    }
}

impl Seen {
    fn owner(&self) -> Option<Key> {
        let label = |key: &str| self.metadata.labels.get(key).map(|value| value.as_str().into());
        Some(Key { namespace: label(OWNER_NAMESPACE)?, name: label(OWNER)? })
    }
}

/// Follows everything until nobody listens any more.
pub(crate) fn start(client: &Client, namespaces: &[String], out: &mpsc::Sender<News>) -> JoinSet<()> {
    let mut running = JoinSet::new();
    let resources = || Resource::new(GROUP, &[VERSION], "istiooperators");
    let watched: Vec<Resource> = match namespaces {
        [] => vec![resources()],
        some => some.iter().map(|namespace| resources().namespace(namespace)).collect(),
    };
    for resource in watched {
        let mut known = Known::default();
        let turn = move |change| known.resource(change);
        running.spawn(follow(client.clone(), resource, Arc::new(State::default()), out.clone(), turn));
    }
    objects(client, out, &mut running, |owners| Some(News::Look(owners)));
    running
}

/// Follows what meshes are made of; `turn` says what it means that objects of these owners have changed.
pub(crate) fn objects(
    client: &Client,
    out: &mpsc::Sender<News>,
    running: &mut JoinSet<()>,
    turn: impl Fn(Vec<(Key, Cause)>) -> Option<News> + Copy + Send + 'static,
) {
    for kind in OWNED {
        let resource = Resource::new(kind.group, kind.versions, kind.plural).labels(COMPONENT);
        let mut known = Known::default();
        let told = move |change| match known.object(change) {
            Some(News::Look(owners)) => turn(owners),
            other => other,
        };
        running.spawn(follow(client.clone(), resource, Arc::new(State::default()), out.clone(), told));
    }
}

/// What was seen of each object.
#[derive(Default)]
pub(crate) struct Known(HashMap<Key, Before>);

/// Whose it was, the mark of its content, and whether we held it.
struct Before {
    owner: Option<Key>,
    mark: u64,
    held: bool,
}

impl Known {
    pub(crate) fn resource(&mut self, change: Change<Seen>) -> Option<News> {
        let look = |key| Some(News::Look(vec![(key, Cause::Changed)]));
        match change {
            Change::Applied(seen) => {
                let (key, now) =
                    (seen.identity().key(), Before { owner: None, mark: seen.wish, held: seen.held });
                let before = self.0.insert(key.clone(), now);
                // Somebody who takes our finalizer away loses the mesh with the resource: it is put back.
                let is_same = |before: Before| before.mark == seen.wish && (seen.held || !before.held);
                if before.is_some_and(is_same) { None } else { look(key) }
            }
            Change::Gone(key) => {
                self.0.remove(&key);
                look(key)
            }
            // It is read whole when it is looked at, and that says what is wrong.
            Change::Broken { key, .. } => look(key),
            Change::Synced => Some(News::Synced),
        }
    }

    /// Whoever strips an object of its labels takes it from its owner, who wants it back.
    fn object(&mut self, change: Change<Seen>) -> Option<News> {
        let owners: Vec<Key> = match change {
            Change::Applied(seen) => {
                let (key, owner) = (seen.identity().key(), seen.owner());
                let now = Before { owner: owner.clone(), mark: seen.mark, held: seen.held };
                match self.0.insert(key, now) {
                    Some(before) if before.mark == seen.mark => Vec::new(),
                    Some(before) if before.owner != owner => before.owner.into_iter().chain(owner).collect(),
                    _ => owner.into_iter().collect(),
                }
            }
            Change::Gone(key) | Change::Broken { key, .. } => {
                self.0.remove(&key).and_then(|before| before.owner).into_iter().collect()
            }
            Change::Synced => Vec::new(),
        };
        let looks: Vec<_> = owners.into_iter().map(|owner| (owner, Cause::Drifted)).collect();
        if looks.is_empty() { None } else { Some(News::Look(looks)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(object: &Value) -> Seen {
        serde_json::from_str(&object.to_string()).unwrap()
    }

    fn key(name: &str) -> Key {
        Key { namespace: "mesh".into(), name: name.into() }
    }

    fn deployment() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "istiod", "namespace": "mesh", "resourceVersion": "1",
                          "labels": { OWNER: "a", OWNER_NAMESPACE: "mesh", COMPONENT: "Pilot" } },
            "spec": { "image": "x" }, "status": { "replicas": 1 },
        })
    }

    fn drifted(names: &[&str]) -> Option<News> {
        Some(News::Look(names.iter().map(|name| (key(name), Cause::Drifted)).collect()))
    }

    #[test]
    fn an_edit_is_news_to_the_owner_and_a_status_is_not_until_something_is_missing() {
        let mut known = Known::default();
        let mut tell = |object: &Value| known.object(Change::Applied(seen(object)));
        let mut object = deployment();
        assert_eq!(tell(&object), drifted(&["a"]));
        object["status"]["replicas"] = 2.into();
        object["metadata"]["managedFields"] = json!([{}]);
        object["metadata"]["generation"] = 7.into();
        object["metadata"]["annotations"] = json!({ "deployment.kubernetes.io/revision": "2" });
        assert_eq!(tell(&object), None);
        object["status"]["unavailableReplicas"] = 1.into();
        assert_eq!(tell(&object), drifted(&["a"]));
        object["spec"]["image"] = "y".into();
        assert_eq!(tell(&object), drifted(&["a"]));
        object["metadata"]["labels"][OWNER] = "b".into();
        assert_eq!(tell(&object), drifted(&["a", "b"]));
    }

    #[test]
    fn an_object_that_vanishes_is_news_to_its_last_owner() {
        let mut known = Known::default();
        known.object(Change::Applied(seen(&deployment())));
        assert_eq!(known.object(Change::Gone(key("istiod"))), drifted(&["a"]));
        assert_eq!(known.object(Change::Gone(key("istiod"))), None);
    }

    #[test]
    fn a_definition_is_news_when_its_kind_can_be_used() {
        let mut known = Known::default();
        let mut definition = json!({ "metadata": { "name": "monitors" }, "spec": {} });
        let mut tell = |definition: &Value| known.resource(Change::Applied(seen(definition))).is_some();
        assert!(tell(&definition));
        definition["status"] = json!({ "conditions": [{ "type": "NamesAccepted", "status": "True" }] });
        assert!(!tell(&definition));
        definition["status"] = json!({ "conditions": [{ "type": "Established", "status": "True" }] });
        assert!(tell(&definition));
    }

    #[test]
    fn neither_our_own_status_of_a_resource_nor_a_label_of_it_is_news() {
        let mut known = Known::default();
        let mut resource = json!({ "metadata": { "name": "a", "namespace": "mesh" }, "spec": {} });
        let changed = Some(News::Look(vec![(key("a"), Cause::Changed)]));
        assert_eq!(known.resource(Change::Applied(seen(&resource))), changed);
        resource["status"] = json!({ "status": "HEALTHY" });
        resource["metadata"]["finalizers"] = json!(["f", FINALIZER]);
        resource["metadata"]["annotations"] = json!({ "somebody": "touched it" });
        resource["metadata"]["labels"] = json!({ "somebody": "touched it" });
        assert_eq!(known.resource(Change::Applied(seen(&resource))), None);
        resource["metadata"]["finalizers"] = json!(["f"]);
        assert_eq!(known.resource(Change::Applied(seen(&resource))), changed, "what held it was taken away");
        resource["metadata"]["finalizers"] = json!([]);
        assert_eq!(known.resource(Change::Applied(seen(&resource))), None, "and is not yet back");
        resource["metadata"]["annotations"][IGNORE] = "true".into();
        assert_eq!(known.resource(Change::Applied(seen(&resource))), changed);
        resource["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert_eq!(known.resource(Change::Applied(seen(&resource))), changed);
    }
}
