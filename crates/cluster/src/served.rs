//! Which kinds a server has, under which paths: its own discovery documents, two requests for all of them.

use crate::object::ObjectId;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The media type of the whole list in one answer.
pub(crate) const ACCEPT: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[derive(Clone, Debug, Default)]
pub struct Served {
    /// By group and kind; the versions in the server's order of preference.
    kinds: BTreeMap<(String, String), Vec<Kind>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    pub version: String,
    pub plural: String,
    pub namespaced: bool,
    /// Whether its objects can be listed.
    pub listed: bool,
}

#[derive(Deserialize)]
pub(crate) struct Groups {
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    /// Missing for the core group.
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<Listed>,
    /// `Stale` where an aggregated server does not answer.
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
struct Listed {
    resource: String,
    #[serde(rename = "responseKind")]
    kind: Option<Named>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    kind: String,
}

impl Served {
    pub(crate) fn add(&mut self, groups: Groups) {
        for group in groups.items {
            for version in group.versions.into_iter().filter(|version| version.freshness != "Stale") {
                for listed in version.resources {
                    let Some(named) = listed.kind.filter(|named| !named.kind.is_empty()) else { continue };
                    let kinds = self.kinds.entry((group.metadata.name.clone(), named.kind)).or_default();
                    kinds.push(Kind {
                        version: version.version.clone(),
                        plural: listed.resource,
                        namespaced: listed.scope == "Namespaced",
                        listed: listed.verbs.iter().any(|verb| verb == "list"),
                    });
                }
            }
        }
    }

    /// In this version, or in the one that the server likes best.
    pub fn find(&self, group: &str, kind: &str, version: Option<&str>) -> Option<&Kind> {
        let kinds = self.kinds.get(&(group.to_owned(), kind.to_owned()))?;
        match version {
            Some(version) => kinds.iter().find(|kind| kind.version == version),
            None => kinds.first(),
        }
    }

    /// Every kind that lives in namespaces and can be listed, by group.
    pub fn namespaced(&self) -> impl Iterator<Item = (&str, &str)> {
        let lists = |kinds: &[Kind]| kinds.iter().any(|kind| kind.namespaced && kind.listed);
        self.kinds
            .iter()
            .filter(move |(_, kinds)| lists(kinds))
            .map(|((group, kind), _)| (group.as_str(), kind.as_str()))
    }

    /// The path of one object.
    pub fn path(&self, id: &ObjectId, version: Option<&str>) -> Option<String> {
        let kind = self.find(&id.group, &id.kind, version)?;
        let namespace = if kind.namespaced { id.namespace.as_str() } else { "" };
        Some(format!("{}/{}", kind.collection(&id.group, namespace), id.name))
    }
}

impl Kind {
    /// Without a namespace, those of all.
    pub fn collection(&self, group: &str, namespace: &str) -> String {
        let mut path = match group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if !namespace.is_empty() {
            path.push_str("/namespaces/");
            path.push_str(namespace);
        }
        format!("{path}/{}", self.plural)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served() -> Served {
        let mut served = Served::default();
        for text in [
            r#"{"items":[{"versions":[{"version":"v1","resources":[
                {"resource":"services","responseKind":{"kind":"Service"},"scope":"Namespaced"},
                {"resource":"namespaces","responseKind":{"kind":"Namespace"},"scope":"Cluster"}]}]}]}"#,
            r#"{"items":[{"metadata":{"name":"autoscaling"},"versions":[
                {"version":"v2","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced"}]},
                {"version":"v1","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced"}]}]},
               {"metadata":{"name":"metrics"},"versions":[{"version":"v1","freshness":"Stale"}]}]}"#,
        ] {
            served.add(serde_json::from_str(text).unwrap());
        }
        served
    }

    fn id(group: &str, kind: &str) -> ObjectId {
        ObjectId::new(group, kind, "n", "x")
    }

    #[test]
    fn paths_come_from_what_the_server_says() {
        let served = served();
        assert_eq!(served.path(&id("", "Service"), None).as_deref(), Some("/api/v1/namespaces/n/services/x"));
        assert_eq!(served.path(&id("", "Namespace"), None).as_deref(), Some("/api/v1/namespaces/x"));
        let scaler = id("autoscaling", "HorizontalPodAutoscaler");
        let path = |version| served.path(&scaler, version).unwrap_or_default();
        assert_eq!(path(None), "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers/x");
        assert_eq!(path(Some("v1")), "/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers/x");
        assert_eq!(path(Some("v7")), "");
        assert_eq!(served.path(&id("metrics", "Pod"), None), None);
    }
}
