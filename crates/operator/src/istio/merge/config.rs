//! `spec.config`: the mesh's own configuration.

use super::{Misconfigured, push};
use mizzen_api::{
    istio::{Authorizer, Config},
    proto::Duration,
};
use serde_json::{Map, Value, json};

const INGRESS: &str = "istio-ingressgateway";

pub(super) fn lay(operator: &mut Value, config: &Config) -> Result<(), Misconfigured> {
    let mesh = &mut operator["meshConfig"];
    if let Some(proxies) = config.num_trusted_proxies {
        mesh["defaultConfig"]["gatewayTopology"]["numTrustedProxies"] = proxies.into();
    }
    if let Some(details) = &config.forward_client_cert_details {
        mesh["defaultConfig"]["gatewayTopology"]["forwardClientCertDetails"] = details.as_str().into();
    }
    mesh["enablePrometheusMerge"] = config.telemetry.metrics.prometheus_merge.into();
    if let Some(domain) = &config.trust_domain {
        mesh["trustDomain"] = domain.as_str().into();
    }
    if let Some(on) = config.enable_dns_proxying {
        mesh["defaultConfig"]["proxyMetadata"]["ISTIO_META_DNS_CAPTURE"] = on.to_string().into();
    }
    let expressions = &config.proxy_stats_matcher.inclusion_regexps;
    if !expressions.is_empty() {
        mesh["defaultConfig"]["proxyStatsMatcher"]["inclusionRegexps"] = json!(expressions);
    }
    for (place, authorizer) in config.authorizers.iter().enumerate() {
        let provider = provider(authorizer).map_err(|(field, reason)| Misconfigured {
            path: format!("spec.config.authorizers[{place}].{field}"),
            reason,
        })?;
        push(&mut mesh["extensionProviders"], provider);
    }
    if let Some(policy) = &config.gateway_external_traffic_policy {
        let patch = json!({ "path": "spec.externalTrafficPolicy", "value": policy });
        let overlay = json!({ "apiVersion": "v1", "kind": "Service", "name": INGRESS, "patches": [patch] });
        push(&mut operator["components"]["ingressGateways"][0]["k8s"]["overlays"], overlay);
    }
    Ok(())
}

fn provider(authorizer: &Authorizer) -> Result<Value, (&'static str, String)> {
    let mut asked = Map::new();
    let mut say = |key: &str, value: Value| {
        asked.insert(key.to_owned(), value);
    };
    if !authorizer.service.is_empty() {
        say("service", authorizer.service.as_str().into());
    }
    if !(1..=65535).contains(&authorizer.port) {
        return Err(("port", format!("{} is no port: write a number from 1 to 65535", authorizer.port)));
    }
    say("port", authorizer.port.into());
    if let Some(prefix) = &authorizer.path_prefix {
        say("pathPrefix", prefix.as_str().into());
    }
    if let Some(timeout) = &authorizer.timeout {
        say("timeout", seconds(timeout).map_err(|reason| ("timeout", reason))?);
    }
    let headers = &authorizer.headers;
    let lists = [
        ("includeRequestHeadersInCheck", &headers.in_check.include),
        ("headersToUpstreamOnAllow", &headers.to_upstream.on_allow),
        ("headersToDownstreamOnAllow", &headers.to_downstream.on_allow),
        ("headersToDownstreamOnDeny", &headers.to_downstream.on_deny),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        say(key, json!(list));
    }
    if !headers.in_check.add.is_empty() {
        say("includeAdditionalHeadersInCheck", json!(headers.in_check.add));
    }
    Ok(json!({ "name": authorizer.name, "envoyExtAuthzHttp": asked }))
}

/// As the JSON of protos has it, and no shorter: half a second is not none.
fn seconds(text: &str) -> Result<Value, String> {
    let length: Duration = text.parse().map_err(|bad: mizzen_api::proto::BadDuration| bad.to_string())?;
    if length.as_nanos() <= 0 {
        return Err(format!("{text:?} is no time to wait"));
    }
    serde_json::to_value(length).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_authorizer_is_told_by_its_place() {
        let authorizer = |port: i64, timeout: &str| Authorizer {
            name: "a".into(),
            port,
            timeout: Some(timeout.into()),
            ..Authorizer::default()
        };
        for (bad, place) in [
            (authorizer(0, "1s"), "spec.config.authorizers[0].port: "),
            (authorizer(70_000, "1s"), "spec.config.authorizers[0].port: "),
            (authorizer(80, "soon"), "spec.config.authorizers[0].timeout: "),
            (authorizer(80, "0s"), "spec.config.authorizers[0].timeout: "),
        ] {
            let config = Config { authorizers: vec![bad], ..Config::default() };
            let told = lay(&mut json!({ "meshConfig": {} }), &config).unwrap_err().to_string();
            assert!(told.starts_with(place), "{told}");
        }
    }
}
