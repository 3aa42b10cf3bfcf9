use super::*;
use mizzen_api::mesh as api;
use mizzen_text::Severity;
use serde_json::{Value, json};

fn paths(found: &Findings, severity: Severity) -> Vec<String> {
    found.iter().filter(|one| one.severity == severity).map(|one| one.path.to_string()).collect()
}

fn mesh(document: &Value) -> Findings {
    mesh_config(&api::apply_mesh_config(&api::mesh_config(), document).unwrap())
}

fn proxy(document: &Value) -> Findings {
    proxy_config(&api::apply_proxy_config(&api::proxy_config(), document).unwrap())
}

#[track_caller]
fn refused(found: &Findings, expected: &[&str]) {
    assert_eq!(paths(found, Severity::Error), expected, "{found:?}");
}

#[track_caller]
fn warned(found: &Findings, expected: &[&str]) {
    refused(found, &[]);
    assert_eq!(paths(found, Severity::Warning), expected, "{found:?}");
}

#[test]
fn the_defaults_are_accepted() {
    warned(&mesh(&json!({})), &[]);
    warned(&proxy(&json!({})), &[]);
    warned(&mesh_networks(&MeshNetworks::default()), &[]);
}

#[test]
fn nothing_but_the_defaults_may_be_left_out() {
    refused(
        &mesh_config(&MeshConfig::default()),
        &["proxyListenPort", "connectTimeout", "defaultConfig", "trustDomain"],
    );
    refused(
        &proxy_config(&ProxyConfig::default()),
        &[
            "configPath",
            "binaryPath",
            "",
            "drainDuration",
            "discoveryAddress",
            "proxyAdminPort",
            "statusPort",
        ],
    );
}

#[test]
fn every_wrong_field_of_a_mesh_is_told() {
    refused(
        &mesh(&json!({
            "proxyListenPort": -1,
            "connectTimeout": "61m",
            "protocolDetectionTimeout": "1us",
            "defaultConfig": {"statusPort": 70_000},
            "localityLbSetting": {"distribute": [{"from": "a", "to": {"b": 99}}]},
            "zoneAwareLbSetting": {"failover": [{"from": "a", "to": "a"}]},
            "serviceSettings": [{"hosts": ["*.a", "a_b"]}],
            "trustDomain": "a..b",
            "trustDomainAliases": ["x_y", "z.1."],
            "meshMTLS": {"ecdhCurves": ["P-256"]},
            "defaultTrafficPolicy": {"connectionPool": {}, "outlierDetection": {"maxEjectionPercent": 101}},
        })),
        &[
            "proxyListenPort",
            "connectTimeout",
            "protocolDetectionTimeout",
            "defaultConfig.statusPort",
            "localityLbSetting.distribute[0].to",
            "zoneAwareLbSetting.failover[0].to",
            "serviceSettings[0].hosts[1]",
            "trustDomain",
            "trustDomainAliases[0]",
            "meshMTLS.ecdhCurves",
            "defaultTrafficPolicy.connectionPool",
            "defaultTrafficPolicy.outlierDetection.maxEjectionPercent",
        ],
    );
}

#[test]
fn every_wrong_field_of_a_proxy_is_told() {
    refused(
        &proxy(&json!({
            "serviceCluster": "",
            "drainDuration": "1500ms",
            "discoveryAddress": "a",
            "statsdUdpAddress": "b",
            "envoyMetricsServiceAddress": "c",
            "envoyMetricsService": {"address": "d"},
            "envoyAccessLogService": {"address": "e"},
            "tracing": {"lightstep": {}, "tlsSettings": {"mode": "MUTUAL"}},
            "privateKeyProvider": {"cryptomb": {}},
            "connectionSettings": {"httpIdleTimeout": "-1s", "httpMaxConcurrentStreams": 0,
                                   "http2InitialStreamWindowSize": 65_534, "listenerPerConnectionBufferLimitBytes": -1},
        })),
        &[
            "serviceCluster",
            "drainDuration",
            "discoveryAddress",
            "statsdUdpAddress",
            "envoyMetricsServiceAddress",
            "envoyMetricsService.address",
            "envoyAccessLogService.address",
            "tracing.lightstep.address",
            "tracing.lightstep.accessToken",
            "tracing.tlsSettings.clientCertificate",
            "tracing.tlsSettings.privateKey",
            "privateKeyProvider.cryptomb.pollDelay",
            "connectionSettings.listenerPerConnectionBufferLimitBytes",
            "connectionSettings.httpMaxConcurrentStreams",
            "connectionSettings.http2InitialStreamWindowSize",
            "connectionSettings.httpIdleTimeout",
        ],
    );
    refused(&proxy(&json!({"controlPlaneAuthPolicy": "INHERIT"})), &["controlPlaneAuthPolicy"]);
    refused(&proxy(&json!({"privateKeyProvider": {}})), &["privateKeyProvider"]);
    refused(&proxy(&json!({"tracing": {"zipkin": {}}})), &["tracing.zipkin.address"]);
}

#[test]
fn a_tracer_may_be_on_the_node_itself() {
    for tracer in ["zipkin", "datadog"] {
        warned(&proxy(&json!({"tracing": {tracer: {"address": "$(HOST_IP):8126"}}})), &[]);
    }
}

#[test]
fn what_is_doubtful_is_a_warning() {
    warned(
        &mesh(&json!({
            "defaultConfig": {"proxyMetadata": {"ISTIO_META_DNS_AUTO_ALLOCATE": "true"}},
            "tlsDefaults": {"ecdhCurves": ["P-256", "P-256", "P-1", ""]},
        })),
        &[
            "defaultConfig.proxyMetadata.ISTIO_META_DNS_AUTO_ALLOCATE",
            "tlsDefaults.ecdhCurves",
            "tlsDefaults.ecdhCurves",
        ],
    );
}

#[test]
fn a_bad_provider_is_a_warning() {
    let with = |provider: Value| mesh(&json!({"extensionProviders": [provider]}));
    for (provider, expected) in [
        (json!({"name": "a", "zipkin": {"service": "a.b", "port": 1}}), &[][..]),
        (json!({"name": "a", "zipkin": {"service": "ns/a.b", "port": 1}}), &[]),
        (json!({"name": "a", "zipkin": {}}), &["[3].zipkin.service", "[3].zipkin.port"]),
        (json!({"prometheus": {}}), &["[3].name"]),
        (json!({"name": "a"}), &["[3]"]),
        (json!({"name": "a", "sds": {}}), &["[3].sds"]),
        (
            json!({"name": "a", "envoyExtAuthzHttp": {"service": "a_b", "port": 1, "statusOnError": "999", "pathPrefix": "x"}}),
            &[
                "[3].envoyExtAuthzHttp.service",
                "[3].envoyExtAuthzHttp.statusOnError",
                "[3].envoyExtAuthzHttp.pathPrefix",
            ],
        ),
        (
            json!({"name": "a", "envoyExtAuthzGrpc": {"service": "1.2.3.4", "port": 1, "statusOnError": "403"}}),
            &[],
        ),
        (json!({"name": "a", "lightstep": {"service": "a", "port": 1}}), &["[3].lightstep.accessToken"]),
        (
            json!({"name": "a", "opentelemetry": {"service": "a", "port": 1, "http": {}, "grpc": {}}}),
            &["[3].opentelemetry"],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(|path| format!("extensionProviders{path}")).collect();
        warned(&with(provider), &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn networks_have_endpoints_and_gateways() {
    let networks = |network: Value| {
        mesh_networks(&api::read_mesh_networks(&json!({"networks": {"n": network}})).unwrap())
    };
    warned(
        &networks(json!({
            "endpoints": [{"fromCidr": "10.0.0.0/8"}, {"fromRegistry": "cluster-1"}, {}],
            "gateways": [{"address": "1.2.3.4", "port": 1}, {"address": "a.b", "port": 1}, {"registryServiceName": "a.b", "port": 1}],
        })),
        &[],
    );
    refused(
        &networks(json!({
            "endpoints": [{"fromCidr": "10.0.0.0/33"}, {"fromRegistry": "a.b"}],
            "gateways": [{"address": "a_b"}, {"registryServiceName": "", "port": 65_536}],
        })),
        &[
            "networks.n.endpoints[0].fromCidr",
            "networks.n.endpoints[1].fromRegistry",
            "networks.n.gateways[0].address",
            "networks.n.gateways[0].port",
            "networks.n.gateways[1].registryServiceName",
            "networks.n.gateways[1].port",
        ],
    );
}
