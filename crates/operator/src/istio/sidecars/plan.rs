//! Which workloads have to be restarted, each once, Kyma's own first.

use super::{
    owner::Action,
    predicate::Outdated,
    sidecar::{Owner, Sidecar},
};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct RestartPlan(BTreeMap<Place, Workload>);

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
    /// Whether it can be seen at its pods.
    pub(super) is_seen: bool,
}

impl RestartPlan {
    pub(super) fn add(&mut self, sidecar: &Sidecar, outdated: Outdated, action: Action) {
        let pod = || Owner { kind: "Pod".to_owned(), name: sidecar.name.clone() };
        let owner = match &action {
            Action::RollOut(owner) => owner.clone(),
            Action::DeletePod => pod(),
            Action::ByHand(_) => sidecar.owner.clone().unwrap_or_else(pod),
        };
        let place = Place {
            of_others: !sidecar.of_kyma,
            namespace: sidecar.namespace.clone(),
            kind: owner.kind.clone(),
            name: owner.name.clone(),
        };
        let is_seen = outdated == Outdated::Seen;
        let (namespace, of_kyma) = (sidecar.namespace.clone(), sidecar.of_kyma);
        let workload = self.0.entry(place).or_insert(Workload { namespace, of_kyma, owner, action, is_seen });
        workload.is_seen |= is_seen;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_workloads(self) -> impl Iterator<Item = Workload> {
        self.0.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_of_many_pods_is_restarted_once_and_kymas_first() {
        let mut plan = RestartPlan::default();
        let sidecar = |namespace: &str, name: &str| Sidecar {
            namespace: namespace.into(),
            name: name.into(),
            of_kyma: namespace == "kyma-system",
            ..Sidecar::default()
        };
        let deployment = || Action::RollOut(Owner { kind: "Deployment".into(), name: "d".into() });
        for number in 0..62 {
            plan.add(&sidecar("a", &format!("p{number}")), Outdated::BySpec, deployment());
        }
        plan.add(&sidecar("a", "p62"), Outdated::Seen, deployment());
        plan.add(&sidecar("kyma-system", "p"), Outdated::Seen, deployment());
        plan.add(&sidecar("a", "bare"), Outdated::Seen, Action::ByHand("no owner"));
        let all: Vec<Workload> = plan.into_workloads().collect();
        let names: Vec<String> = all
            .iter()
            .map(|one| format!("{}/{}/{}", one.namespace, one.owner.kind, one.owner.name))
            .collect();
        assert_eq!(names, ["kyma-system/Deployment/d", "a/Deployment/d", "a/Pod/bare"]);
        assert!(all[1].is_seen, "one pod is enough");
    }
}
