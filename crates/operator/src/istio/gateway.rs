//! IstioIngressGatewayReconciler: some of the configuration a gateway reads only when it starts.

use super::{
    MESH, applied,
    rollout::{restart, was_restarted_for},
};
use mizzen_api::istio::{Config, Spec};
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Value, json};

const NAME: &str = "istio-ingressgateway";
/// What is read only at the start.
fn read_at_start(config: &Config) -> Value {
    let mut expressions = config.proxy_stats_matcher.inclusion_regexps.clone();
    expressions.sort();
    json!([config.num_trusted_proxies, config.forward_client_cert_details, config.trust_domain, expressions,])
}

/// For what the gateway has to be restarted; not before anything was applied: it has just started then.
fn decide(before: Option<&Spec>, wanted: &Spec, deployment: &Value) -> Option<String> {
    let wanted = read_at_start(&wanted.config);
    if read_at_start(&before?.config) == wanted {
        return None;
    }
    let cause = wanted.to_string();
    (!was_restarted_for(deployment, &cause)).then_some(cause)
}

/// Whether it was restarted. One that is not there needs no restart.
pub(super) async fn reconcile(cluster: &Cluster, resource: &Value, spec: &Spec) -> Result<bool, Refused> {
    let id = ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: MESH.to_owned(),
        name: NAME.to_owned(),
    };
    let Some(deployment) = cluster.get(&id, None).await? else { return Ok(false) };
    let Some(cause) = decide(applied::spec(resource).as_ref(), spec, &deployment) else { return Ok(false) };
    tracing::info!(cause, "restarting the ingress gateway");
    restart(cluster, &id, &deployment, &cause).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(config: &Value) -> Spec {
        Spec::of(&json!({ "spec": { "config": config } })).unwrap()
    }

    #[test]
    fn only_what_is_read_at_the_start_restarts_it_and_once() {
        let before =
            spec(&json!({ "numTrustedProxies": 1, "proxyStatsMatcher": { "inclusionRegexps": ["a", "b"] } }));
        let cases = [
            (
                json!({ "numTrustedProxies": 1, "proxyStatsMatcher": { "inclusionRegexps": ["b", "a"] } }),
                false,
            ),
            (
                json!({ "numTrustedProxies": 2, "proxyStatsMatcher": { "inclusionRegexps": ["a", "b"] } }),
                true,
            ),
            (json!({ "proxyStatsMatcher": { "inclusionRegexps": ["a", "b"] } }), true),
            (json!({ "numTrustedProxies": 1, "proxyStatsMatcher": { "inclusionRegexps": ["a"] } }), true),
            (
                json!({ "numTrustedProxies": 1, "trustDomain": "a", "proxyStatsMatcher": { "inclusionRegexps": ["a", "b"] } }),
                true,
            ),
            (
                json!({ "numTrustedProxies": 1, "forwardClientCertDetails": "SANITIZE", "proxyStatsMatcher": { "inclusionRegexps": ["a", "b"] } }),
                true,
            ),
            (
                json!({ "numTrustedProxies": 1, "enableDNSProxying": true, "gatewayExternalTrafficPolicy": "Local", "proxyStatsMatcher": { "inclusionRegexps": ["a", "b"] } }),
                false,
            ),
        ];
        for (config, restarts) in cases {
            let wanted = spec(&config);
            let cause = decide(Some(&before), &wanted, &json!({}));
            assert_eq!(cause.is_some(), restarts, "{config}");
            assert_eq!(decide(None, &wanted, &json!({})), None, "{config}: it has just started");
            if let Some(cause) = cause {
                let done = json!({ "spec": { "template": { "metadata": { "annotations": { "mizzen.io/restarted-for": cause } } } } });
                assert_eq!(
                    decide(Some(&before), &wanted, &done),
                    None,
                    "{config}: it was restarted for that"
                );
            }
        }
    }
}
