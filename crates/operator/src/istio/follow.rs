//! What happens in the cluster, as far as it concerns `Istio` resources. There is one mesh, so that what happens to it concerns them
//! all; whichever is the oldest acts.

use super::{MESH, NAMESPACE, OPERATOR, namespaces, priority_class};
use crate::{
    follow::{Known, News, Seen, objects},
    queue::Cause,
};
use mizzen_api::istio::{GROUP, PLURAL, VERSIONS};
use mizzen_cluster::{Change, Client, Key, Resource, State, follow};
use std::sync::Arc;
use tokio::{sync::mpsc, task::JoinSet};

type Beside = (&'static str, &'static [&'static str], &'static str, &'static str, &'static str);

/// Settings of the cluster's administrator, and what we keep beside the mesh: group, versions, plural, namespace, and a name where only one
/// of them counts.
const BESIDE: [Beside; 14] = [
    ("", &["v1"], "configmaps", NAMESPACE, "istio-features"),
    ("", &["v1"], "configmaps", MESH, "elb-deprecated"),
    ("security.istio.io", &["v1"], "peerauthentications", MESH, "default"),
    ("scheduling.k8s.io", &["v1"], "priorityclasses", "", priority_class::NAME),
    ("networking.k8s.io", &["v1"], "networkpolicies", MESH, ""),
    ("networking.k8s.io", &["v1"], "networkpolicies", NAMESPACE, ""),
    ("autoscaling.k8s.io", &["v1"], "verticalpodautoscalers", MESH, ""),
    ("autoscaling.k8s.io", &["v1"], "verticalpodautoscalers", NAMESPACE, ""),
    // Somebody's, which may reach into the gateway.
    ("networking.istio.io", &["v1alpha3"], "envoyfilters", MESH, ""),
    // Monitoring, and what it needs.
    (
        "apiextensions.k8s.io",
        &["v1"],
        "customresourcedefinitions",
        "",
        "servicemonitors.monitoring.coreos.com",
    ),
    ("monitoring.coreos.com", &["v1"], "servicemonitors", MESH, "istio-control-plane"),
    ("monitoring.coreos.com", &["v1"], "servicemonitors", MESH, "istio-gateways"),
    ("networking.istio.io", &["v1"], "gateways", NAMESPACE, "kyma-gateway"),
    ("networking.istio.io", &["v1"], "virtualservices", MESH, "istio-healthz"),
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
    for (group, versions, plural, namespace, name) in BESIDE {
        let mut resource = Resource::new(group, versions, plural);
        if !name.is_empty() {
            resource = resource.fields(format!("metadata.name={name}"));
        }
        if !namespace.is_empty() {
            resource = resource.namespace(namespace);
        }
        let mut known = Known::default();
        let turn = move |change: Change<Seen>| match change {
            Change::Synced => None,
            change => known.resource(change).map(|_| News::Everybody(Cause::Drifted)),
        };
        running.spawn(follow(client.clone(), resource, Arc::new(State::default()), out.clone(), turn));
    }
    running.spawn(namespaces::start(client.clone(), out.clone()));
    running
}
