//! Which workloads have to be restarted, each once, Kyma's own first.

use super::{
    owner::Action,
    pod::{Owner, Pod},
    predicate::Outdated,
};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct RestartPlan {
    /// All that a restart would bring.
    pub(super) cause: String,
    /// Who injects; empty where nobody has to.
    pub(super) injector: String,
    workloads: BTreeMap<Place, Workload>,
}

/// In the order of the work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    of_others: bool,
    namespace: String,
    kind: String,
    name: String,
}

#[derive(Debug)]
pub(super) struct Workload {
    pub(super) namespace: String,
    pub(super) of_kyma: bool,
    /// What is restarted, or named: a pod where nothing owns it.
    pub(super) owner: Owner,
    pub(super) action: Action,
    /// Whether all that is wrong is that some of them have no sidecar.
    pub(super) is_bare: bool,
    /// Whether it can be seen at one that was made for this very cause.
    pub(super) is_in_vain: bool,
}

impl RestartPlan {
    pub(super) fn new(cause: String, injector: String) -> Self {
        Self { cause, injector, workloads: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, pod: &Pod, outdated: Outdated, action: Action) {
        let (is_seen, is_bare) = (outdated != Outdated::BySpec, outdated == Outdated::Bare);
        let was_made_anew =
            pod.restarted_for == self.cause && (!is_bare || pod.restarted_with == self.injector);
        // It has read what has changed.
        if was_made_anew && !is_seen {
            return;
        }
        let itself = || Owner {
            version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            name: pod.name.clone(),
            uid: pod.uid.clone(),
        };
        let owner = match &action {
            Action::RollOut(owner) => owner.clone(),
            Action::Evict(_) => itself(),
            Action::ByHand(_) => pod.owner.clone().unwrap_or_else(itself),
        };
        let place = Place {
            of_others: !pod.of_kyma,
            namespace: pod.namespace.clone(),
            kind: owner.kind.clone(),
            name: owner.name.clone(),
        };
        let (namespace, of_kyma) = (pod.namespace.clone(), pod.of_kyma);
        let is_in_vain = is_seen && was_made_anew;
        let first = Workload { namespace, of_kyma, owner, action, is_bare, is_in_vain };
        let workload = self.workloads.entry(place).or_insert(first);
        workload.is_in_vain |= is_in_vain;
        workload.is_bare &= is_bare;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.workloads.is_empty()
    }

    pub(super) fn into_workloads(self) -> impl Iterator<Item = Workload> {
        self.workloads.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_of_many_pods_is_restarted_once_and_kymas_first() {
        let mut plan = RestartPlan::new("cause".into(), "injector".into());
        let pod = |namespace: &str, name: &str| Pod {
            namespace: namespace.into(),
            name: name.into(),
            of_kyma: namespace == "kyma-system",
            ..Pod::default()
        };
        let deployment = || {
            let (version, kind, name) = ("apps/v1".into(), "Deployment".into(), "d".into());
            Action::RollOut(Owner { version, kind, name, uid: String::new() })
        };
        for number in 0..62 {
            plan.add(&pod("a", &format!("p{number}")), Outdated::BySpec, deployment());
        }
        plan.add(&pod("a", "p62"), Outdated::Seen, deployment());
        plan.add(&pod("a", "p63"), Outdated::Bare, deployment());
        plan.add(&pod("kyma-system", "p"), Outdated::Seen, deployment());
        plan.add(&pod("a", "bare"), Outdated::Bare, Action::ByHand("no owner"));
        let all: Vec<Workload> = plan.into_workloads().collect();
        let names: Vec<String> = all
            .iter()
            .map(|one| format!("{}/{}/{}", one.namespace, one.owner.kind, one.owner.name))
            .collect();
        assert_eq!(names, ["kyma-system/Deployment/d", "a/Deployment/d", "a/Pod/bare"]);
        assert!(!all[1].is_bare && all[2].is_bare, "another is wrong in another way");
    }

    #[test]
    fn a_pod_says_itself_what_it_was_made_for() {
        let of = |outdated: Outdated, made_for: &str, made_with: &str| {
            let mut plan = RestartPlan::new("cause".into(), "injector".into());
            let (restarted_for, restarted_with) = (made_for.into(), made_with.into());
            let pod = Pod { restarted_for, restarted_with, ..Pod::default() };
            plan.add(&pod, outdated, Action::ByHand(""));
            plan.into_workloads().map(|one| one.is_in_vain).collect::<Vec<_>>()
        };
        assert_eq!(of(Outdated::Seen, "cause", "another"), [true]);
        assert_eq!(of(Outdated::Seen, "another", "injector"), [false]);
        assert!(of(Outdated::BySpec, "cause", "another").is_empty(), "it has read what has changed");
        assert_eq!(of(Outdated::BySpec, "another", "injector"), [false]);
        assert_eq!(of(Outdated::Bare, "cause", "injector"), [true]);
        assert_eq!(of(Outdated::Bare, "cause", "another"), [false], "who injects now may have one for it");
    }
}
