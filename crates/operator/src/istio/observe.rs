//! What is known of the cluster when a resource is looked at.

use super::{MESH, NAMESPACE, features::Features, network_policies, provider::Provider, size::size};
use mizzen_cluster::{Cluster, ObjectId, Refused};
use mizzen_install::deploy::Facts;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::Value;

pub(super) struct Observed {
    pub(super) facts: Facts,
    pub(super) size: super::profile::Size,
    pub(super) provider: Provider,
    /// A sentence where they cannot be read.
    pub(super) features: Result<Features, String>,
    pub(super) dual_stack: bool,
    /// Behind the Service of the API server.
    pub(super) api_port: u16,
}

impl Observed {
    pub(super) async fn read(cluster: &Cluster) -> Result<Self, Refused> {
        let elb = ObjectId::new("", "ConfigMap", MESH, "elb-deprecated");
        let (features, provisioning) = (
            ObjectId::new("", "ConfigMap", NAMESPACE, "istio-features"),
            ObjectId::new("", "ConfigMap", NAMESPACE, "kyma-provisioning-info"),
        );
        let (ingress, server) = (
            ObjectId::new("", "Service", MESH, "istio-ingressgateway"),
            ObjectId::new("", "Service", "default", "kubernetes"),
        );
        let (facts, nodes, elb, features, provisioning, ingress, server) = tokio::try_join!(
            Facts::read(cluster),
            cluster.list("", "Node", ""),
            cluster.get(&elb, None),
            cluster.get(&features, None),
            cluster.get(&provisioning, None),
            cluster.get(&ingress, None),
            cluster.get(&server, None),
        )?;
        Ok(Self {
            facts,
            size: size(&nodes),
            provider: Provider::of(&nodes, elb.is_some(), ingress.as_ref()),
            features: Features::of(features.as_ref()),
            dual_stack: is_dual_stack(provisioning.as_ref()),
            api_port: network_policies::api_port(server.as_ref()),
        })
    }
}

/// What cannot be read does not say so.
fn is_dual_stack(map: Option<&Value>) -> bool {
    let details = map.and_then(|map| map.pointer("/data/details")?.as_str());
    let Some(details) = details else { return false };
    let source = Source::new("kyma-provisioning-info", details);
    let details: Option<Value> = yaml::load_first(&source, &Options::KUBERNETES).ok().flatten();
    details.is_some_and(|details| {
        details.pointer("/networkDetails/dualStackIPEnabled") == Some(&Value::Bool(true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn two_address_families_are_said_in_so_many_words() {
        let of = |details: &str| is_dual_stack(Some(&json!({ "data": { "details": details } })));
        assert!(of("networkDetails:\n  dualStackIPEnabled: true\n"));
        for other in ["", "networkDetails: {}", "networkDetails: { dualStackIPEnabled: \"true\" }", "[", "x"]
        {
            assert!(!of(other), "{other:?}");
        }
        assert!(!is_dual_stack(None) && !is_dual_stack(Some(&json!({}))));
    }
}
