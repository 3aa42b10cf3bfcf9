//! The generated files, and what is read out of one.

use std::sync::OnceLock;

use serde_json::Value;

use super::{Crd, Version};

/// A file, and its definition once it was asked for.
pub(super) struct Entry {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    text: &'static str,
    crd: OnceLock<Crd>,
}

macro_rules! entries {
    ($($group:literal: $($kind:literal $plural:literal),+;)+) => {
        [$($(Entry {
            group: $group,
            kind: $kind,
            text: include_str!(concat!("../../crds/", $plural, ".", $group, ".json")),
            crd: OnceLock::new(),
        }),+),+]
    };
}

pub(super) static ALL: [Entry; 15] = entries! {
    "extensions.istio.io": "TrafficExtension" "trafficextensions", "WasmPlugin" "wasmplugins";
    "networking.istio.io": "DestinationRule" "destinationrules", "EnvoyFilter" "envoyfilters", "Gateway" "gateways",
        "ProxyConfig" "proxyconfigs", "ServiceEntry" "serviceentries", "Sidecar" "sidecars",
        "VirtualService" "virtualservices", "WorkloadEntry" "workloadentries", "WorkloadGroup" "workloadgroups";
    "security.istio.io": "AuthorizationPolicy" "authorizationpolicies", "PeerAuthentication" "peerauthentications",
        "RequestAuthentication" "requestauthentications";
    "telemetry.istio.io": "Telemetry" "telemetries";
};

impl Entry {
    #[expect(clippy::expect_used, reason = "the file is part of the binary, and a test reads every one")]
    pub(super) fn crd(&self) -> &Crd {
        self.crd.get_or_init(|| read(self.text).expect("an embedded definition can be read"))
    }
}

fn read(text: &str) -> Option<Crd> {
    let mut file: Value = serde_json::from_str(text).ok()?;
    let Value::Array(schemas) = file["schemas"].take() else { return None };
    let definition = file["definition"].take();
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let names = &spec["names"];
    let versions = spec["versions"].as_array()?.iter().map(|version| {
        let schema = usize::try_from(version["schema"].as_u64()?).ok()?;
        schemas.get(schema)?;
        Some(Version {
            name: text(&version["name"])?,
            served: version["served"].as_bool()?,
            storage: version["storage"].as_bool()?,
            schema,
        })
    });
    Some(Crd {
        group: text(&spec["group"])?,
        kind: text(&names["kind"])?,
        plural: text(&names["plural"])?,
        singular: text(&names["singular"])?,
        short_names: names["shortNames"].as_array().into_iter().flatten().filter_map(text).collect(),
        versions: versions.collect::<Option<_>>()?,
        schemas,
        definition,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn every_file_is_embedded_under_its_own_group_and_kind() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
        let files =
            fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let embedded = ALL.iter().map(|entry| {
            let crd = entry.crd();
            assert_eq!((crd.group.as_str(), crd.kind.as_str()), (entry.group, entry.kind));
            format!("{}.json", crd.name())
        });
        assert_eq!(files.collect::<BTreeSet<_>>(), embedded.collect());
    }
}
