//! What people have made of Istio's kinds, and would lose with them: as long as there is any of it, the mesh stays.

use super::{MESH, MODULE};
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::Value;

/// All that go with the mesh: group, kind and plural.
pub(super) const KINDS: [(&str, &str, &str); 15] = [
    ("extensions.istio.io", "TrafficExtension", "trafficextensions"),
    ("extensions.istio.io", "WasmPlugin", "wasmplugins"),
    ("networking.istio.io", "DestinationRule", "destinationrules"),
    ("networking.istio.io", "EnvoyFilter", "envoyfilters"),
    ("networking.istio.io", "Gateway", "gateways"),
    ("networking.istio.io", "ProxyConfig", "proxyconfigs"),
    ("networking.istio.io", "ServiceEntry", "serviceentries"),
    ("networking.istio.io", "Sidecar", "sidecars"),
    ("networking.istio.io", "VirtualService", "virtualservices"),
    ("networking.istio.io", "WorkloadEntry", "workloadentries"),
    ("networking.istio.io", "WorkloadGroup", "workloadgroups"),
    ("security.istio.io", "AuthorizationPolicy", "authorizationpolicies"),
    ("security.istio.io", "PeerAuthentication", "peerauthentications"),
    ("security.istio.io", "RequestAuthentication", "requestauthentications"),
    ("telemetry.istio.io", "Telemetry", "telemetries"),
];

const NAMED: usize = 5;

/// A kind that is not there has no objects.
pub(super) async fn blockers(cluster: &Cluster) -> Result<Vec<ObjectId>, Refused> {
    let mut found = Vec::new();
    for (group, kind, _) in KINDS {
        let objects = cluster.list(group, kind, "").await?;
        found.extend(
            objects
                .iter()
                .filter(|object| !is_ours(kind, object))
                .filter_map(|object| ObjectId::of(object).ok()),
        );
    }
    Ok(found)
}

/// Whole names: one that only contains such a name is somebody's.
fn is_ours(kind: &str, object: &Value) -> bool {
    let metadata = &object["metadata"];
    if metadata["labels"].get(MODULE).is_some_and(|module| module == "istio") {
        return true;
    }
    let name = metadata["name"].as_str().unwrap_or_default();
    let known = match kind {
        "PeerAuthentication" => name == "default",
        "VirtualService" => name == "istio-healthz",
        "EnvoyFilter" => {
            let stats =
                ["stats-filter-", "tcp-stats-filter-"].into_iter().find_map(|start| name.strip_prefix(start));
            matches!(name, "kyma-referer" | "proxy-protocol") || stats.is_some_and(is_minor_version)
        }
        _ => false,
    };
    known && metadata["namespace"] == MESH
}

/// `1.30`
fn is_minor_version(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    bytes.len() == 4 && digit(0) && bytes[1] == b'.' && digit(2) && digit(3)
}

/// Who they are, so that nobody has to look into a log.
pub(super) fn sentence(blockers: &[ObjectId]) -> String {
    let named: Vec<String> = blockers.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match blockers.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "There are Istio resources that block deletion: {}{more}. Delete them, then Istio goes",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_install::{Input, generate, source::BuiltIn};
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_that_the_charts_define_is_looked_at() {
        let generated = generate(&Input::default(), &BuiltIn).unwrap();
        let objects = generated.components.iter().flat_map(|component| &component.objects);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let defined: BTreeSet<_> = objects
            .map(mizzen_install::Manifest::object)
            .filter(|object| object["kind"] == "CustomResourceDefinition")
            .map(|object| &object["spec"])
            .map(|spec| (text(&spec["group"]), text(&spec["names"]["kind"]), text(&spec["names"]["plural"])))
            .collect();
        let known: BTreeSet<_> = KINDS
            .iter()
            .map(|(group, kind, plural)| ((*group).to_owned(), (*kind).to_owned(), (*plural).to_owned()))
            .collect();
        assert_eq!(defined, known);
    }

    #[test]
    fn only_what_the_module_made_does_not_count() {
        let ours = |kind: &str, namespace: &str, name: &str| {
            is_ours(kind, &json!({ "metadata": { "name": name, "namespace": namespace } }))
        };
        assert!(ours("PeerAuthentication", "istio-system", "default"));
        assert!(!ours("PeerAuthentication", "istio-system-x", "default"));
        assert!(!ours("PeerAuthentication", "istio-system", "my-default"));
        assert!(!ours("AuthorizationPolicy", "istio-system", "default"));
        assert!(ours("VirtualService", "istio-system", "istio-healthz"));
        for name in ["stats-filter-1.30", "tcp-stats-filter-1.13", "kyma-referer", "proxy-protocol"] {
            assert!(ours("EnvoyFilter", "istio-system", name), "{name}");
        }
        for name in ["stats-filter-1.3", "stats-filter-1.300", "my-stats-filter-1.30", "proxy-protocol-2"] {
            assert!(!ours("EnvoyFilter", "istio-system", name), "{name}");
        }
        let labelled =
            json!({ "metadata": { "name": "a", "namespace": "b", "labels": { MODULE: "istio" } } });
        assert!(is_ours("Gateway", &labelled));
        let other = json!({ "metadata": { "name": "a", "namespace": "b", "labels": { MODULE: "other" } } });
        assert!(!is_ours("Gateway", &other));
    }

    #[test]
    fn blockers_are_named_up_to_a_number() {
        let id = |number: usize| ObjectId {
            group: "networking.istio.io".into(),
            kind: "Gateway".into(),
            namespace: "n".into(),
            name: format!("g{number}"),
        };
        let all: Vec<ObjectId> = (0..7).map(id).collect();
        let told = sentence(&all);
        assert!(told.starts_with("There are Istio resources that block deletion: Gateway n/g0, "), "{told}");
        assert!(told.contains("Gateway n/g4 and 2 more."), "{told}");
    }
}
