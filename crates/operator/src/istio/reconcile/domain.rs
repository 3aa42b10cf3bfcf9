//! The domain of the cluster: as somebody says it, as Gardener says it, or the one that k3d clusters have.

use super::{Failed, Pass};
use crate::istio::{observe::Observed, provider::Provider};
use mizzen_cluster::ObjectId;
use serde_json::Value;

/// It resolves to this machine.
const OF_K3D: &str = "local.kyma.dev";

pub(super) async fn domain(pass: &Pass<'_>, observed: &Observed) -> Result<String, Failed> {
    if let Some(domain) = &pass.order.values.domain {
        return Ok(domain.clone());
    }
    let shoot = ObjectId::new("", "ConfigMap", "kube-system", "shoot-info");
    let shoot = pass.cluster.get(&shoot, None).await?;
    known(shoot.as_ref(), observed.provider).ok_or_else(|| {
        Failed::Said(
            "the domain of the cluster is not known: give --value global.domainName=example.com".to_owned(),
        )
    })
}

fn known(shoot: Option<&Value>, provider: Provider) -> Option<String> {
    let by_gardener = shoot.and_then(|shoot| shoot.pointer("/data/domain")?.as_str());
    let by_k3d = (provider == Provider::K3d).then_some(OF_K3D);
    by_gardener.or(by_k3d).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn gardener_and_k3d_know_their_domains() {
        let shoot = json!({ "data": { "domain": "my.shoot.example" } });
        assert_eq!(known(Some(&shoot), Provider::K3d).as_deref(), Some("my.shoot.example"));
        assert_eq!(known(None, Provider::K3d).as_deref(), Some("local.kyma.dev"));
        assert_eq!(known(Some(&json!({})), Provider::Unknown), None);
    }
}
