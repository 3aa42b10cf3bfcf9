//! What people do to an `Istio` resource and to its mesh that they should not: it is told, and nothing is lost.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, resource};
use mizzen_testkit::{
    Controllers, Result, needs,
    wait::{PATIENCE, Seen},
};
use operated::DEPLOYMENT;
use serde_json::{Value, json};

const HOME: &str = "kyma-system";
const DEFAULT: (&str, &str) = (HOME, "default");

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_whose_resource_namespace_or_rights_are_taken_away_is_told_and_comes_back() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let (operator, _) = kyma.operator(&["--failure-max-delay", "2s"]);
    let apply = async |spec: &str| server.apply(&resource(HOME, "default", spec)).await;

    // What the definition refuses never arrives.
    let negative = apply("{ config: { numTrustedProxies: -1 } }").await.unwrap_err().to_string();
    assert!(negative.contains("numTrustedProxies"), "{negative}");
    let unknown = apply("{ config: { numTrustedProxy: 1 } }").await.unwrap_err().to_string();
    assert!(unknown.contains(".spec.config.numTrustedProxy: field not declared in schema"), "{unknown}");

    // Deleted while its mesh is being installed: both go.
    kyma.forbid(("apps", "deployments"), "object.metadata.name != 'istio-ingressgateway'").await?;
    apply("{}").await?;
    let begun = async || {
        let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await;
        Seen::when(istiod.is_some(), || operator.log())
    };
    operator.until("istiod to be begun with", PATIENCE, begun).await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    kyma.until_no_namespace().await?;
    kyma.allow("deployments").await?;
    let left: Vec<String> = here.site.objects().await.into_keys().collect();
    assert!(left.iter().all(|key| !key.contains("istiod") && !key.contains("inventory")), "{left:?}");

    // The namespace deleted underneath.
    apply("{}").await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;
    let uid = async || {
        let namespace = here.get(("", "Namespace"), "", "istio-system").await.unwrap_or_default();
        namespace["metadata"]["uid"].clone()
    };
    let before = uid().await;
    here.kubectl("delete namespace istio-system --timeout=120s").await?;
    let again = async || {
        let now = uid().await;
        Seen::when(now.is_string() && now != before, || now.to_string())
    };
    operator.until("another namespace", PATIENCE, again).await?;
    operator.until("istiod again", PATIENCE, begun).await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;

    // What is kept beside the mesh, edited or deleted one by one.
    apply("{ networkPoliciesEnabled: true }").await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;
    let exists = async |what: &str, kind: (&str, &str), namespace: &str, name: &str| {
        let there =
            async || Seen::when(here.get(kind, namespace, name).await.is_some(), || "none".to_owned());
        operator.until(what, PATIENCE, there).await
    };
    here.kubectl("delete networkpolicy kyma-project.io--istio-pilot -n istio-system").await?;
    let policy = ("networking.k8s.io", "NetworkPolicy");
    exists("the policy again", policy, "istio-system", "kyma-project.io--istio-pilot").await?;
    here.kubectl("delete priorityclass istio-kyma-priority").await?;
    exists("the class again", ("scheduling.k8s.io", "PriorityClass"), "", "istio-kyma-priority").await?;
    here.kubectl("label namespace istio-system namespaces.warden.kyma-project.io/validate-").await?;
    let marked = async || {
        let namespace = here.get(("", "Namespace"), "", "istio-system").await.unwrap_or_default();
        let label = &namespace["metadata"]["labels"]["namespaces.warden.kyma-project.io/validate"];
        Seen::when(label == "enabled", || label.to_string())
    };
    operator.until("the namespace to be marked again", PATIENCE, marked).await?;
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "mine", "namespace": "istio-system" },
        "spec": { "workloadSelector": { "labels": { "istio": "ingressgateway" } }, "configPatches": [] },
    });
    server.apply(&filter.to_string()).await?;
    kyma.says(&operator, DEFAULT, "Warning", "ReconcileFailed").await?;
    here.kubectl("delete envoyfilter mine -n istio-system").await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;

    // A right taken away: named in the status; given back: well.
    let role =
        here.get(("rbac.authorization.k8s.io", "ClusterRole"), "", "istio-manager-role").await.unwrap();
    let mut less = role.clone();
    for rule in less["rules"].as_array_mut().unwrap() {
        rule["resources"].as_array_mut().unwrap().retain(|resource| resource != "peerauthentications");
    }
    less["rules"].as_array_mut().unwrap().retain(|rule| rule["resources"] != json!([]));
    put(&kyma, less).await?;
    let taken = async || {
        let asked = "auth can-i create peerauthentications.security.istio.io -n istio-system --as \
            system:serviceaccount:kyma-system:istio-controller-manager";
        let may = here.kubectl(asked).await;
        Seen::when(may.is_err(), || "the right is still known".to_owned())
    };
    operator.until("the right to be gone", PATIENCE, taken).await?;
    here.kubectl("delete peerauthentication default -n istio-system").await?;
    apply("{ config: { numTrustedProxies: 1 } }").await?;
    let status = kyma.says(&operator, DEFAULT, "Error", "CustomResourcesReconcileFailed").await?;
    let description = status["description"].as_str().unwrap();
    assert!(
        description.contains("peerauthentications") && description.contains("forbidden"),
        "{description}"
    );
    put(&kyma, role).await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;

    // The finalizer removed by hand, as people do whose deletion is blocked: the mesh stays, and another resource takes it over.
    let rule = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
        "metadata": { "name": "mine", "namespace": "default" }, "spec": { "host": "somewhere" },
    });
    server.apply(&rule.to_string()).await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.says(&operator, DEFAULT, "Warning", "IstioCustomResourcesDangling").await?;
    let free = r#"{"metadata":{"finalizers":[]}}"#;
    server.kubectl(&["patch", "istio", "default", "-n", HOME, "--type=merge", "-p", free]).await?;
    kyma.until_gone(&operator, "default").await?;
    let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    server.apply(&resource(HOME, "another", "{ config: { numTrustedProxies: 1 } }")).await?;
    kyma.says(&operator, (HOME, "another"), "Ready", "ReconcileSucceeded").await?;
    let now = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    assert_eq!(now["metadata"]["uid"], istiod["metadata"]["uid"], "taken over, not made anew");
    here.kubectl("delete destinationrule mine").await?;
    here.kubectl("delete istio another -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "another").await?;
    assert!(!operator.log().contains("panicked"));
    Ok(())
}

async fn put(kyma: &Kyma, mut role: Value) -> Result<()> {
    let metadata = role["metadata"].as_object_mut().unwrap();
    metadata.retain(|field, _| field == "name" || field == "labels");
    let text = role.to_string();
    kyma.here.site.server.kubectl_reading(&text, &["replace", "-f", "-"]).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_namespace_of_the_resource_itself_can_be_deleted() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let (operator, _) = kyma.operator(&["--failure-max-delay", "2s"]);
    server.apply(&resource(HOME, "default", "{}")).await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;
    // The lease goes with it, and cannot be made again; nobody else can have it either.
    here.kubectl("delete namespace kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    here.kubectl("wait --for=delete namespace/kyma-system --timeout=120s").await?;
    kyma.until_no_namespace().await?;
    let left: Vec<String> = here.site.objects().await.into_keys().collect();
    assert!(left.iter().all(|key| !key.contains("istiod") && !key.contains("inventory")), "{left:?}");
    Ok(())
}
