//! What a resource asks for, as numbers, by upstream's names, and what has become of it. Only the resource that is the mesh is counted.

use mizzen_api::istio::{Spec, State, Status};

const CERTIFICATES: [&str; 5] =
    ["APPEND_FORWARD", "SANITIZE_SET", "SANITIZE", "ALWAYS_FORWARD_ONLY", "FORWARD_ONLY"];

/// In the text form of Prometheus.
pub(super) fn page(spec: &Spec) -> String {
    let config = &spec.config;
    let count = |is: &dyn Fn(&mizzen_api::istio::Authorizer) -> bool| {
        config.authorizers.iter().filter(|one| is(one)).count()
    };
    let egress = spec.components.egress_gateway.as_ref().and_then(|egress| egress.enabled);
    let domain = config.trust_domain.as_deref().unwrap_or_default();
    let gauges: [(&str, &str, usize); 10] = [
        ("istio_ext_auth_providers_total", "Authorizers", config.authorizers.len()),
        (
            "istio_ext_auth_timeout_configured_number_total",
            "Authorizers with a timeout",
            count(&|one| one.timeout.is_some()),
        ),
        (
            "istio_ext_auth_path_prefix_configured_number_total",
            "Authorizers with a path prefix",
            count(&|one| one.path_prefix.is_some()),
        ),
        (
            "istio_num_trusted_proxies_configured",
            "Whether proxies are trusted",
            config.num_trusted_proxies.is_some_and(|number| number > 0).into(),
        ),
        (
            "istio_prometheus_merge_enabled",
            "Whether metrics are merged",
            config.telemetry.metrics.prometheus_merge.into(),
        ),
        (
            "istio_compatibility_mode_enabled",
            "Whether it behaves as the version before",
            spec.compatibility_mode.into(),
        ),
        (
            "istio_trust_domain_configured",
            "Whether the trust domain is another one",
            (!matches!(domain, "" | "cluster.local")).into(),
        ),
        (
            "istio_network_policies_enabled",
            "Whether there are network policies",
            spec.network_policies_enabled.into(),
        ),
        ("istio_egress_gateway_used", "Whether there is an egress gateway", (egress == Some(true)).into()),
        (
            "istio_dnsproxy_used",
            "Whether sidecars answer DNS questions",
            (config.enable_dns_proxying == Some(true)).into(),
        ),
    ];
    let head = |name: &str, help: &str| format!("# HELP {name} {help}.\n# TYPE {name} gauge\n");
    let mut page: String =
        gauges.iter().map(|(name, help, value)| format!("{}{name} {value}\n", head(name, help))).collect();
    let name = "istio_forward_client_cert_details_setting";
    page += &head(name, "What gateways do with client certificates");
    for setting in CERTIFICATES {
        let chosen = config.forward_client_cert_details.as_deref() == Some(setting);
        page += &format!("{name}{{xfcc_setting=\"{setting}\"}} {}\n", usize::from(chosen));
    }
    page
}

/// What has become of it. Ours: upstream has no such figures.
pub(super) fn state(status: &Status) -> String {
    let gauge = |name: &str, help: &str| format!("# HELP {name} {help}.\n# TYPE {name} gauge\n");
    let name = "istio_operator_state";
    let mut page = gauge(name, "The state of the resource");
    for state in [State::Processing, State::Deleting, State::Ready, State::Error, State::Warning] {
        page += &format!("{name}{{state=\"{state:?}\"}} {}\n", usize::from(status.state == state));
    }
    let name = "istio_operator_installed_version_info";
    page += &gauge(name, "The tag of the control plane");
    page += &format!("{name}{{version={:?}}} 1\n", status.installed_version);
    let name = "istio_operator_outdated_proxies";
    page += &gauge(name, "Workloads with a sidecar that is not what it should be");
    let outdated = status.outdated_proxies.as_ref().map_or(0, |outdated| outdated.count);
    page + &format!("{name} {outdated}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_asked_for_is_counted() {
        let spec = json!({ "config": {
            "authorizers": [{ "name": "a", "port": 1, "timeout": "1s" }, { "name": "b", "port": 1 }],
            "numTrustedProxies": 0, "forwardClientCertDetails": "SANITIZE", "trustDomain": "cluster.local", "enableDNSProxying": true,
        } });
        let page = page(&Spec::of(&json!({ "spec": spec })).unwrap());
        for line in [
            "istio_ext_auth_providers_total 2",
            "istio_ext_auth_timeout_configured_number_total 1",
            "istio_ext_auth_path_prefix_configured_number_total 0",
            "istio_num_trusted_proxies_configured 0",
            "istio_trust_domain_configured 0",
            "istio_dnsproxy_used 1",
            "istio_forward_client_cert_details_setting{xfcc_setting=\"SANITIZE\"} 1",
            "istio_forward_client_cert_details_setting{xfcc_setting=\"FORWARD_ONLY\"} 0",
        ] {
            assert!(page.contains(&format!("\n{line}\n")) || page.starts_with(line), "{line} in {page}");
        }
    }

    #[test]
    fn what_has_become_of_it_is_counted() {
        let status = Status { state: State::Warning, installed_version: "1.2".into(), ..Status::default() };
        let page = state(&status);
        for line in [
            "istio_operator_state{state=\"Warning\"} 1",
            "istio_operator_state{state=\"Ready\"} 0",
            "istio_operator_installed_version_info{version=\"1.2\"} 1",
            "istio_operator_outdated_proxies 0",
        ] {
            assert!(page.contains(&format!("\n{line}\n")), "{line} in {page}");
        }
    }
}
