//! What a client's clusters look like, setting by setting.
#![allow(clippy::unwrap_used, reason = "a broken test may panic")]

mod support;

use mizzen_envoy::{Filters, clusters};
use mizzen_mesh::{Event, Settings};
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Mesh, WEB, WEB_V1, mk_proxy, mk_rule, mk_sidecar, mk_web};

const TLS: &str = "/transportSocket/typedConfig/commonTlsContext";
const HTTP: &str = "/typedExtensionProtocolOptions/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// What it is about, the rule, what the cluster has.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, Value)]);

/// Checks that a cluster has these values; `null` for nothing there.
#[track_caller]
fn expect(cluster: &Value, expected: &[(&str, Value)], about: &str) {
    for (path, value) in expected {
        let path = path.replace("$TLS", TLS).replace("$HTTP", HTTP);
        let found = cluster.pointer(&path).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{about}: {path} of {cluster:#}");
    }
}

#[test]
fn a_service_has_a_cluster_for_each_port_and_the_fixed_ones_are_there() {
    let mut mesh = Mesh::new(&mk_web());
    let names: Vec<String> = mesh.clusters(&mk_sidecar("10.1.9.1")).into_keys().collect();
    let expected = [
        "BlackHoleCluster",
        "InboundPassthroughCluster",
        "PassthroughCluster",
        WEB,
        "outbound|81||web.default.svc.cluster.local",
        "outbound|82||web.default.svc.cluster.local",
        "outbound|83||web.default.svc.cluster.local",
    ];
    assert_eq!(names, expected);
    let router: Vec<String> =
        mesh.clusters(&mk_proxy("router", "10.1.9.1", &json!({}))).into_keys().collect();
    assert_eq!(router, [&expected[..1], &expected[3..]].concat());
}

#[test]
fn a_server_has_a_cluster_for_each_of_its_ports() {
    let mut mesh = Mesh::new(&mk_web());
    let proxy = support::mk_pod("web-0", "10.1.0.0");
    let clusters = mesh.clusters(&proxy);
    let inbound: Vec<&String> = clusters.keys().filter(|name| name.starts_with("inbound")).collect();
    assert_eq!(inbound, ["inbound|8080||", "inbound|8081||", "inbound|8082||", "inbound|8083||"]);
    expect(
        &clusters["inbound|8080||"],
        &[
            ("/type", json!("ORIGINAL_DST")),
            ("/lbPolicy", json!("CLUSTER_PROVIDED")),
            ("/upstreamBindConfig/sourceAddress/address", json!("127.0.0.6")),
            ("/cleanupInterval", json!("9223372035s")),
            ("/metadata/filterMetadata/istio/services/0/name", json!("web")),
        ],
        "inbound",
    );
}

#[test]
fn applications_on_the_loopback_address_are_reached_there() {
    let mut mesh = Mesh::with(&mk_web(), "inboundTrafficPolicy: {mode: LOCALHOST}");
    let clusters = mesh.clusters(&support::mk_pod("web-0", "10.1.0.0"));
    expect(
        &clusters["inbound|8080||"],
        &[
            ("/type", json!("STATIC")),
            ("/upstreamBindConfig", Value::Null),
            (
                "/loadAssignment/endpoints/0/lbEndpoints/0/endpoint/address/socketAddress",
                json!({"address": "127.0.0.1", "portValue": 8080}),
            ),
        ],
        "localhost",
    );
}

#[test]
fn a_rule_shapes_the_cluster() {
    let cases: &[Case<'_>] = &[
        (
            "no policy",
            "exportTo: ['*']",
            &[
                ("/lbPolicy", json!("LEAST_REQUEST")),
                ("/type", json!("EDS")),
                ("/edsClusterConfig/serviceName", json!(WEB)),
                ("/connectTimeout", json!("10s")),
                ("/transportSocketMatches/0/name", json!("tlsMode-istio")),
                ("/transportSocketMatches/1/name", json!("tlsMode-disabled")),
                (
                    "/metadata/filterMetadata/istio/config",
                    json!("/apis/networking.istio.io/v1/namespaces/default/destination-rule/web"),
                ),
                ("/circuitBreakers/thresholds/0/maxRetries", json!(u32::MAX)),
            ],
        ),
        ("random", "trafficPolicy: {loadBalancer: {simple: RANDOM}}", &[("/lbPolicy", json!("RANDOM"))]),
        (
            "round robin, warming up",
            "trafficPolicy: {loadBalancer: {simple: ROUND_ROBIN, warmupDurationSecs: 30s}}",
            // Round robin is what Envoy does unless it is told.
            &[
                ("/lbPolicy", Value::Null),
                ("/roundRobinLbConfig/slowStartConfig", json!({"slowStartWindow": "30s"})),
            ],
        ),
        (
            "warming up with defaults",
            "trafficPolicy: {loadBalancer: {warmup: {duration: 5s}}}",
            &[(
                "/leastRequestLbConfig/slowStartConfig",
                json!({"slowStartWindow": "5s", "aggression": {"defaultValue": 1.0, "runtimeKey": "("}, "minWeightPercent": {"value": 10.0}}),
            )],
        ),
        (
            "consistent hash, old size",
            "trafficPolicy: {loadBalancer: {consistentHash: {useSourceIp: true}}}",
            &[("/lbPolicy", json!("RING_HASH")), ("/ringHashLbConfig/minimumRingSize", json!("1024"))],
        ),
        (
            "ring hash",
            "trafficPolicy: {loadBalancer: {consistentHash: {httpHeaderName: x, ringHash: {minimumRingSize: 7}}}}",
            &[("/lbPolicy", json!("RING_HASH")), ("/ringHashLbConfig/minimumRingSize", json!("7"))],
        ),
        (
            "maglev",
            "trafficPolicy: {loadBalancer: {consistentHash: {httpHeaderName: x, maglev: {tableSize: 99}}}}",
            &[("/lbPolicy", json!("MAGLEV")), ("/maglevLbConfig/tableSize", json!("99"))],
        ),
        (
            "passthrough",
            "trafficPolicy: {loadBalancer: {simple: PASSTHROUGH}}",
            &[
                ("/type", json!("ORIGINAL_DST")),
                ("/lbPolicy", json!("CLUSTER_PROVIDED")),
                ("/edsClusterConfig", Value::Null),
                // All hosts have a sidecar, and which one it will be is not known here.
                ("/transportSocket/name", json!("envoy.transport_sockets.tls")),
                ("/transportSocketMatches", Value::Null),
            ],
        ),
        (
            "limits",
            "trafficPolicy: {connectionPool: {tcp: {maxConnections: 1, connectTimeout: 2s}, http: {http1MaxPendingRequests: 3, http2MaxRequests: 4, maxRetries: 5}}}",
            &[
                (
                    "/circuitBreakers/thresholds/0",
                    json!({"maxConnections": 1, "maxPendingRequests": 3, "maxRequests": 4, "maxRetries": 5}),
                ),
                ("/connectTimeout", json!("2s")),
            ],
        ),
        (
            "lives of connections",
            "trafficPolicy: {connectionPool: {tcp: {maxConnectionDuration: 9s, idleTimeout: 1s}, http: {idleTimeout: 8s, maxRequestsPerConnection: 7}}}",
            &[
                (
                    "$HTTP/commonHttpProtocolOptions",
                    json!({"idleTimeout": "8s", "maxConnectionDuration": "9s", "maxRequestsPerConnection": 7}),
                ),
                ("$HTTP/explicitHttpConfig", json!({"httpProtocolOptions": {}})),
            ],
        ),
        (
            "keepalive",
            "trafficPolicy: {connectionPool: {tcp: {tcpKeepalive: {probes: 2, time: 7200s, interval: 75s}}}}",
            &[(
                "/upstreamConnectionOptions/tcpKeepalive",
                json!({"keepaliveProbes": 2, "keepaliveTime": 7200, "keepaliveInterval": 75}),
            )],
        ),
        (
            "upgrade",
            "trafficPolicy: {connectionPool: {http: {h2UpgradePolicy: UPGRADE, maxConcurrentStreams: 6, http2KeepAlive: {interval: 3s, timeout: 1s}}}}",
            &[
                (
                    "$HTTP/explicitHttpConfig/http2ProtocolOptions",
                    json!({"maxConcurrentStreams": 6, "connectionKeepalive": {"interval": "3s", "timeout": "1s"}}),
                ),
                (
                    "/transportSocketMatches/0/transportSocket/typedConfig/commonTlsContext/alpnProtocols",
                    json!(["istio", "h2"]),
                ),
            ],
        ),
        (
            "the client's protocol goes before an upgrade",
            "trafficPolicy: {connectionPool: {http: {h2UpgradePolicy: UPGRADE, useClientProtocol: true}}}",
            &[(
                "$HTTP/useDownstreamProtocolConfig",
                json!({"httpProtocolOptions": {}, "http2ProtocolOptions": {}}),
            )],
        ),
        (
            "outlier detection",
            "trafficPolicy: {outlierDetection: {consecutive5xxErrors: 7, consecutiveGatewayErrors: 0, interval: 1s, baseEjectionTime: 2s, maxEjectionPercent: 50, minHealthPercent: 10}}",
            &[
                (
                    "/outlierDetection",
                    json!({
                        "consecutive5xx": 7, "enforcingConsecutive5xx": 100,
                        "consecutiveGatewayFailure": 0, "enforcingConsecutiveGatewayFailure": 0,
                        "interval": "1s", "baseEjectionTime": "2s", "maxEjectionPercent": 50, "enforcingSuccessRate": 0,
                    }),
                ),
                ("/commonLbConfig/healthyPanicThreshold", json!({"value": 10.0})),
            ],
        ),
        (
            "outliers by origin",
            "trafficPolicy: {outlierDetection: {splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3}}",
            &[(
                "/outlierDetection",
                json!({
                    "splitExternalLocalOriginErrors": true, "consecutiveLocalOriginFailure": 3,
                    "enforcingConsecutiveLocalOriginFailure": 100, "enforcingLocalOriginSuccessRate": 0, "enforcingSuccessRate": 0,
                }),
            )],
        ),
        (
            "retry budget",
            "trafficPolicy: {retryBudget: {percent: 30, budgetInterval: 10s}}",
            &[(
                "/circuitBreakers/thresholds/0/retryBudget",
                json!({"budgetPercent": {"value": 30.0}, "budgetInterval": "10s", "minRetryConcurrency": 3}),
            )],
        ),
        (
            "proxy protocol",
            "trafficPolicy: {tls: {mode: DISABLE}, proxyProtocol: {version: V2}}",
            &[
                ("/transportSocket/name", json!("envoy.transport_sockets.upstream_proxy_protocol")),
                ("/transportSocket/typedConfig/config/version", json!("V2")),
                (
                    "/transportSocket/typedConfig/transportSocket/name",
                    json!("envoy.transport_sockets.raw_buffer"),
                ),
            ],
        ),
        (
            "locality weights",
            "trafficPolicy: {loadBalancer: {localityLbSetting: {distribute: [{from: '*', to: {region1: 100}}]}}}",
            &[("/commonLbConfig/localityWeightedLbConfig", json!({}))],
        ),
        (
            "failover without outlier detection never happens",
            "trafficPolicy: {loadBalancer: {localityLbSetting: {failover: [{from: region1, to: region2}]}}}",
            &[("/commonLbConfig/localityWeightedLbConfig", Value::Null)],
        ),
        (
            "zone aware",
            "trafficPolicy: {loadBalancer: {zoneAwareLbSetting: {enabled: false, minClusterSize: 4}}}",
            &[("/commonLbConfig/zoneAwareLbConfig", json!({"routingEnabled": {}, "minClusterSize": "4"}))],
        ),
    ];
    for (about, rule, expected) in cases {
        let mut mesh = Mesh::new(&(mk_web() + &mk_rule(rule)));
        expect(&mesh.clusters(&mk_sidecar("10.1.9.1"))[WEB], expected, about);
    }
}

#[test]
fn a_rule_chooses_encryption() {
    let cases: &[Case<'_>] = &[
        (
            "disabled",
            "trafficPolicy: {tls: {mode: DISABLE}}",
            &[("/transportSocket", Value::Null), ("/transportSocketMatches", Value::Null)],
        ),
        (
            "the mesh's own, with the accounts of the endpoints",
            "trafficPolicy: {tls: {mode: ISTIO_MUTUAL}}",
            &[
                ("/transportSocketMatches", Value::Null),
                ("/transportSocket/typedConfig/sni", json!("outbound_.80_._.web.default.svc.cluster.local")),
                ("$TLS/alpnProtocols", json!(["istio"])),
                ("$TLS/tlsCertificateSdsSecretConfigs/0/name", json!("default")),
                (
                    "$TLS/combinedValidationContext/defaultValidationContext/matchSubjectAltNames",
                    json!([{"exact": "spiffe://cluster.local/ns/default/sa/web"}]),
                ),
            ],
        ),
        (
            "the mesh's own, with names of the user",
            "trafficPolicy: {tls: {mode: ISTIO_MUTUAL, sni: other, subjectAltNames: [a, b]}}",
            &[
                ("/transportSocket/typedConfig/sni", json!("other")),
                (
                    "$TLS/combinedValidationContext/defaultValidationContext/matchSubjectAltNames",
                    json!([{"exact": "a"}, {"exact": "b"}]),
                ),
            ],
        ),
        (
            "simple",
            "trafficPolicy: {tls: {mode: SIMPLE, sni: other}}",
            &[
                (
                    "$TLS/combinedValidationContext/validationContextSdsSecretConfig/name",
                    json!("file-root:system"),
                ),
                ("$HTTP", Value::Null),
                ("/metadata/filterMetadata/istio/alpn_override", json!("false")),
            ],
        ),
        (
            "simple without a name takes it from the request",
            "trafficPolicy: {tls: {mode: SIMPLE}}",
            &[("$HTTP/upstreamHttpProtocolOptions", json!({"autoSni": true, "autoSanValidation": true}))],
        ),
        (
            "unchecked",
            "trafficPolicy: {tls: {mode: SIMPLE, insecureSkipVerify: true}}",
            &[
                ("$TLS/validationContext", json!({})),
                ("$HTTP/upstreamHttpProtocolOptions", json!({"autoSni": true})),
            ],
        ),
        (
            "mutual with files",
            "trafficPolicy: {tls: {mode: MUTUAL, sni: s, clientCertificate: /c, privateKey: /k, caCertificates: /r, caCrl: /l}}",
            &[
                ("$TLS/tlsCertificateSdsSecretConfigs/0/name", json!("file-cert:/c~/k")),
                (
                    "$TLS/combinedValidationContext/validationContextSdsSecretConfig/name",
                    json!("file-root:/r"),
                ),
                ("$TLS/combinedValidationContext/defaultValidationContext/crl/filename", json!("/l")),
            ],
        ),
        (
            "a sidecar gets no secret by a rule for all",
            "trafficPolicy: {tls: {mode: SIMPLE, credentialName: secret}}",
            &[("/transportSocket", Value::Null)],
        ),
        (
            "a port's settings stand alone",
            "trafficPolicy: {loadBalancer: {simple: RANDOM}, portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]}",
            &[("/lbPolicy", json!("LEAST_REQUEST")), ("/transportSocketMatches", Value::Null)],
        ),
    ];
    for (about, rule, expected) in cases {
        let mut mesh = Mesh::new(&(mk_web() + &mk_rule(rule)));
        expect(&mesh.clusters(&mk_sidecar("10.1.9.1"))[WEB], expected, about);
    }
}

#[test]
fn a_gateway_fetches_the_secret_that_a_rule_names() {
    let rule = "trafficPolicy: {tls: {mode: MUTUAL, sni: s, credentialName: secret}}";
    let mut mesh = Mesh::new(&(mk_web() + &mk_rule(rule)));
    let clusters = mesh.clusters(&mk_proxy("router", "10.1.9.1", &json!({})));
    expect(
        &clusters[WEB],
        &[
            ("$TLS/tlsCertificateSdsSecretConfigs/0/name", json!("kubernetes://secret")),
            (
                "$TLS/combinedValidationContext/validationContextSdsSecretConfig/name",
                json!("kubernetes://secret-cacert"),
            ),
        ],
        "credential",
    );
}

#[test]
fn a_subset_says_what_it_says_over_its_rule() {
    let rule = "trafficPolicy: {loadBalancer: {simple: RANDOM}, connectionPool: {tcp: {maxConnections: 9}}}, \
                subsets: [{name: v1, labels: {version: v1}, trafficPolicy: {connectionPool: {http: {maxRetries: 1}}}}]";
    let mut mesh = Mesh::new(&(mk_web() + &mk_rule(rule)));
    let clusters = mesh.clusters(&mk_sidecar("10.1.9.1"));
    expect(
        &clusters[WEB_V1],
        &[
            ("/lbPolicy", json!("RANDOM")),
            ("/circuitBreakers/thresholds/0/maxRetries", json!(1)),
            ("/circuitBreakers/thresholds/0/maxConnections", json!(u32::MAX)),
            ("/metadata/filterMetadata/istio/subset", json!("v1")),
            (
                "/transportSocketMatches/0/transportSocket/typedConfig/sni",
                json!("outbound_.80_.v1_.web.default.svc.cluster.local"),
            ),
        ],
        "subset",
    );
    expect(&clusters[WEB], &[("/circuitBreakers/thresholds/0/maxConnections", json!(9))], "whole");
}

#[test]
fn the_mesh_configuration_reaches_clusters() {
    let cases: &[(&str, &[(&str, Value)])] = &[
        ("enableAutoMtls: false", &[("/transportSocketMatches", Value::Null)]),
        ("connectTimeout: 3s", &[("/connectTimeout", json!("3s"))]),
        ("h2UpgradePolicy: UPGRADE", &[("$HTTP/explicitHttpConfig/http2ProtocolOptions", json!({}))]),
        (
            "outboundClusterStatName: '%SERVICE%_%SERVICE_PORT%'",
            &[("/altStatName", json!("web.default_80;"))],
        ),
        (
            "trustDomainAliases: [older]",
            &[(
                "/transportSocketMatches/0/transportSocket/typedConfig/commonTlsContext/combinedValidationContext/defaultValidationContext/matchSubjectAltNames",
                json!([{"exact": "spiffe://cluster.local/ns/default/sa/web"}, {"exact": "spiffe://older/ns/default/sa/web"}]),
            )],
        ),
        (
            "defaultTrafficPolicy: {connectionPool: {tcp: {maxConnections: 5}}, outlierDetection: {consecutive5xxErrors: 1}}",
            &[
                ("/circuitBreakers/thresholds/0/maxConnections", json!(5)),
                ("/outlierDetection/consecutive5xx", json!(1)),
            ],
        ),
        (
            "tcpKeepalive: {time: 9s}",
            &[("/upstreamConnectionOptions/tcpKeepalive", json!({"keepaliveTime": 9}))],
        ),
        (
            "defaultConfig: {proxyHeaders: {preserveHttp1HeaderCase: true}}",
            &[(
                "$HTTP/explicitHttpConfig/httpProtocolOptions/headerKeyFormat/statefulFormatter/name",
                json!("preserve_case"),
            )],
        ),
    ];
    for (config, expected) in cases {
        let mut mesh = Mesh::with(&mk_web(), config);
        expect(&mesh.clusters(&mk_sidecar("10.1.9.1"))[WEB], expected, config);
    }
}

#[test]
fn clusters_are_counted_under_the_names_that_the_mesh_wants() {
    let entry = "
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: far, namespace: default}
spec: {hosts: [far.example.com], resolution: STATIC, endpoints: [{address: 192.0.2.1}], ports: [{number: 80, name: http, protocol: HTTP}]}
";
    for (pattern, own, foreign, inbound) in [
        ("%SERVICE%", "web.default;", "far.example.com;", "web.default;"),
        ("%SERVICE_NAME%", "web;", "far.example.com;", "web;"),
        (
            "%SERVICE_FQDN%_%SERVICE_PORT%",
            "web.default.svc.cluster.local_80;",
            "far.example.com_80;",
            "web.default.svc.cluster.local_80;",
        ),
        ("%SERVICE_PORT_NAME%.%SUBSET_NAME%.%TARGET_PORT%", "http..0;", "http..0;", "http..8080;"),
        ("%OTHER%", "%OTHER%;", "%OTHER%;", "%OTHER%;"),
    ] {
        let config = format!("{{outboundClusterStatName: '{pattern}', inboundClusterStatName: '{pattern}'}}");
        let clusters =
            Mesh::with(&(mk_web() + entry), &config).clusters(&support::mk_pod("web-0", "10.1.0.0"));
        for (name, expected) in
            [(WEB, own), ("outbound|80||far.example.com", foreign), ("inbound|8080||", inbound)]
        {
            expect(&clusters[name], &[("/altStatName", json!(expected))], pattern);
        }
    }
}

#[test]
fn the_port_s_protocol_is_spoken() {
    let mut mesh = Mesh::new(&mk_web());
    let clusters = mesh.clusters(&mk_sidecar("10.1.9.1"));
    let of = |port: u32| &clusters[&format!("outbound|{port}||web.default.svc.cluster.local")];
    expect(of(80), &[("$HTTP", Value::Null)], "http");
    expect(of(81), &[("$HTTP/explicitHttpConfig/http2ProtocolOptions", json!({}))], "grpc");
    expect(of(82), &[("$HTTP", Value::Null)], "tcp");
    expect(of(83), &[("$HTTP/useDownstreamProtocolConfig/http2ProtocolOptions", json!({}))], "unknown");
}

#[test]
fn istio_s_own_proxies_exchange_metadata() {
    let mut mesh = Mesh::new(&mk_web());
    mesh.options.filters = Filters::Istio;
    let clusters = mesh.clusters(&mk_sidecar("10.1.9.1"));
    for (name, filter) in [
        (WEB, json!("istio.metadata_exchange")),
        ("PassthroughCluster", json!("istio.metadata_exchange")),
        ("InboundPassthroughCluster", Value::Null),
    ] {
        expect(&clusters[name], &[("/filters/0/name", filter)], name);
    }
    let alpn = "/transportSocketMatches/0/transportSocket/typedConfig/commonTlsContext/alpnProtocols";
    expect(&clusters[WEB], &[(alpn, json!(["istio-peer-exchange", "istio"]))], "alpn");
}

#[test]
fn certificates_on_the_proxy_s_disk_go_before_the_mesh_s() {
    let mut mesh = Mesh::new(&mk_web());
    let metadata =
        json!({"TLS_CLIENT_CERT_CHAIN": "/c", "TLS_CLIENT_KEY": "/k", "TLS_CLIENT_ROOT_CERT": "/r"});
    let clusters = mesh.clusters(&mk_proxy("sidecar", "10.1.9.1", &metadata));
    let common = "/transportSocketMatches/0/transportSocket/typedConfig/commonTlsContext";
    expect(
        &clusters[WEB],
        &[
            (&format!("{common}/tlsCertificateSdsSecretConfigs/0/name"), json!("file-cert:/c~/k")),
            (
                &format!("{common}/combinedValidationContext/validationContextSdsSecretConfig/name"),
                json!("file-root:/r"),
            ),
        ],
        "metadata",
    );
}

#[test]
fn an_ipv6_proxy_looks_up_ipv6_and_binds_to_it() {
    let entry = "
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: far, namespace: default}
spec: {hosts: [far.example.com], location: MESH_EXTERNAL, resolution: DNS, ports: [{number: 80, name: http, protocol: HTTP}]}
";
    for (address, family, bind) in [("10.1.9.1", "V4_ONLY", "127.0.0.6"), ("fd00::1", "V6_ONLY", "::6")] {
        let clusters = Mesh::new(entry).clusters(&mk_sidecar(address));
        let far = &clusters["outbound|80||far.example.com"];
        let host = "/loadAssignment/endpoints/0/lbEndpoints/0/endpoint/address/socketAddress/address";
        expect(
            far,
            &[
                ("/type", json!("STRICT_DNS")),
                ("/dnsLookupFamily", json!(family)),
                (host, json!("far.example.com")),
            ],
            address,
        );
        let source = "/upstreamBindConfig/sourceAddress/address";
        expect(&clusters["InboundPassthroughCluster"], &[(source, json!(bind))], address);
    }
}

#[test]
fn bytes_are_the_same_each_time() {
    let rule = mk_rule("trafficPolicy: {tls: {mode: SIMPLE}}, subsets: [{name: v1, labels: {version: v1}}]");
    let built = || Mesh::new(&(mk_web() + &rule)).cluster_resources(&mk_sidecar("10.1.9.1"));
    let (first, second) = (built(), built());
    assert_eq!(first.len(), second.len());
    for (one, other) in first.iter().zip(&second) {
        assert_eq!(one.body(), other.body(), "{}", one.name());
    }
}

#[test]
fn what_did_not_change_is_not_built_again() {
    let mut mesh = Mesh::new(&mk_web());
    let proxy = mk_sidecar("10.1.9.1");
    let before = mesh.cluster_resources(&proxy);
    mesh.apply(
        "
apiVersion: v1
kind: Service
metadata: {name: other, namespace: default, creationTimestamp: '2024-01-02T00:00:00Z'}
spec: {clusterIP: 10.0.0.2, ports: [{name: http, port: 80}]}
",
    );
    let after = mesh.cluster_resources(&proxy);
    assert_eq!(after.len(), before.len() + 1);
    for old in &before {
        assert!(after.iter().any(|new| Arc::ptr_eq(new, old)), "{} was built again", old.name());
    }
}

#[test]
fn clusters_do_not_depend_on_where_a_client_runs() {
    let mut mesh = Mesh::new(&(mk_web() + &mk_rule("trafficPolicy: {outlierDetection: {interval: 1s}}")));
    let (_, reads) = mesh.look(&mk_sidecar("10.1.9.1"), clusters::set);
    let asked = format!("{reads:?}");
    for question in ["Locality,", "Addresses,", "Node,", "Labels,", "Id,"] {
        assert!(!asked.contains(&format!("({question}")), "{question} in {asked}");
    }
}

#[test]
fn hostile_numbers_and_names_build_something_or_nothing() {
    let hostile = "
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: default}
spec:
  host: web.default.svc.cluster.local
  trafficPolicy:
    connectionPool: {tcp: {maxConnections: -1, connectTimeout: -5s, tcpKeepalive: {time: -1s}}, http: {maxRequestsPerConnection: -2, maxConcurrentStreams: -2}}
    outlierDetection: {maxEjectionPercent: 900, minHealthPercent: 900, interval: -1s}
    loadBalancer: {localityLbSetting: {distribute: [{from: '///', to: {'': 4294967295, '*': 4294967295}}], failoverPriority: ['=', '']}}
    tls: {mode: MUTUAL}
    portLevelSettings: [{}, {port: {number: 4294967295}}]
  subsets: [{}, {name: ''}, {name: 'a|b|c'}, {name: v1}, {name: v1}]
";
    let mut mesh = Mesh::new(&format!("{}\n---\n{hostile}", mk_web()));
    let proxy = mk_sidecar("10.1.9.1");
    let clusters = mesh.clusters(&proxy);
    expect(
        &clusters[WEB],
        &[
            ("/connectTimeout", Value::Null),
            ("/outlierDetection/maxEjectionPercent", json!(100)),
            ("/commonLbConfig/healthyPanicThreshold", json!({"value": 100.0})),
            ("/circuitBreakers/thresholds/0/maxConnections", json!(u32::MAX)),
        ],
        "hostile",
    );
    for name in clusters.keys() {
        mesh.endpoints(&proxy, name);
    }
    for name in [
        "",
        "|",
        "outbound",
        "outbound|x||y",
        "outbound|99999999999||web",
        "inbound|80||",
        "outbound|80|zz|web.default.svc.cluster.local",
    ] {
        assert!(mesh.endpoints(&proxy, name).is_none(), "{name}");
    }
}

#[test]
fn another_mesh_configuration_is_another_cluster() {
    let mut mesh = Mesh::new(&mk_web());
    let proxy = mk_sidecar("10.1.9.1");
    let before = mesh.clusters(&proxy);
    let mut settings = Settings::default();
    let config = support::documents("connectTimeout: 1s").remove(0);
    settings.mesh = Arc::new(mizzen_api::mesh::apply_mesh_config(&settings.mesh, &config).unwrap());
    mesh.store.apply(Event::Settings(Box::new(settings)));
    let after = mesh.clusters(&proxy);
    assert_eq!(before[WEB]["connectTimeout"], "10s");
    assert_eq!(after[WEB]["connectTimeout"], "1s");
}
