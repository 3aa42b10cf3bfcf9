//! The cluster itself: its version, one's rights in it, and the definitions of the Gateway API.

use serde_json::Value;

use super::{Facts, Finding, Level, finding::CLUSTER};
use crate::Version;

/// The oldest Kubernetes that Istio 1.31 supports.
const OLDEST: (u32, u32) = (1, 32);

pub(super) fn version(facts: &Facts) -> Option<Finding> {
    let version = Version::read(&facts.version)?;
    if (version.major, version.minor) >= OLDEST {
        return None;
    }
    let message = format!(
        "The Kubernetes Version {:?} is lower than the minimum version: {}.{}",
        facts.version, OLDEST.0, OLDEST.1
    );
    Some(Finding { level: Level::Error, code: "IST0142", origin: CLUSTER.to_owned(), message })
}

pub(super) fn rights(facts: &Facts) -> impl Iterator<Item = Finding> {
    facts.denied.iter().map(|denied| Finding {
        level: Level::Error,
        code: "IST0141",
        origin: CLUSTER.to_owned(),
        message: format!(
            "Missing required permission to {} resource {} ({})",
            denied.verb, denied.resource, denied.reason
        ),
    })
}

/// There need be none; but those that are there must be new enough.
pub(super) fn gateway_api(facts: &Facts) -> impl Iterator<Item = Finding> {
    const BETA: [&str; 4] = ["Gateway", "GatewayClass", "HTTPRoute", "ReferenceGrant"];
    const STABLE: [&str; 4] = ["Gateway", "GatewayClass", "HTTPRoute", "GRPCRoute"];
    let rules = [(BETA, "v1beta1", Level::Error, "IST0156"), (STABLE, "v1", Level::Warning, "IST0172")];
    facts.definitions.iter().flat_map(move |definition| {
        let kind = definition["spec"]["names"]["kind"].as_str().unwrap_or_default();
        let served = served(definition);
        rules.into_iter().filter_map(move |(kinds, wanted, level, code)| {
            if !kinds.contains(&kind) || served.contains(&wanted) {
                return None;
            }
            let has = if served.is_empty() { "none".to_owned() } else { served.join(",") };
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            Some(Finding {
                level,
                code,
                origin: format!("CustomResourceDefinition {name}"),
                message: format!(
                    "The Gateway API CRD version {has} is lower than the minimum version: {wanted}"
                ),
            })
        })
    })
}

/// The versions that it is served in, sorted.
fn served(definition: &Value) -> Vec<&str> {
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    let mut served: Vec<&str> = served.filter_map(|version| version["name"].as_str()).collect();
    served.sort_unstable();
    served
}
