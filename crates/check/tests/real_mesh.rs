//! The mesh's own configuration has Istio's verdict: on the rows of Istio's tests about it, and on documents with one
//! odd value each.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

use mizzen_api::mesh as api;
use mizzen_check::{Findings, mesh};
use mizzen_testkit::{
    needs,
    oracle::{
        Oracle,
        data::{self, Row},
    },
};
use mizzen_text::Severity;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn over_defaults(document: &Value) -> Findings {
    mesh::mesh_config(&api::apply_mesh_config(&api::mesh_config(), document).unwrap())
}

fn proxy_over_defaults(document: &Value) -> Findings {
    mesh::proxy_config(&api::apply_proxy_config(&api::proxy_config(), document).unwrap())
}

/// A message as it stands; one that cannot be read is not accepted.
fn whole<T: serde::de::DeserializeOwned>(json: &Value, check: fn(&T) -> Findings) -> bool {
    serde_json::from_value(json.clone()).is_ok_and(|message| check(&message).accepted())
}

/// A provider is never refused, so what is warned of it counts.
fn provider(field: &str, json: &Value) -> bool {
    let found = over_defaults(&json!({"extensionProviders": [{"name": "a", field: json}]}));
    found.accepted() && found.iter().next().is_none()
}

/// Whether we accept what a row is about; nothing for what is not the mesh's.
fn ours(row: &Row) -> Option<bool> {
    let json = &row.arguments[0].value;
    let field = |name: &str| over_defaults(&json!({ name: json })).accepted();
    Some(match row.function.as_str() {
        // Go's tests can build what has no JSON: a message that is not there at all, a null in a map.
        _ if !row.arguments[0].unsaid.is_empty() => return None,
        _ if row.function.contains("ExtensionProvider") && json.is_null() => return None,
        "ValidateMeshConfig" => whole(json, mesh::mesh_config),
        "ValidateMeshConfigProxyConfig" => whole(json, mesh::proxy_config),
        "ValidateMeshNetworks" => whole(json, mesh::mesh_networks),
        "validateServiceSettings" => over_defaults(json).accepted(),
        "validateMeshConfigDefaultTrafficPolicy" => field("defaultTrafficPolicy"),
        "validateConnectionSettings" => proxy_over_defaults(&json!({"connectionSettings": json})).accepted(),
        "ValidateTrustDomain" => field("trustDomain"),
        "ValidateConnectTimeout" => field("connectTimeout"),
        "ValidateProtocolDetectionTimeout" => field("protocolDetectionTimeout"),
        "ValidateDrainDuration" => proxy_over_defaults(&json!({"drainDuration": json})).accepted(),
        "ValidateProxyAddress" => proxy_over_defaults(&json!({"discoveryAddress": json})).accepted(),
        "ValidatePort" => field("proxyListenPort"),
        "ValidateControlPlaneAuthPolicy" => {
            let proxy =
                api::apply_proxy_config(&api::proxy_config(), &json!({"controlPlaneAuthPolicy": json}));
            proxy.is_ok_and(|proxy| mesh::proxy_config(&proxy).accepted())
        }
        "validateExtensionProviderService" => provider("zipkin", &json!({"service": json, "port": 1})),
        "validateExtensionProviderTracingZipkin" => provider("zipkin", json),
        "validateExtensionProviderTracingLightStep" => provider("lightstep", json),
        "validateExtensionProviderTracingDatadog" => provider("datadog", json),
        "validateExtensionProviderTracingOpenCensusAgent" => provider("opencensus", json),
        "ValidateExtensionProviderEnvoyOtelAls" => provider("envoyOtelAls", json),
        "ValidateExtensionProviderEnvoyHTTPAls" => provider("envoyHttpAls", json),
        "ValidateExtensionProviderEnvoyTCPAls" => provider("envoyTcpAls", json),
        "ValidateExtensionProviderTracingOpentelemetry" => provider("opentelemetry", json),
        _ => return None,
    })
}

#[test]
fn our_verdict_is_istio_s_on_the_rows_about_the_mesh() {
    needs!(data::NEEDS);
    let mut equal = BTreeMap::<String, usize>::new();
    for row in data::rows().unwrap().iter().filter(|row| row.file.starts_with("agent/")) {
        if let Some(accepted) = ours(row) {
            assert_eq!(accepted, row.accepted, "{} {}: {:?}", row.test, row.row, row.arguments);
            *equal.entry(row.function.clone()).or_default() += 1;
        }
    }
    println!("{} rows of {} functions: {equal:?}", equal.values().sum::<usize>(), equal.len());
    assert_eq!(equal.len(), 22, "a function that is compared has no row: {equal:?}");
}

/// Values for a field of the mesh (`/connectTimeout`) or of its proxies (`/defaultConfig/statusPort`).
fn odd() -> Vec<(&'static str, Vec<Value>)> {
    let ports = || [-1, 0, 1, 65_535, 65_536, i32::MAX].map(Value::from).to_vec();
    let lengths =
        || ["-1s", "0s", "1us", "1ms", "1500us", "1.5s", "1s", "1h", "3601s"].map(Value::from).to_vec();
    let addresses = || {
        let texts = [
            "",
            "a",
            "a:",
            ":1",
            "a:1",
            "a.b.:1",
            "a:0",
            "a:65536",
            "a:+1",
            "a:-1",
            "a:x",
            "1.2.3.4:1",
            "1.2.3:1",
            "[::1]:1",
            "::1:1",
            "[::1]",
            "[::1",
            "[[::1]]:1",
            "[a]:1",
            "a]:1",
            "a[:1",
            "a_b:1",
            "a:1:2",
            "[fe80::1%x]:1",
            "$(HOST_IP):1",
            "$(HOST_IP)$(HOST_IP):1",
            "a:99999999999999999999",
        ];
        texts.map(Value::from).to_vec()
    };
    let numbers = || [-1, 0, 1, 65_534, 65_535].map(Value::from).to_vec();
    let names = || {
        ["", ".", "a", "a.", "a..b", ".a", "a_b", "1", "a.1", "*", "*.a", "a.*", "-a"]
            .map(Value::from)
            .to_vec()
    };
    let wrapped = |name: &str, values: Vec<Value>| -> Vec<Value> {
        values.into_iter().map(|value| json!({ name: value })).collect()
    };
    let tls = || {
        vec![
            json!({"mode": "MUTUAL"}),
            json!({"mode": "MUTUAL", "clientCertificate": "a", "privateKey": "b"}),
            json!({"mode": "SIMPLE", "credentialName": "a", "caCertificates": "b"}),
            json!({"mode": "SIMPLE", "credentialName": "configmap://a/b"}),
            json!({"mode": "SIMPLE", "insecureSkipVerify": true, "subjectAltNames": ["a"]}),
        ]
    };
    vec![
        ("/proxyListenPort", ports()),
        ("/proxyInboundListenPort", ports()),
        ("/connectTimeout", lengths()),
        ("/protocolDetectionTimeout", lengths()),
        ("/trustDomain", names()),
        ("/trustDomainAliases", names().into_iter().map(|name| json!([name])).collect()),
        ("/serviceSettings", names().into_iter().map(|name| json!([{"hosts": [name]}])).collect()),
        ("/meshMTLS", vec![json!({}), json!({"ecdhCurves": []}), json!({"ecdhCurves": ["P-256"]})]),
        (
            "/tlsDefaults",
            vec![
                json!({"ecdhCurves": ["P-256", "X25519", ""]}),
                json!({"ecdhCurves": ["P-256", "P-256"]}),
                json!({"ecdhCurves": ["", "", "x", "x"]}),
            ],
        ),
        (
            "/localityLbSetting",
            vec![
                json!({"failover": [{"from": "a", "to": "b"}]}),
                json!({"failover": [{"from": "a", "to": "a"}]}),
                json!({"failoverPriority": ["topology.kubernetes.io/region"]}),
                json!({"distribute": [{"from": "a/*", "to": {"b": 50, "c": 50}}, {"from": "a", "to": {"b": 100}}]}),
            ],
        ),
        (
            "/zoneAwareLbSetting",
            vec![
                json!({"failoverPriority": ["topology.kubernetes.io/zone"]}),
                json!({"failover": [{"from": "a/b", "to": "c"}]}),
            ],
        ),
        (
            "/defaultTrafficPolicy",
            vec![
                json!({"connectionPool": {}}),
                json!({"connectionPool": {"http": {"http2KeepAlive": {}}}}),
                json!({"connectionPool": {"http": {"maxRetries": -1}, "tcp": {"idleTimeout": "0s"}}}),
                json!({"outlierDetection": {"consecutiveErrors": 5}}),
                json!({"outlierDetection": {"minHealthPercent": -1}}),
                json!({"outlierDetection": {"consecutiveLocalOriginFailures": 1}}),
            ],
        ),
        ("/extensionProviders", vec![json!([{}]), json!([{"name": "a", "zipkin": {}}])]),
        ("/defaultConfig/configPath", vec![json!(""), json!("a")]),
        ("/defaultConfig/binaryPath", vec![json!(""), json!("a")]),
        ("/defaultConfig/serviceCluster", vec![json!(""), json!("a")]),
        ("/defaultConfig/tracingServiceName", vec![json!(0), json!(1)]),
        ("/defaultConfig/drainDuration", lengths()),
        ("/defaultConfig/terminationDrainDuration", lengths()),
        ("/defaultConfig/discoveryAddress", addresses()),
        ("/defaultConfig/statsdUdpAddress", addresses()),
        ("/defaultConfig/envoyMetricsServiceAddress", addresses()),
        ("/defaultConfig/envoyMetricsService", wrapped("address", addresses())),
        ("/defaultConfig/envoyAccessLogService", wrapped("address", addresses())),
        ("/defaultConfig/zipkinAddress", addresses()),
        ("/defaultConfig/tracing", wrapped("zipkin", wrapped("address", addresses()))),
        ("/defaultConfig/tracing", wrapped("datadog", wrapped("address", addresses()))),
        ("/defaultConfig/tracing", wrapped("lightstep", wrapped("address", addresses()))),
        ("/defaultConfig/tracing", vec![json!({"lightstep": {"address": "a:1", "accessToken": "t"}})]),
        ("/defaultConfig/tracing", wrapped("tlsSettings", tls())),
        ("/defaultConfig/proxyAdminPort", ports()),
        ("/defaultConfig/statusPort", ports()),
        (
            "/defaultConfig/controlPlaneAuthPolicy",
            ["NONE", "MUTUAL_TLS", "INHERIT"].map(Value::from).to_vec(),
        ),
        ("/defaultConfig/proxyMetadata", vec![json!({"ISTIO_META_DNS_AUTO_ALLOCATE": ""})]),
        (
            "/defaultConfig/privateKeyProvider",
            vec![
                json!({}),
                json!({"qat": {}}),
                json!({"cryptomb": {"pollDelay": "0s"}}),
                json!({"qat": {"pollDelay": "-1s"}}),
            ],
        ),
        ("/defaultConfig/connectionSettings", wrapped("httpIdleTimeout", lengths())),
        ("/defaultConfig/connectionSettings", wrapped("httpMaxStreamDuration", lengths())),
        ("/defaultConfig/connectionSettings", wrapped("listenerPerConnectionBufferLimitBytes", numbers())),
        ("/defaultConfig/connectionSettings", wrapped("clusterPerConnectionBufferLimitBytes", numbers())),
        ("/defaultConfig/connectionSettings", wrapped("httpMaxConcurrentStreams", numbers())),
        ("/defaultConfig/connectionSettings", wrapped("http2InitialStreamWindowSize", numbers())),
        ("/defaultConfig/connectionSettings", wrapped("http2InitialConnectionWindowSize", numbers())),
        ("/defaultConfig/connectionSettings", wrapped("listenerConnectionLimit", numbers())),
        ("/defaultConfig/connectionSettings", wrapped("globalDownstreamConnectionLimit", numbers())),
    ]
}

/// A kind, a document of it, and what we found.
type Case = (&'static str, Value, Findings);

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, values) in odd() {
        for value in values {
            cases.push(match place.strip_prefix("/defaultConfig/") {
                Some(field) => {
                    let document = json!({ field: value });
                    let found = proxy_over_defaults(&document);
                    ("ProxyConfig", document, found)
                }
                None => {
                    let document = json!({ &place[1..]: value });
                    let found = over_defaults(&document);
                    ("MeshConfig", document, found)
                }
            });
        }
    }
    let endpoints = ["1.1.1.1", "10.0.0.0/8", "10.0.0.0/33", "a", "", "::/0", "1/2/3"];
    let endpoints = endpoints.map(|block| json!({"endpoints": [{"fromCidr": block}]}));
    let registries = ["a", "", "a.b", "a_b", "A"].map(|name| json!({"endpoints": [{"fromRegistry": name}]}));
    let gateways = ["1.1.1.1", "::1", "a", "a.b", "", "a_b", "1.1", "*"];
    let addresses = gateways.map(|name| json!({"gateways": [{"address": name, "port": 1}]}));
    let services = gateways.map(|name| json!({"gateways": [{"registryServiceName": name, "port": 1}]}));
    let ports = [0, 1, 65_535, 65_536].map(|port| json!({"gateways": [{"port": port}]}));
    for network in [&endpoints[..], &registries, &addresses, &services, &ports].concat() {
        let document = json!({"networks": {"n": network}});
        let found = mesh::mesh_networks(&api::read_mesh_networks(&document).unwrap());
        cases.push(("MeshNetworks", document, found));
    }
    cases
}

#[test]
fn our_verdict_is_istio_s_on_documents_with_one_odd_value() {
    needs!(Oracle::NEEDS);
    let cases = cases();
    let objects: Vec<Value> =
        cases.iter().map(|(kind, document, _)| json!({"kind": kind, "spec": document})).collect();
    let theirs = Oracle::shared().verdicts(&objects).unwrap();
    let mut refused = 0;
    for ((kind, document, found), theirs) in cases.iter().zip(theirs) {
        assert_eq!(theirs.decode, None, "{document}");
        assert_eq!(found.accepted(), theirs.accepted, "{kind} {document}: {found:?} {:?}", theirs.errors);
        // Of a provider Istio only writes a line into its log.
        let told = found.iter().filter(|one| {
            one.severity == Severity::Warning && !one.path.to_string().starts_with("extensionProviders")
        });
        assert_eq!(told.count(), theirs.warnings.len(), "{kind} {document}: {found:?} {:?}", theirs.warnings);
        refused += usize::from(!theirs.accepted);
    }
    println!("{} documents, of which {refused} are refused", cases.len());
}
