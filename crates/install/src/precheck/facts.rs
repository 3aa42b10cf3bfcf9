//! What a cluster says of itself.

use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Value, json};

use super::Since;

/// What an installer creates: namespaced or not, group, resource.
const CREATED: [(bool, &str, &str); 11] = [
    (false, "", "namespaces"),
    (false, "rbac.authorization.k8s.io", "clusterroles"),
    (false, "rbac.authorization.k8s.io", "clusterrolebindings"),
    (false, "apiextensions.k8s.io", "customresourcedefinitions"),
    (true, "rbac.authorization.k8s.io", "roles"),
    (true, "", "serviceaccounts"),
    (true, "", "services"),
    (true, "apps", "deployments"),
    (true, "", "configmaps"),
    (false, "admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    (false, "admissionregistration.k8s.io", "validatingwebhookconfigurations"),
];

/// A right that somebody has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub verb: &'static str,
    pub resource: String,
    pub reason: String,
}

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The control plane's.
    pub istio_namespace: String,
    /// Whether the cluster itself is: its version, rights, definitions.
    pub control_plane: bool,
    /// The release that is there now.
    pub since: Option<Since>,
    /// Whether annotations of objects are, which are many.
    pub annotations: bool,
    /// Only the objects of this namespace; empty for all.
    pub namespace: String,
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Of Kubernetes; empty if nobody asked.
    pub version: String,
    pub denied: Vec<Denied>,
    /// CustomResourceDefinitions of the Gateway API.
    pub definitions: Vec<Value>,
    /// The Service to which traces went before 1.22, if that is of interest and it is there.
    pub zipkin: Option<Value>,
    /// Namespaces, Services, Pods and Deployments.
    pub annotated: Vec<Value>,
}

impl Facts {
    pub async fn read(cluster: &Cluster, scope: &Scope) -> Result<Self, Refused> {
        let mut facts = Self::default();
        if scope.control_plane {
            let version = cluster.read("reading the version of Kubernetes", "/version").await?;
            let version = version.and_then(|version| version["gitVersion"].as_str().map(str::to_owned));
            facts.version = version.unwrap_or_default();
            for created in CREATED {
                facts.denied.extend(denied(cluster, created, &scope.istio_namespace).await?);
            }
            facts.read_definitions(cluster).await?;
        }
        if scope.since.is_some_and(Since::had_tracing) {
            let zipkin = ObjectId::new("", "Service", "istio-system", "zipkin");
            facts.zipkin = cluster.get(&zipkin, None).await?;
        }
        if scope.annotations && scope.control_plane {
            for (group, kind) in [("", "Namespace"), ("", "Service"), ("", "Pod"), ("apps", "Deployment")] {
                // A Namespace is in none, and is its own.
                let within = if kind == "Namespace" { "" } else { &scope.namespace };
                let mut found = cluster.list_in(group, kind, within, "").await?;
                found.retain(|object| {
                    kind != "Namespace"
                        || scope.namespace.is_empty()
                        || object["metadata"]["name"] == scope.namespace.as_str()
                });
                facts.annotated.extend(found);
            }
        }
        Ok(facts)
    }

    /// Who may not even see them is told so, as one thing among others.
    async fn read_definitions(&mut self, cluster: &Cluster) -> Result<(), Refused> {
        match cluster.list("apiextensions.k8s.io", "CustomResourceDefinition", "").await {
            Ok(found) => {
                let of_gateways = |object: &Value| object["spec"]["group"] == "gateway.networking.k8s.io";
                self.definitions.extend(found.into_iter().filter(of_gateways));
            }
            Err(Refused::Forbidden { message, .. }) => self.denied.push(Denied {
                verb: "list",
                resource: "customresourcedefinitions".to_owned(),
                reason: message,
            }),
            Err(refused) => return Err(refused),
        }
        Ok(())
    }
}

/// Asks for one right.
async fn denied(
    cluster: &Cluster,
    (namespaced, group, resource): (bool, &str, &str),
    namespace: &str,
) -> Result<Option<Denied>, Refused> {
    let namespace = if namespaced { namespace } else { "" };
    let attributes = json!({ "namespace": namespace, "verb": "create", "group": group, "version": "v1", "resource": resource });
    let question = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": attributes },
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = cluster.ask(&format!("asking for the right to create {resource}"), path, question).await;
    let denied = |reason: String| Denied { verb: "create", resource: resource.to_owned(), reason };
    Ok(match answer {
        Ok(Some(answer)) if answer["status"]["allowed"] == true => None,
        Ok(answer) => {
            let reason = answer.as_ref().and_then(|answer| answer["status"]["reason"].as_str());
            let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or("permission denied");
            Some(denied(reason.to_owned()))
        }
        Err(Refused::Forbidden { message, .. }) => Some(denied(message)),
        Err(refused) => return Err(refused),
    })
}
