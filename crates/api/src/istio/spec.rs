//! What somebody wants. Every field may be absent, and "absent" is not "empty" wherever that makes a difference.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A spec that the definition should have kept out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("spec.{path}: {reason}")]
pub struct Wrong {
    pub path: String,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    pub config: Config,
    pub components: Components,
    pub experimental: Option<Experimental>,
    pub compatibility_mode: bool,
    pub network_policies_enabled: bool,
    pub mizzen: Mizzen,
}

impl Spec {
    /// Out of a whole resource; one without a spec wants the defaults.
    pub fn of(resource: &Value) -> Result<Self, Wrong> {
        match resource.get("spec") {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(spec) => serde_path_to_error::deserialize(spec)
                .map_err(|error| Wrong { path: error.path().to_string(), reason: error.inner().to_string() }),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Config {
    pub num_trusted_proxies: Option<u64>,
    pub forward_client_cert_details: Option<String>,
    pub authorizers: Vec<Authorizer>,
    pub gateway_external_traffic_policy: Option<String>,
    pub telemetry: Telemetry,
    pub trust_domain: Option<String>,
    #[serde(rename = "enableDNSProxying")]
    pub enable_dns_proxying: Option<bool>,
    pub proxy_stats_matcher: ProxyStatsMatcher,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Telemetry {
    pub metrics: TelemetryMetrics,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TelemetryMetrics {
    pub prometheus_merge: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProxyStatsMatcher {
    pub inclusion_regexps: Vec<String>,
}

/// Somebody who is asked over HTTP whether a request may pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Authorizer {
    pub name: String,
    pub service: String,
    pub port: i64,
    pub path_prefix: Option<String>,
    /// As Go writes durations.
    pub timeout: Option<String>,
    pub headers: Headers,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Headers {
    pub in_check: InCheck,
    pub to_upstream: ToUpstream,
    pub to_downstream: ToDownstream,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct InCheck {
    pub include: Vec<String>,
    pub add: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToUpstream {
    pub on_allow: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToDownstream {
    pub on_allow: Vec<String>,
    pub on_deny: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Components {
    pub pilot: Option<Workload>,
    pub ingress_gateway: Option<Workload>,
    pub egress_gateway: Option<EgressGateway>,
    pub cni: Option<Cni>,
    pub proxy: Option<Proxy>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Workload {
    pub k8s: Settings,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EgressGateway {
    pub enabled: Option<bool>,
    pub k8s: Settings,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    pub hpa_spec: Option<HpaSpec>,
    pub strategy: Option<Strategy>,
    pub resources: Option<Resources>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HpaSpec {
    pub min_replicas: Option<i32>,
    pub max_replicas: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    pub rolling_update: RollingUpdate,
}

/// Each is a number or a percentage.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    pub max_surge: Option<Value>,
    pub max_unavailable: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Resources {
    pub limits: Quantities,
    pub requests: Quantities,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Quantities {
    pub cpu: Option<String>,
    pub memory: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Cni {
    pub k8s: CniSettings,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CniSettings {
    /// Kubernetes' own.
    pub affinity: Option<Value>,
    pub resources: Option<Resources>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Proxy {
    pub k8s: ProxySettings,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ProxySettings {
    pub resources: Option<Resources>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Experimental {
    pub pilot: PilotFlags,
    pub enable_ambient: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PilotFlags {
    #[serde(rename = "enableAlphaGatewayAPI")]
    pub enable_alpha_gateway_api: bool,
    #[serde(rename = "enableMultiNetworkDiscoverGatewayAPI")]
    pub enable_multi_network_discover_gateway_api: bool,
}

/// What upstream has not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Mizzen {
    pub distribution: Distribution,
    pub restart: Option<Restart>,
}

/// Whose charts and images the mesh is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    #[default]
    Mizzen,
    /// Upstream's, from the chart source that the operator was started with.
    Istio,
}

/// How workloads are restarted that must be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Restart {
    pub enabled: Option<bool>,
    pub windows: Vec<String>,
    pub batch_size: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_resource_without_a_spec_wants_the_defaults() {
        for resource in [json!({}), json!({ "spec": null }), json!({ "spec": {} })] {
            assert_eq!(Spec::of(&resource), Ok(Spec::default()), "{resource}");
        }
        assert_eq!(Spec::default().mizzen.distribution, Distribution::Mizzen);
    }

    #[test]
    fn what_is_not_said_is_not_what_is_said_to_be_off() {
        let spec = Spec::of(&json!({ "spec": { "config": { "enableDNSProxying": false } } })).unwrap();
        assert_eq!(spec.config.enable_dns_proxying, Some(false));
        assert_eq!(Spec::default().config.enable_dns_proxying, None);
    }

    #[test]
    fn a_field_of_another_type_is_told_by_its_place() {
        let wrong =
            Spec::of(&json!({ "spec": { "config": { "authorizers": [{ "name": "a", "port": "x" }] } } }));
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.starts_with("spec.config.authorizers[0].port: invalid type"), "{wrong}");
    }
}
