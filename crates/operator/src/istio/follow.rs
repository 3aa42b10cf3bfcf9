//! What happens in the cluster, as far as it concerns `Istio` resources. There is one mesh, so that what happens to it concerns them
//! all; whichever is the oldest acts.

use super::{MESH, NAMESPACE, OPERATOR, namespaces, priority_class};
use crate::{
    follow::{Known, News, Seen, objects},
    queue::Cause,
};
use mizzen_api::istio::{GROUP, PLURAL, VERSIONS};
use mizzen_cluster::{Change, Client, Key, Phase, Resource, State, follow};
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

/// Whether a kind was not there.
#[derive(Default)]
struct Absence(bool);

impl Absence {
    /// Everything of the kind was told. What has gone between the kind's beginning and the first time that it was asked for, nobody saw go.
    fn ends(&mut self, phase: Phase) -> bool {
        let was_absent = std::mem::replace(&mut self.0, phase != Phase::Following);
        was_absent && !self.0
    }
}

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
        let mut absence = Absence::default();
        let state = Arc::new(State::default());
        let now = Arc::clone(&state);
        let turn = move |change: Change<Seen>| {
            let is_news = match change {
                Change::Synced => absence.ends(now.phase()),
                change => known.resource(change).is_some(),
            };
            is_news.then_some(News::Everybody(Cause::Drifted))
        };
        running.spawn(follow(client.clone(), resource, state, out.clone(), turn));
    }
    running.spawn(namespaces::start(client.clone(), out.clone()));
    running
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_is_there_at_last_is_news() {
        let mut absence = Absence::default();
        let phases = [Phase::Absent, Phase::Absent, Phase::Following, Phase::Following, Phase::Absent];
        assert_eq!(phases.map(|phase| absence.ends(phase)), [false, false, true, false, false]);
        assert!(absence.ends(Phase::Following), "it was gone, and is back");
        assert!(!Absence::default().ends(Phase::Following), "it was there from the beginning");
    }
}
