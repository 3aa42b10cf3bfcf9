//! Parts of the mesh that have to start anew, because they read something only then or keep connections that are to be cut: each is
//! restarted once for all of it, and each cause is written with the restart, by itself.

use super::{
    MESH, applied, gateway, policy_switch,
    rollout::{mark, restart},
};
use mizzen_api::istio::Spec;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::Value;

const PARTS: [(&str, &str); 3] =
    [("Deployment", gateway::NAME), ("Deployment", "istiod"), ("DaemonSet", "istio-cni-node")];

/// What was restarted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restarted {
    pub(super) any: bool,
    pub(super) gateway: bool,
}

/// What is not there needs no restart.
pub(super) async fn reconcile(
    cluster: &Cluster,
    resource: &Value,
    spec: &Spec,
) -> Result<Restarted, Refused> {
    let before = applied::spec(resource);
    let mut done = Restarted::default();
    for (kind, name) in PARTS {
        let id = ObjectId::new("apps", kind, MESH, name);
        let Some(part) = cluster.get(&id, None).await? else { continue };
        let is_gateway = name == gateway::NAME;
        let causes = causes(is_gateway, before.as_ref(), spec, &part);
        if causes.is_empty() {
            continue;
        }
        tracing::info!(part = %id, ?causes, "restarting");
        let causes: Vec<(&str, &str)> = causes.iter().map(|(mark, cause)| (*mark, cause.as_str())).collect();
        let is_there = restart(cluster, &id, &part, &causes).await?;
        done.any |= is_there;
        done.gateway |= is_there && is_gateway;
    }
    Ok(done)
}

/// What a spec says of something that is worth a restart.
type Cause = fn(&Spec) -> String;

/// By which mark, and for what. Where there is a mark, it says what the part was restarted for last, whatever was applied since; else the
/// spec that was applied says what it has; and where there was none, everything has just started.
fn causes(is_gateway: bool, before: Option<&Spec>, spec: &Spec, part: &Value) -> Vec<(&'static str, String)> {
    let mut kinds: Vec<(&str, Cause)> = vec![(policy_switch::MARK, policy_switch::cause)];
    if is_gateway {
        kinds.insert(0, (gateway::MARK, gateway::cause));
    }
    let is_due = |name: &str, cause: Cause, wanted: &str| match mark(part, name) {
        Some(last) => last != wanted,
        None => before.is_some_and(|before| cause(before) != wanted),
    };
    let all = kinds.into_iter().map(|(mark, cause)| (mark, cause, cause(spec)));
    all.filter(|(mark, cause, wanted)| is_due(mark, *cause, wanted))
        .map(|(mark, _, wanted)| (mark, wanted))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(config: &Value, policies: bool) -> Spec {
        Spec::of(&json!({ "spec": { "config": config, "networkPoliciesEnabled": policies } })).unwrap()
    }

    fn marked(marks: &[(&'static str, String)]) -> Value {
        let mut part = json!({ "spec": { "template": { "metadata": { "annotations": {} } } } });
        for (mark, cause) in marks {
            part["spec"]["template"]["metadata"]["annotations"][*mark] = cause.as_str().into();
        }
        part
    }

    #[test]
    fn two_causes_are_one_restart_and_neither_forgets_the_other() {
        let (before, wanted) = (spec(&json!({}), false), spec(&json!({ "numTrustedProxies": 2 }), true));
        let of = |is_gateway, part: &Value| causes(is_gateway, Some(&before), &wanted, part);
        let both = of(true, &json!({}));
        let names: Vec<&str> = both.iter().map(|(mark, _)| *mark).collect();
        assert_eq!(names, [gateway::MARK, policy_switch::MARK]);
        assert_eq!(of(false, &json!({})).len(), 1, "only the gateway reads that");
        assert_eq!(causes(true, None, &wanted, &json!({})), [], "everything has just started");
        // Whatever fails afterwards: nothing is restarted again.
        assert_eq!(of(true, &marked(&both)), []);
        assert_eq!(of(true, &marked(&both[..1])), both[1..]);
        assert_eq!(of(true, &marked(&both[1..])), both[..1]);
    }

    #[test]
    fn what_was_restarted_for_something_that_is_taken_back_is_restarted_again() {
        let (before, tried) = (spec(&json!({}), false), spec(&json!({ "numTrustedProxies": 2 }), true));
        let part = marked(&causes(true, Some(&before), &tried, &json!({})));
        // It failed before it was remembered, or what was remembered is lost.
        assert_eq!(causes(true, Some(&before), &before, &part).len(), 2);
        assert_eq!(causes(true, None, &before, &part).len(), 2);
    }
}
