//! When network policies are switched, connections that are there already outlive them: the parts of the mesh are restarted, so that
//! the policies hold at once.

use super::{
    MESH, applied,
    rollout::{restart, was_restarted_for},
};
use mizzen_api::istio::Spec;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::Value;

const PARTS: [(&str, &str); 3] =
    [("Deployment", "istio-ingressgateway"), ("Deployment", "istiod"), ("DaemonSet", "istio-cni-node")];

/// For what; not at the first installation, where everything has just started.
fn cause(before: Option<&Spec>, wanted: &Spec) -> Option<String> {
    let on = wanted.network_policies_enabled;
    (before?.network_policies_enabled != on).then(|| format!("networkPoliciesEnabled is {on}"))
}

/// Whether anything was restarted; what is not there needs no restart.
pub(super) async fn reconcile(cluster: &Cluster, resource: &Value, spec: &Spec) -> Result<bool, Refused> {
    let Some(cause) = cause(applied::spec(resource).as_ref(), spec) else { return Ok(false) };
    let mut restarted = false;
    for (kind, name) in PARTS {
        let id = ObjectId {
            group: "apps".to_owned(),
            kind: kind.to_owned(),
            namespace: MESH.to_owned(),
            name: name.to_owned(),
        };
        let Some(part) = cluster.get(&id, None).await? else { continue };
        if !was_restarted_for(&part, &cause) {
            tracing::info!(part = %id, cause, "restarting");
            restarted |= restart(cluster, &id, &part, &cause).await?;
        }
    }
    Ok(restarted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_switch_is_a_cause() {
        let on = Spec { network_policies_enabled: true, ..Spec::default() };
        let off = Spec::default();
        assert_eq!(cause(None, &on), None, "everything has just started");
        assert_eq!(cause(Some(&on), &on), None);
        assert!(cause(Some(&off), &on).is_some() && cause(Some(&on), &off).is_some());
        assert_ne!(cause(Some(&off), &on), cause(Some(&on), &off));
    }
}
