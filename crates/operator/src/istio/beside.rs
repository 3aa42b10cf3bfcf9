//! Objects beside the mesh: which of them are wanted, and each kept by itself, so that one that fails does not stop the others.

use super::{
    mesh_namespace, network_policies,
    observe::Observed,
    peer_authentication, proxy_protocol,
    reason::Reason,
    resources::{NotKept, drop_own, keep},
    telling::Telling,
    vertical_autoscalers,
};
use mizzen_api::istio::Spec;
use mizzen_cluster::Cluster;
use serde_json::Value;

/// Objects of one concern, which are there or not.
pub(super) struct Concern {
    /// Its condition.
    condition: &'static str,
    wanted: bool,
    objects: Vec<Value>,
}

/// `has_autoscalers` is whether there are vertical ones, `version` that of the operator.
pub(super) fn concerns(
    spec: &Spec,
    observed: &Observed,
    dual_stack: bool,
    has_autoscalers: bool,
    version: &str,
) -> Vec<Concern> {
    let concern = |condition, wanted, objects| Concern { condition, wanted, objects };
    let proxy_protocol = observed.provider.needs_proxy_protocol(dual_stack);
    let mut all = vec![
        concern("NamespaceMarked", true, vec![mesh_namespace::desired()]),
        concern("PeerAuthenticationApplied", true, vec![peer_authentication::desired(version)]),
        concern("ProxyProtocolApplied", proxy_protocol, vec![proxy_protocol::desired(version)]),
        concern(
            "NetworkPoliciesApplied",
            spec.network_policies_enabled,
            network_policies::desired(observed.api_port, version),
        ),
    ];
    if has_autoscalers {
        let wanted = observed.features.as_ref().is_ok_and(|features| features.enable_control_plane_vpa);
        all.push(concern("OperatorVPAApplied", true, vec![vertical_autoscalers::of_operator(version)]));
        all.push(concern("ControlPlaneVPAApplied", wanted, vertical_autoscalers::of_mesh(version)));
    }
    all
}

/// Whether anything was written; a sentence for each concern that failed.
pub(super) async fn see_to(
    cluster: &Cluster,
    concerns: Vec<Concern>,
    telling: &mut Telling,
) -> Result<bool, Vec<String>> {
    let (mut wrote, mut errors) = (false, Vec::new());
    for concern in concerns {
        let (kind, wanted) = (concern.condition, concern.wanted);
        match one(cluster, concern).await {
            Ok(written) => {
                wrote |= written;
                if wanted {
                    telling.set(&Reason {
                        name: "Applied",
                        kind,
                        status: "True",
                        message: "As it should be",
                    });
                } else {
                    telling.forget(kind);
                }
            }
            Err(error) => {
                let reason = Reason { name: "NotApplied", kind, status: "False", message: "" };
                telling.say(&reason, &error.to_string());
                errors.push(error.to_string());
            }
        }
    }
    if errors.is_empty() { Ok(wrote) } else { Err(errors) }
}

async fn one(cluster: &Cluster, concern: Concern) -> Result<bool, NotKept> {
    let mut wrote = false;
    for object in concern.objects {
        wrote |=
            if concern.wanted { keep(cluster, object).await? } else { drop_own(cluster, &object).await? };
    }
    Ok(wrote)
}
