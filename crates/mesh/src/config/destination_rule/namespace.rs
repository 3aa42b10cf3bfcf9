//! The rules of one namespace, by host.

use super::{DestinationRule, Rules};
use crate::config::HostMap;
use std::sync::Arc;

/// What was made of all rules for one host.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    /// For clients in the namespace.
    pub(super) local: Vec<Arc<DestinationRule>>,
    /// For clients elsewhere, if it is exported to them.
    pub(super) exported: Vec<Arc<DestinationRule>>,
    /// Of the root namespace, for nobody but its own clients.
    pub(super) private: Vec<Arc<DestinationRule>>,
}

#[derive(Debug, Default)]
pub(super) struct Namespace {
    local: HostMap<Rules>,
    exported: HostMap<Vec<Rules>>,
    private: HostMap<Rules>,
}

impl Namespace {
    pub(super) fn add(&mut self, host: &str, made: &Made) {
        let put = |map: &mut HostMap<Rules>, rules: &[Arc<DestinationRule>]| {
            if !rules.is_empty() {
                map.entry(host, || in_order(rules));
            }
        };
        put(&mut self.local, &made.local);
        put(&mut self.private, &made.private);
        if !made.exported.is_empty() {
            // None of these has a selector: such a rule is never exported.
            self.exported
                .entry(host, || made.exported.iter().map(|rule| Arc::from([Arc::clone(rule)])).collect());
        }
    }

    pub(super) fn local(&self, host: &str) -> Option<&Rules> {
        self.local.most_specific(host)
    }

    pub(super) fn private(&self, host: &str) -> Option<&Rules> {
        self.private.most_specific(host)
    }

    /// The last one that the client may see, of the most specific host only.
    pub(super) fn exported(&self, host: &str, client: Option<&str>) -> Option<&Rules> {
        self.exported.most_specific(host)?.iter().rfind(|rules| {
            let to = rules.first().map(|rule| &rule.export_to);
            to.is_some_and(|to| {
                to.is_empty() || to.contains("*") || client.is_some_and(|client| to.contains(client))
            })
        })
    }
}

/// Those for some workloads, then one for the rest: the last.
fn in_order(rules: &[Arc<DestinationRule>]) -> Rules {
    let selects = |rule: &&Arc<DestinationRule>| rule.spec.workload_selector.is_some();
    rules.iter().filter(selects).chain(rules.iter().rfind(|rule| !selects(rule))).cloned().collect()
}
