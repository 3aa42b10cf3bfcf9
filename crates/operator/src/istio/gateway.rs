//! IstioIngressGatewayReconciler: some of the configuration a gateway reads only when it starts.

use super::rollout::RESTARTED_FOR;
use mizzen_api::istio::Spec;
use serde_json::json;

pub(super) const NAME: &str = "istio-ingressgateway";
pub(super) const MARK: &str = RESTARTED_FOR;

/// What is read only at the start: when it changes, the gateway has to be restarted.
pub(super) fn cause(spec: &Spec) -> String {
    let config = &spec.config;
    let mut expressions = config.proxy_stats_matcher.inclusion_regexps.clone();
    expressions.sort();
    json!([config.num_trusted_proxies, config.forward_client_cert_details, config.trust_domain, expressions])
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn spec(config: &Value) -> Spec {
        Spec::of(&json!({ "spec": { "config": config } })).unwrap()
    }

    #[test]
    fn only_what_is_read_at_the_start_restarts_it() {
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
            assert_eq!(cause(&before) != cause(&spec(&config)), restarts, "{config}");
        }
    }
}
