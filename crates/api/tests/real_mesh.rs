//! The mesh's own configuration is what Istio's code makes of the same documents: read alone, and over the defaults.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod common;

use common::{
    generate::{self, Random},
    paths, plain,
};
use mizzen_api::{mesh, proto::descriptors};
use mizzen_testkit::{Oracle, needs};
use prost_reflect::MessageDescriptor;
use serde_json::{Value, json};

fn message(kind: &str) -> MessageDescriptor {
    descriptors().get_message_by_name(&format!("istio.mesh.v1alpha1.{kind}")).unwrap()
}

/// A document over Istio's defaults, by us.
fn applied(kind: &str, document: &Value) -> Result<Value, String> {
    let json = match kind {
        "MeshConfig" => mesh::apply_mesh_config(&mesh::mesh_config(), document).map(serde_json::to_value),
        "ProxyConfig" => mesh::apply_proxy_config(&mesh::proxy_config(), document).map(serde_json::to_value),
        _ => mesh::read_mesh_networks(document).map(serde_json::to_value),
    };
    json.map(Result::unwrap).map_err(|error| error.to_string())
}

/// Compares every document that Istio takes; how many it did not take for their values.
fn compare(kind: &str, documents: &[Value]) -> usize {
    let objects: Vec<Value> = documents.iter().map(|spec| json!({"kind": kind, "spec": spec})).collect();
    let theirs = Oracle::shared().encode(&objects).unwrap();
    let mut refused = 0;
    for (document, theirs) in documents.iter().zip(theirs) {
        assert_eq!(theirs.error, None, "{document}");
        let ours = applied(kind, document).unwrap_or_else(|error| panic!("{error}: {document}"));
        match theirs.applied {
            Some(theirs) => {
                let theirs = plain::spec(&message(kind), &theirs);
                assert_eq!(plain::spec(&message(kind), &ours), theirs, "{document}");
            }
            None => refused += 1,
        }
    }
    refused
}

#[test]
fn the_defaults_are_istio_s() {
    needs!(Oracle::NEEDS);
    let defaults = Oracle::shared().defaults().unwrap();
    assert_eq!(serde_json::to_value(mesh::mesh_config()).unwrap(), defaults.mesh_config);
    assert_eq!(serde_json::to_value(mesh::proxy_config()).unwrap(), defaults.proxy_config);
    assert_eq!(applied("MeshNetworks", &json!({})).unwrap(), defaults.mesh_networks);
}

#[test]
fn what_is_merged_and_what_is_replaced_is_as_istio_does_it() {
    needs!(Oracle::NEEDS);
    let meshes = [
        json!(null),
        json!({}),
        json!({"nobody": {"knows": 1}}),
        json!({"enableTracing": false, "ingressClass": "", "rootNamespace": null, "connect_timeout": "1m"}),
        json!({"connect_timeout": "1m", "connectTimeout": "2s"}),
        json!({"connect_timeout": "1m", "connectTimeout": null}),
        json!({"defaultServiceExportTo": [], "defaultVirtualServiceExportTo": ["."]}),
        json!({"outboundTrafficPolicy": {}, "localityLbSetting": {"distribute": [{"from": "a", "to": {"b": 100}}]}}),
        json!({"localityLbSetting": null, "enableAutoMtls": false, "dnsRefreshRate": "0s"}),
        json!({"trustDomain": "td", "trustDomainAliases": ["z", "a", "z"]}),
        json!({"extensionProviders": []}),
        json!({"extensionProviders": [{"name": "envoy", "prometheus": {}}, {"name": "x"}, {"name": "x", "stackdriver": {}}]}),
        json!({"defaultProviders": {"metrics": ["a"], "accessLogging": []}}),
        json!({"default_providers": {"metrics": ["a"]}, "default_config": {"statusPort": 5}}),
        json!({"defaultConfig": {}}),
        json!({"defaultConfig": {"tracingServiceName": "CANONICAL_NAME_ONLY", "status_port": 5}}),
        json!({"defaultConfig": {"serviceCluster": "mine", "concurrency": 0, "holdApplicationUntilProxyStarts": false}}),
        json!({"defaultConfig": {"proxyMetadata": {"A": "1"}, "proxyHeaders": {"server": {"disabled": true}}}}),
        json!({"defaultConfig": {"tracing": {"zipkin": {"address": "zipkin.a.svc:9411"}, "sampling": 10}}}),
        json!({"defaultConfig": {"drainDuration": "1m0s", "terminationDrainDuration": null, "proxyStatsMatcher": {"inclusionRegexps": [".*"]}}}),
    ];
    assert_eq!(compare("MeshConfig", &meshes), 0);
    let proxies = [
        json!({"proxyMetadata": {}, "proxyHeaders": {}}),
        json!({"runtimeValues": {"a": "b"}, "image": {"imageType": "distroless"}}),
        json!({"tracingServiceName": 1, "drainDuration": "0s", "binaryPath": ""}),
    ];
    assert_eq!(compare("ProxyConfig", &proxies), 0);
    let networks = [
        json!(null),
        json!({"networks": {}}),
        json!({"networks": {"a": {"endpoints": [{"fromRegistry": "r"}, {"fromCidr": "10.0.0.0/8"}]},
                            "b": {"gateways": [{"address": "1.1.1.1", "port": 15443, "locality": "x"}]}, "c": null}}),
    ];
    assert_eq!(compare("MeshNetworks", &networks), 0);
    println!("{} documents", meshes.len() + proxies.len() + networks.len());
}

/// Fields of which generated values are hardly ever good: Istio hands out no MeshConfig that it refuses.
const VALIDATED: &[&str] = &[
    "connectTimeout",
    "defaultTrafficPolicy",
    "localityLbSetting",
    "meshMTLS",
    "protocolDetectionTimeout",
    "proxyListenPort",
    "serviceSettings",
    "trustDomain",
    "trustDomainAliases",
    "zoneAwareLbSetting",
];

const VALIDATED_OF_PROXY: &[&str] = &[
    "connectionSettings",
    "controlPlaneAuthPolicy",
    "discoveryAddress",
    "drainDuration",
    "envoyAccessLogService",
    "envoyMetricsService",
    "envoyMetricsServiceAddress",
    "privateKeyProvider",
    "proxyAdminPort",
    "statsdUdpAddress",
    "statusPort",
    "tracing",
];

fn generated(kind: &str) -> Vec<Value> {
    let message = message(kind);
    let along = |(round, path): (usize, &paths::FieldPath)| {
        generate::spec(&message, path, &mut Random::new(round as u64), &mut Vec::new())
    };
    paths::all(&message).iter().enumerate().map(along).collect()
}

/// Fields that are more than what the document says of them.
const MERGED: &[&str] = &["defaultConfig", "defaultProviders", "extensionProviders", "trustDomainAliases"];

#[test]
fn a_document_along_every_field_path_is_read_as_istio_reads_it() {
    needs!(Oracle::NEEDS);
    for kind in ["MeshConfig", "ProxyConfig", "MeshNetworks"] {
        let (documents, message) = (generated(kind), message(kind));
        let objects: Vec<Value> = documents.iter().map(|spec| json!({"kind": kind, "spec": spec})).collect();
        for (document, theirs) in documents.iter().zip(Oracle::shared().encode(&objects).unwrap()) {
            let ours = applied(kind, document).unwrap_or_else(|error| panic!("{error}: {document}"));
            let ours = plain::spec(&message, &ours);
            let theirs = theirs.spec.unwrap_or_else(|| panic!("{:?}: {document}", theirs.error));
            let theirs = plain::spec(&message, &theirs);
            assert_eq!(theirs, *document);
            let fields = document.as_object().unwrap().keys();
            for name in fields.filter(|name| !MERGED.contains(&name.as_str())) {
                assert_eq!(ours[name], theirs[name], "{name} of {document}");
            }
        }
        println!("{kind}: {} field paths", documents.len());
    }
}

#[test]
fn a_document_along_every_field_path_is_laid_over_the_defaults_as_istio_does_it() {
    needs!(Oracle::NEEDS);
    let proxies = generated("ProxyConfig");
    assert_eq!(compare("ProxyConfig", &proxies), 0);
    let mut meshes = generated("MeshConfig");
    for mesh in &mut meshes {
        let mesh = mesh.as_object_mut().unwrap();
        mesh.retain(|name, _| !VALIDATED.contains(&name.as_str()));
        if let Some(proxy) = mesh.get_mut("defaultConfig").and_then(Value::as_object_mut) {
            proxy.retain(|name, _| !VALIDATED_OF_PROXY.contains(&name.as_str()));
        }
    }
    let refused = compare("MeshConfig", &meshes);
    println!(
        "{} ProxyConfigs, {} MeshConfigs, of which Istio refused {refused}",
        proxies.len(),
        meshes.len()
    );
    assert_eq!(refused, 0);
}
