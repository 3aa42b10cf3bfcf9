//! All rules of one namespace for one host, made as few as Istio makes of them.
//!
//! Those with a workload selector come first, then the older first. A later rule is added to an earlier one if both are exported
//! to the same namespaces (or the later to more) and select the same workloads: new subsets are taken, a traffic policy if there was none.

use super::DestinationRule;
use crate::{Key, Labels};
use mizzen_api::proto::istio::networking::v1alpha3;
use prost::Message;
use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

/// A rule may be added to many: in bytes of what is made of one host's rules.
const LARGEST: usize = 64 << 20;
/// What being added costs in these, however little it brings.
const APPENDED: usize = 256;

/// One object, its host whole.
pub(super) struct Rule {
    pub(super) key: Key,
    pub(super) export_to: BTreeSet<String>,
    pub(super) selector: Arc<Labels>,
    pub(super) spec: v1alpha3::DestinationRule,
}

#[derive(Default)]
pub(super) struct Merged {
    entries: Vec<Entry>,
    problems: Vec<(Key, String)>,
    size: usize,
}

struct Entry {
    rule: DestinationRule,
    /// Of its subsets.
    names: HashSet<String>,
}

impl Merged {
    pub(super) fn finish(self) -> (Vec<DestinationRule>, Vec<(Key, String)>) {
        (self.entries.into_iter().map(|entry| entry.rule).collect(), self.problems)
    }

    pub(super) fn add(&mut self, rule: &Rule) {
        self.size = self.size.saturating_add(rule.spec.encoded_len());
        let mut apart = true;
        let mut into = None;
        for at in 0..self.entries.len() {
            let there = &self.entries[at].rule;
            let same_export = there.export_to == rule.export_to;
            let wider = !there.export_to.is_empty() && rule.export_to.is_superset(&there.export_to);
            // As Istio does it: the last one that was looked at decides whether the rule stands alone as well.
            apart = !same_export;
            if !same_export && !wider {
                continue;
            }
            match (&there.spec.workload_selector, &rule.spec.workload_selector) {
                (None, None) => apart = false,
                (Some(_), Some(_)) => {
                    apart = there.selector != rule.selector;
                    if apart {
                        continue;
                    }
                }
                _ => {}
            }
            if self.size > LARGEST {
                let reason =
                    format!("it does not count: the rules for {} are too large together", rule.spec.host);
                self.problems.push((rule.key.clone(), reason));
                return;
            }
            self.append(at, rule);
            into = Some(at);
        }
        if apart {
            self.entries.push(Entry {
                rule: rule.alone(),
                names: rule.spec.subsets.iter().map(|subset| subset.name.clone()).collect(),
            });
        } else if let Some(there) = into.map(|at| &self.entries[at].rule)
            && there.spec.workload_selector.is_some()
            && rule.spec.workload_selector.is_none()
        {
            let reason =
                format!("it is added to {}, which selects workloads, and holds for no others", there.from[0]);
            self.problems.push((rule.key.clone(), reason));
        }
    }

    fn append(&mut self, at: usize, rule: &Rule) {
        let Entry { rule: there, names } = &mut self.entries[at];
        let mut told = |reason| self.problems.push((rule.key.clone(), reason));
        let mut grown = APPENDED;
        let (known, new): (Vec<_>, Vec<_>) =
            rule.spec.subsets.iter().partition(|subset| names.contains(&subset.name));
        for subset in new {
            grown += subset.encoded_len();
            names.insert(subset.name.clone());
            there.spec.subsets.push(subset.clone());
        }
        if let Some(subset) = known.first() {
            told(format!(
                "its subset {} does not count: {} has one of that name",
                subset.name, there.from[0]
            ));
        }
        match (&there.spec.traffic_policy, &rule.spec.traffic_policy) {
            (None, Some(policy)) => {
                grown += policy.encoded_len();
                there.spec.traffic_policy = Some(policy.clone());
            }
            (Some(_), Some(_)) => {
                told(format!(
                    "its traffic policy does not count: {} has one for the same host",
                    there.from[0]
                ));
            }
            (_, None) => {}
        }
        there.from.push(rule.key.clone());
        self.size = self.size.saturating_add(grown);
    }
}

impl Rule {
    fn alone(&self) -> DestinationRule {
        DestinationRule {
            from: vec![self.key.clone()],
            export_to: self.export_to.clone(),
            selector: Arc::clone(&self.selector),
            spec: self.spec.clone(),
        }
    }
}
