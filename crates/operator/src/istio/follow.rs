//! What happens in the cluster, as far as it concerns `Istio` resources. There is one mesh, so that what happens to it concerns them
//! all; whichever is the oldest acts.

use super::{MESH, NAMESPACE, OPERATOR, namespaces};
use crate::{
    follow::{Known, News, Seen, objects},
    queue::Cause,
};
use mizzen_api::istio::{GROUP, PLURAL, VERSIONS};
use mizzen_cluster::{Change, Client, Key, Resource, State, follow};
use std::sync::Arc;
use tokio::{sync::mpsc, task::JoinSet};

/// Settings of the cluster's administrator, and what we keep beside the mesh.
const BESIDE: [(&str, &str, &str, &str); 8] = [
    ("", "configmaps", NAMESPACE, "istio-features"),
    ("", "configmaps", MESH, "elb-deprecated"),
    ("security.istio.io", "peerauthentications", MESH, "default"),
    // Monitoring, and what it needs.
    ("apiextensions.k8s.io", "customresourcedefinitions", "", "servicemonitors.monitoring.coreos.com"),
    ("monitoring.coreos.com", "servicemonitors", MESH, "istio-control-plane"),
    ("monitoring.coreos.com", "servicemonitors", MESH, "istio-gateways"),
    ("networking.istio.io", "gateways", NAMESPACE, "kyma-gateway"),
    ("networking.istio.io", "virtualservices", MESH, "istio-healthz"),
];

pub(super) fn start(client: &Client, out: &mpsc::Sender<News>) -> JoinSet<()> {
    let mut running = JoinSet::new();
    let mut known = Known::default();
    let turn = move |change| match change {
        Change::Gone(key) => {
            known.resource(Change::Gone(key));
            // The next one may be the oldest now.
            Some(News::Everybody(Cause::Drifted))
        }
        change => known.resource(change),
    };
    let resources = Resource::new(GROUP, &VERSIONS[..1], PLURAL);
    running.spawn(follow(client.clone(), resources, Arc::new(State::default()), out.clone(), turn));
    objects(client, out, &mut running, |owners| {
        let ours = |key: &Key| &*key.namespace == NAMESPACE && &*key.name == OPERATOR;
        owners.iter().any(|(key, _)| ours(key)).then_some(News::Everybody(Cause::Drifted))
    });
    for (group, plural, namespace, name) in BESIDE {
        let mut resource = Resource::new(group, &["v1"], plural).fields(format!("metadata.name={name}"));
        if !namespace.is_empty() {
            resource = resource.namespace(namespace);
        }
        let mut known = Known::default();
        let turn = move |change: Change<Seen>| {
            let key = match &change {
                Change::Applied(seen) => mizzen_cluster::Trimmed::identity(seen).key(),
                Change::Gone(key) | Change::Broken { key, .. } => key.clone(),
                Change::Synced => return None,
            };
            let news = known.resource(change);
            news.filter(|_| &*key.name == name).map(|_| News::Everybody(Cause::Drifted))
        };
        running.spawn(follow(client.clone(), resource, Arc::new(State::default()), out.clone(), turn));
    }
    running.spawn(namespaces::start(client.clone(), out.clone()));
    running
}
