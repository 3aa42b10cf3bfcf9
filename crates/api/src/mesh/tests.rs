use super::*;
use serde_json::json;

fn mesh(document: &Value) -> Value {
    let mesh = apply_mesh_config(&mesh_config(), document).unwrap();
    serde_json::to_value(mesh).unwrap()
}

#[test]
fn nothing_said_is_the_default() {
    for nothing in [json!({}), json!(null), json!({"trustDomain": null, "defaultConfig": null, "unknown": 1})]
    {
        assert_eq!(apply_mesh_config(&mesh_config(), &nothing), Ok(mesh_config()), "{nothing}");
    }
}

#[test]
fn a_field_replaces_the_default_also_with_nothing() {
    let mesh = mesh(&json!({
        "enableTracing": false,
        "ingressClass": "",
        "connect_timeout": "1s",
        "defaultServiceExportTo": [],
        "localityLbSetting": {},
        "outboundTrafficPolicy": {"mode": "REGISTRY_ONLY"},
    }));
    assert!(mesh.get("enableTracing").is_none() && mesh.get("ingressClass").is_none());
    assert!(mesh.get("defaultServiceExportTo").is_none());
    assert_eq!(mesh["connectTimeout"], "1s");
    assert_eq!(mesh["localityLbSetting"], json!({}));
    assert_eq!(mesh["outboundTrafficPolicy"], json!({}));
    assert_eq!(mesh["trustDomain"], "cluster.local");
}

#[test]
fn the_proxies_configuration_is_laid_over_field_by_field() {
    let proxy = &mesh(&json!({"defaultConfig": {
        "statusPort": 1,
        "tracingServiceName": "CANONICAL_NAME_ONLY",
        "tracing": {"sampling": 1.5},
    }}))["defaultConfig"];
    assert_eq!(proxy["statusPort"], 1);
    assert_eq!(proxy["discoveryAddress"], "istiod.istio-system.svc:15012");
    assert_eq!(proxy["tracing"], json!({"sampling": 1.5}));
    assert!(proxy.get("serviceCluster").is_none(), "it cannot stand beside tracingServiceName");
}

#[test]
fn metadata_is_added_and_some_headers_stay() {
    let over = |base: &ProxyConfig, document| apply_proxy_config(base, &document).unwrap();
    let base = over(
        &proxy_config(),
        json!({
            "proxyMetadata": {"A": "1", "B": "1"},
            "proxyHeaders": {
                "forwardedClientCert": "SANITIZE",
                "server": {"value": "x"},
                "metadataExchangeHeaders": {"mode": "IN_MESH"},
            },
            "proxyStatsMatcher": {"inclusionPrefixes": ["a"]},
        }),
    );
    let proxy = over(
        &base,
        json!({
            "proxyMetadata": {"B": "2", "C": "2"},
            "proxyHeaders": {"requestId": {"disabled": true}},
            "proxyStatsMatcher": {"inclusionSuffixes": ["b"]},
        }),
    );
    let json = serde_json::to_value(&proxy).unwrap();
    assert_eq!(json["proxyMetadata"], json!({"A": "1", "B": "2", "C": "2"}));
    assert_eq!(
        json["proxyHeaders"],
        json!({"forwardedClientCert": "SANITIZE", "server": {"value": "x"}, "requestId": {"disabled": true}})
    );
    assert_eq!(json["proxyStatsMatcher"], json!({"inclusionSuffixes": ["b"]}));
}

#[test]
fn providers_are_known_by_name_and_aliases_are_a_set() {
    let first = apply_mesh_config(&mesh_config(), &json!({"trustDomainAliases": ["b", "a"]})).unwrap();
    let both = apply_mesh_config(
        &first,
        &json!({
            "trustDomainAliases": ["c", "b"],
            "extensionProviders": [
                {"name": "new", "prometheus": {}},
                {"name": "envoy", "envoyFileAccessLog": {"path": "/x"}},
                {"name": "new", "zipkin": {"service": "z"}},
            ],
            "defaultProviders": {"metrics": ["prometheus"]},
        }),
    );
    let json = serde_json::to_value(both.unwrap()).unwrap();
    assert_eq!(json["trustDomainAliases"], json!(["a", "b", "c"]));
    assert_eq!(
        json["extensionProviders"],
        json!([
            {"name": "prometheus", "prometheus": {}},
            {"name": "stackdriver", "stackdriver": {}},
            {"name": "envoy", "envoyFileAccessLog": {"path": "/x"}},
            {"name": "new", "zipkin": {"service": "z"}},
        ])
    );
    assert_eq!(json["defaultProviders"], json!({"metrics": ["prometheus"]}));
}

#[test]
fn what_cannot_be_read_is_told_with_its_field() {
    for (document, path) in [
        (json!({"connectTimeout": 5}), "connectTimeout"),
        (
            json!({"defaultConfig": {"tracing": {"zipkin": {"address": 1}}}}),
            "defaultConfig.tracing.zipkin.address",
        ),
        (
            json!({"defaultConfig": {"serviceCluster": "a", "tracingServiceName": "CANONICAL_NAME_ONLY"}}),
            "defaultConfig",
        ),
        (json!({"defaultProviders": {"metrics": [1]}}), "defaultProviders.metrics[0]"),
        (json!({"extensionProviders": [{"zipkin": {"port": "x"}}]}), "extensionProviders[0].zipkin"),
    ] {
        let error = apply_mesh_config(&mesh_config(), &document).unwrap_err().to_string();
        assert!(error.starts_with(path), "{document}: {error}");
    }
    assert!(apply_mesh_config(&mesh_config(), &json!([])).is_err());
    assert!(read_mesh_networks(&json!({"networks": {"a": {"endpoints": "x"}}})).is_err());
}

#[test]
fn networks_are_read() {
    let document = json!({"networks": {"a": {"endpoints": [{"fromRegistry": "r"}], "gateways": [{"address": "1.1.1.1", "port": 1}]}}});
    let networks = read_mesh_networks(&document).unwrap();
    assert_eq!(serde_json::to_value(networks).unwrap(), document);
}
