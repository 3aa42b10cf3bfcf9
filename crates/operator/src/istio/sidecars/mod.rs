//! ProxySidecarReconciler: workloads whose sidecars are not what they should be are restarted, each once for one cause.
//!
//! ```text
//! pods, a page at a time ─┬▶ Sidecar (trimmed) ─▶ predicate: outdated? ─┬▶ owner ─▶ RestartPlan ─▶ act ─▶ what is left
//!                         └▶ none ─▶ injector: should there be one? ────┘              budget ─┘ └─▶ event
//! ```

mod act;
mod budget;
mod counts;
mod injector;
mod owner;
mod plan;
mod pod;
mod predicate;
mod proxy;
pub(super) mod read_at_start;
mod selector;
mod settling;
mod sidecar;
mod verdict;
mod window;

pub(crate) use counts::Counts;
pub(super) use pod::Owner;
pub(super) use proxy::Proxy;
pub(super) use window::Window;

use super::reconciler::IstioReconciler;
use crate::pass::Stopped;
use act::act;
use budget::Budgets;
use injector::Injector;
use mizzen_api::istio::{OutdatedProxies, Restart, Spec};
use mizzen_cluster::{Cluster, Refused};
use plan::RestartPlan;
use pod::Pod;
use predicate::Outdated;
use read_at_start::ReadAtStart;
use selector::{Labels, labels};
use serde_json::Value;
use sidecar::{Sidecar, is_bare};
use std::{
    collections::HashMap,
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::time::sleep;
use verdict::{Conduct, Why};

/// Workloads that are named in the status.
const LISTED: usize = 20;
/// And in a sentence.
const NAMED: usize = 5;

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Restarted {
    /// Whether anything was restarted.
    pub(super) wrote: bool,
    pub(super) outdated: OutdatedProxies,
    /// Workloads that nobody but their owner can restart, `namespace/name`.
    pub(super) by_hand: Vec<String>,
    /// Nothing is restarted, because a new pod would have no sidecar.
    pub(super) nobody_injects: bool,
}

impl Restarted {
    /// Whether more can be done soon, though nothing will tell.
    pub(super) fn goes_on(&self) -> bool {
        self.wrote
            || self
                .outdated
                .waiting
                .keys()
                .any(|why| Why::PASSING.iter().any(|passing| *why == passing.word()))
    }

    /// Where nobody injects, what that means; else upstream's sentence.
    pub(super) fn sentence(&self) -> String {
        if self.nobody_injects {
            return format!(
                "{} workloads have sidecars that are not what they should be, and are not restarted: nobody serves the \
                 injection webhook, and their new pods would have no sidecar at all",
                self.outdated.count
            );
        }
        let named = self.by_hand.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match self.by_hand.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} additional workload(s)"),
        };
        format!("The sidecars of the following workloads could not be restarted: {named}{more}")
    }
}

/// How many have a turn, and it comes by itself; others may wait for ever, and nobody for them.
pub(super) fn waiting_for_their_turn(outdated: Option<&OutdatedProxies>) -> u64 {
    let waiting = |why: Why| outdated.and_then(|outdated| outdated.waiting.get(&why.word())).copied();
    [Why::MaintenanceWindow, Why::BatchSize].into_iter().filter_map(waiting).sum()
}

/// Whether anybody does: without, a restarted pod would come back with no sidecar at all.
pub(super) async fn injects(cluster: &Cluster) -> Result<bool, Refused> {
    Ok(Injector::read(cluster).await?.injects())
}

pub(super) async fn reconcile(
    me: &IstioReconciler<'_>,
    proxy: &Proxy,
    read: &ReadAtStart,
    spec: &Spec,
) -> Result<Restarted, Stopped> {
    let injector = Injector::read(&me.cluster).await?;
    let outdated =
        observe(&me.cluster, &injector, |sidecar| predicate::outdated(sidecar, proxy, read, spec)).await?;
    let plan = RestartPlan::new(proxy.cause(spec, read), injector.identity.clone());
    let plan = planned(&me.cluster, plan, outdated).await?;
    let nobody_injects = !plan.is_empty() && !injector.injects();
    let budgets = if plan.is_empty() { Budgets::default() } else { Budgets::read(&me.cluster).await? };
    if injector.injects() && !plan.is_empty() {
        sleep(settling::left(&me.cluster).await?).await;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let conduct = Conduct {
        settings: &spec.mizzen.restart.clone().unwrap_or_default(),
        nobody_injects,
        is_last: false,
        now: window::Moment::of(now),
        budgets,
    };
    let done = act(&me.cluster, plan, conduct, &me.restarts).await;
    me.shown.tell("restarts", me.restarts.page());
    let done = done?;
    Ok(Restarted { nobody_injects: nobody_injects && done.outdated.count > 0, ..done })
}

/// When the mesh is gone, pods are made anew without a sidecar; the gateways go with it. `cause` is of this removal alone.
pub(super) async fn restart_all(
    cluster: &Cluster,
    cause: &str,
    counts: &Counts,
) -> Result<Restarted, Stopped> {
    let mut all = Vec::new();
    cluster
        .each("", "Pod", "", |pod| {
            let role = &pod["metadata"]["labels"]["istio"];
            let is_gateway = role == "ingressgateway" || role == "egressgateway";
            let sidecar = Sidecar::any(&pod).filter(|_| !is_gateway);
            all.extend(sidecar.map(|sidecar| (sidecar.pod, Outdated::BySpec)));
        })
        .await?;
    let plan = planned(cluster, RestartPlan::new(cause.to_owned(), String::new()), all).await?;
    let conduct = Conduct {
        settings: &Restart::default(),
        nobody_injects: false,
        is_last: true,
        now: window::Moment::of(0),
        budgets: Budgets::default(),
    };
    act(cluster, plan, conduct, counts).await
}

/// Pods that have no sidecar though they should, and those of whose sidecar `judge` says what is wrong.
async fn observe(
    cluster: &Cluster,
    injector: &Injector,
    judge: impl Fn(&Sidecar) -> Option<Outdated>,
) -> Result<Vec<(Pod, Outdated)>, Refused> {
    let mut namespaces: HashMap<String, Labels> = HashMap::new();
    if injector.injects() {
        cluster
            .each("", "Namespace", "", |namespace| {
                let name = namespace["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                namespaces.insert(name, labels(&namespace));
            })
            .await?;
    }
    let should_have_one = |pod: &Value| {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        namespaces.get(namespace).is_some_and(|labels| injector.would_inject(pod, labels))
    };
    let mut found = Vec::new();
    cluster
        .each("", "Pod", "fieldSelector=status.phase%3DRunning", |pod| {
            if let Some(sidecar) = Sidecar::of(&pod) {
                found.extend(judge(&sidecar).map(|how| (sidecar.pod, how)));
            } else if is_bare(&pod) && should_have_one(&pod) {
                found.extend(Pod::of(&pod).map(|pod| (pod, Outdated::Bare)));
            }
        })
        .await?;
    Ok(found)
}

async fn planned(
    cluster: &Cluster,
    mut plan: RestartPlan,
    pods: Vec<(Pod, Outdated)>,
) -> Result<RestartPlan, Refused> {
    let mut sets = owner::Sets::default();
    for (pod, how) in pods {
        if let Some(action) = sets.action(cluster, &pod).await? {
            plan.add(&pod, how, action);
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn those_whose_turn_comes_by_itself_are_waited_for_and_no_others() {
        let of = |waiting: Value| {
            let outdated = json!({ "count": 9, "workloads": [], "waiting": waiting });
            waiting_for_their_turn(serde_json::from_value(outdated).ok().as_ref())
        };
        assert_eq!(of(json!({ "MaintenanceWindow": 1, "BatchSize": 2, "RollingOut": 4 })), 3);
        assert_eq!(of(json!({ "RollingOut": 1, "PodDisruptionBudget": 1, "Excluded": 1, "Disabled": 1 })), 0);
        assert_eq!(waiting_for_their_turn(None), 0);
    }

    #[test]
    fn those_that_cannot_be_restarted_are_named_up_to_five() {
        let by_hand = |count: usize| Restarted {
            by_hand: (0..count).map(|number| format!("n/w{number}")).collect(),
            ..Restarted::default()
        };
        let words = "The sidecars of the following workloads could not be restarted: n/w0, n/w1";
        assert_eq!(by_hand(2).sentence(), words);
        assert!(by_hand(7).sentence().ends_with("n/w4 and 2 additional workload(s)"));
    }
}
