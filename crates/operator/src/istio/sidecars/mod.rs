//! ProxySidecarReconciler: workloads whose sidecars are not what they should be are restarted, each once for one cause.
//!
//! ```text
//! pods, a page at a time ─▶ Sidecar (trimmed) ─▶ predicate: outdated? ─▶ owner ─▶ RestartPlan ─▶ act ─▶ what is left
//! ```

mod act;
mod injector;
mod owner;
mod plan;
mod predicate;
mod proxy;
mod sidecar;
mod window;

pub(super) use injector::injects;
pub(super) use proxy::Proxy;
pub(super) use window::Window;

use super::reconciler::IstioReconciler;
use crate::pass::Stopped;
use mizzen_api::istio::{OutdatedProxies, Restart, Spec};
use mizzen_cluster::{Cluster, Refused};
use plan::RestartPlan;
use predicate::Outdated;
use sidecar::Sidecar;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// `before` is the spec that was applied last, if any was.
pub(super) async fn reconcile(
    me: &IstioReconciler<'_>,
    proxy: &Proxy,
    before: Option<&Spec>,
    spec: &Spec,
) -> Result<Restarted, Stopped> {
    let outdated = observe(me, proxy, before, spec).await?;
    let mut plan = RestartPlan::default();
    let mut sets = owner::Sets::default();
    for (sidecar, how) in outdated {
        let action = sets.action(&me.cluster, &sidecar).await?;
        plan.add(&sidecar, how, action);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut settings = spec.mizzen.restart.clone().unwrap_or_default();
    let nobody_injects = !plan.is_empty() && !injects(&me.cluster).await?;
    if nobody_injects {
        settings.enabled = Some(false);
    }
    let cause = proxy.cause(spec);
    let done = act::act(&me.cluster, plan, &settings, &cause, window::Moment::of(now)).await?;
    Ok(Restarted { nobody_injects: nobody_injects && done.outdated.count > 0, ..done })
}

/// When the mesh is gone, pods are made anew without a sidecar; the gateways go with it. `cause` is of this removal alone.
pub(super) async fn restart_all(cluster: &Cluster, cause: &str) -> Result<Restarted, Stopped> {
    let mut all = Vec::new();
    cluster
        .each("", "Pod", "", |pod| {
            let role = &pod["metadata"]["labels"]["istio"];
            let is_gateway = role == "ingressgateway" || role == "egressgateway";
            all.extend(Sidecar::any(&pod).filter(|_| !is_gateway));
        })
        .await?;
    let (mut plan, mut sets) = (RestartPlan::default(), owner::Sets::default());
    for sidecar in all {
        let action = sets.action(cluster, &sidecar).await?;
        plan.add(&sidecar, Outdated::BySpec, action);
    }
    act::act(cluster, plan, &Restart::default(), cause, window::Moment::of(0)).await
}

async fn observe(
    me: &IstioReconciler<'_>,
    proxy: &Proxy,
    before: Option<&Spec>,
    spec: &Spec,
) -> Result<Vec<(Sidecar, Outdated)>, Refused> {
    let mut outdated = Vec::new();
    me.cluster
        .each("", "Pod", "fieldSelector=status.phase%3DRunning", |pod| {
            if let Some(sidecar) = Sidecar::of(&pod)
                && let Some(how) = predicate::outdated(&sidecar, proxy, before, spec)
            {
                outdated.push((sidecar, how));
            }
        })
        .await?;
    Ok(outdated)
}

#[cfg(test)]
mod tests {
    use super::*;

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
