//! Which Kubernetes Services select a workload, without looking at all of them.

use crate::{Labels, ServiceKey};
use std::{collections::HashMap, sync::Arc};

#[derive(Clone, Debug)]
struct Selector {
    labels: Arc<Labels>,
    service: ServiceKey,
}

/// Of one namespace: a selector stands under one of its labels, by key and value. A workload can only be selected by those under its
/// own labels.
type ByLabel = HashMap<Arc<str>, HashMap<Arc<str>, Vec<Selector>>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Selectors(HashMap<Arc<str>, Arc<ByLabel>>);

impl Selectors {
    /// A service without a selector selects nobody.
    pub(super) fn add(&mut self, labels: &Arc<Labels>, service: &ServiceKey) {
        let by_label = Arc::make_mut(self.0.entry(Arc::clone(&service.namespace)).or_default());
        let crowd = |(key, value): &(&Arc<str>, &Arc<str>)| {
            by_label.get(*key).and_then(|values| values.get(*value)).map_or(0, Vec::len)
        };
        // Under the label that the fewest others are under: one that many services share says little.
        if let Some((key, value)) = labels.iter().min_by_key(crowd) {
            let selector = Selector { labels: Arc::clone(labels), service: service.clone() };
            by_label.entry(Arc::clone(key)).or_default().entry(Arc::clone(value)).or_default().push(selector);
        }
    }

    pub(super) fn remove(&mut self, labels: &Labels, service: &ServiceKey) {
        let Some(by_label) = self.0.get_mut(&service.namespace) else { return };
        let by_label = Arc::make_mut(by_label);
        for (key, value) in labels {
            let Some(values) = by_label.get_mut(key) else { continue };
            if let Some(selectors) = values.get_mut(value) {
                selectors.retain(|selector| selector.service != *service);
                if selectors.is_empty() {
                    values.remove(value);
                }
            }
            if values.is_empty() {
                by_label.remove(key);
            }
        }
        if by_label.is_empty() {
            self.0.remove(&service.namespace);
        }
    }

    /// In no order.
    pub(super) fn matching<'a>(
        &'a self,
        namespace: &str,
        labels: &'a Labels,
    ) -> impl Iterator<Item = &'a ServiceKey> {
        let by_label = self.0.get(namespace).into_iter();
        by_label
            .flat_map(move |by_label| {
                labels
                    .iter()
                    .filter_map(move |(key, value)| by_label.get(key).and_then(|values| values.get(value)))
            })
            .flatten()
            .filter(move |selector| selects(&selector.labels, labels))
            .map(|selector| &selector.service)
    }
}

/// An empty selector selects everybody here.
pub(super) fn selects(selector: &Labels, labels: &Labels) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_labels(labels: &[(&str, &str)]) -> Arc<Labels> {
        Arc::new(labels.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect())
    }

    fn mk_key(host: &str) -> ServiceKey {
        ServiceKey { host: host.into(), namespace: "here".into() }
    }

    #[test]
    fn a_workload_is_selected_by_those_whose_every_label_it_has() {
        let mut selectors = Selectors::default();
        let services = [
            ("a", mk_labels(&[("app", "a")])),
            ("a-v1", mk_labels(&[("app", "a"), ("version", "v1")])),
            ("b", mk_labels(&[("app", "b"), ("tier", "web")])),
            ("web", mk_labels(&[("tier", "web")])),
            ("nobody", mk_labels(&[])),
        ];
        for (name, labels) in &services {
            selectors.add(labels, &mk_key(name));
        }
        let matching = |selectors: &Selectors, namespace: &str, labels: &[(&str, &str)]| {
            let labels = mk_labels(labels);
            let mut hosts: Vec<String> =
                selectors.matching(namespace, &labels).map(|service| service.host.to_string()).collect();
            hosts.sort();
            hosts.join(" ")
        };
        for (labels, services) in [
            (&[("app", "a"), ("version", "v1")][..], "a a-v1"),
            (&[("app", "a"), ("version", "v2")], "a"),
            (&[("app", "b"), ("tier", "web")], "b web"),
            (&[("app", "b")], ""),
            (&[], ""),
        ] {
            assert_eq!(matching(&selectors, "here", labels), services, "{labels:?}");
            assert_eq!(matching(&selectors, "there", labels), "", "another namespace");
        }
        for (name, labels) in &services {
            selectors.remove(labels, &mk_key(name));
        }
        assert!(selectors.0.is_empty(), "nothing is left behind");
    }
}
