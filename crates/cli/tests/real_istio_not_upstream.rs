//! What upstream's own scenarios leave out: versions that may not follow each other, deletion of a resource that is not valid, owners of
//! unknown kinds.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, condition, resource};
use mizzen_testkit::{
    Controllers, Part, Result, needs,
    wait::{PATIENCE, Seen},
};
use operated::{DEPLOYMENT, image};
use serde_json::json;

const HOME: &str = "kyma-system";
const DEFAULT: (&str, &str) = (HOME, "default");

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_skips_goes_back_or_changes_the_major_version_is_refused_and_what_is_there_stays()
-> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let operator =
        |tag: &str| kyma.operator_of(Some(tag), &server.kubeconfig_file(), &["--leader-elect=false"]).0;
    let installed = async |operator: &Part, tag: &str| {
        let arrived = async || {
            let status = kyma.get(HOME, "default").await.unwrap_or_default()["status"].clone();
            let there = status["installedVersion"] == tag && status["state"] == "Ready";
            Seen::when(there, || status.to_string())
        };
        operator.until(&format!("{tag} to be installed"), PATIENCE, arrived).await
    };
    let first = operator("1.10.0-distroless");
    server.apply(&resource(HOME, "default", "{}")).await?;
    installed(&first, "1.10.0-distroless").await?;
    first.kill();
    let is = async || {
        image(&here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap()).as_str().unwrap().to_owned()
    };
    let before = is().await;
    assert_eq!(before, "registry.example/pilot:1.10.0-distroless");
    for (tag, words) in [
        ("1.12.0", "the difference between versions exceed one minor version"),
        ("1.9.4", "is lower than current version (1.10.0-distroless) - downgrade not supported"),
        ("2.0.0", "major version upgrade is not supported"),
        ("latest", "latest"),
    ] {
        let refusing = operator(tag);
        let told = async || {
            let status = kyma.get(HOME, "default").await.unwrap_or_default()["status"].clone();
            let refused = condition(&status, "Ready")["reason"] == "IstioVersionUpdateNotAllowed"
                && status["state"] == "Warning"
                && status["description"].as_str().unwrap_or_default().contains(words);
            Seen::when(refused, || status.to_string())
        };
        refusing.until(&format!("{tag} to be refused"), PATIENCE, told).await?;
        refusing.kill();
        assert_eq!(is().await, before, "{tag}");
    }
    for tag in ["1.10.0", "1.11.3"] {
        let following = operator(tag);
        installed(&following, tag).await?;
        following.kill();
        assert_eq!(is().await, format!("registry.example/pilot:{tag}"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_is_no_longer_valid_goes_and_owners_of_unknown_kinds_are_named() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let (operator, _) = kyma.operator(&[]);
    let apply = async |spec: &str| server.apply(&resource(HOME, "default", spec)).await;
    apply("{ compatibilityMode: false }").await?;
    kyma.says(&operator, DEFAULT, "Ready", "ReconcileSucceeded").await?;

    // A pod of a Rollout, say, beside one of a Deployment.
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "rollout", "namespace": "default" } });
    server.apply(&owner.to_string()).await?;
    let owner = here.get(("", "ConfigMap"), "default", "rollout").await.unwrap();
    let pod = json!({
        "labels": { "app": "web" }, "annotations": { "sidecar.istio.io/status": "{}" },
        "spec": { "containers": [{ "name": "app", "image": "app" }, { "name": "istio-proxy", "image": "old" }] },
    });
    let of_another = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "canary-1", "namespace": "default", "annotations": pod["annotations"],
            "ownerReferences": [{ "apiVersion": "v1", "kind": "ConfigMap", "name": "rollout", "uid": owner["metadata"]["uid"] }],
        },
        "spec": pod["spec"],
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "default" },
        "spec": {
            "selector": { "matchLabels": pod["labels"] },
            "template": { "metadata": { "labels": pod["labels"], "annotations": pod["annotations"] }, "spec": pod["spec"] },
        },
    });
    for object in [of_another, deployment] {
        server.apply(&object.to_string()).await?;
    }
    here.kubectl("wait pod --all --for=condition=Ready --timeout=60s").await?;
    here.injection_is_served().await?;
    apply("{ config: { enableDNSProxying: true } }").await?;
    let status = kyma.says(&operator, DEFAULT, "Warning", "ReconcileFailed").await?;
    let told = condition(&status, "ProxySidecarRestartSucceeded");
    assert_eq!(told["reason"], "ProxySidecarManualRestartRequired", "{status}");
    assert!(told["message"].as_str().unwrap().contains("default/rollout"), "{told}");
    let web = here.get(DEPLOYMENT, "default", "web").await.unwrap();
    assert_eq!(web["metadata"]["generation"], 2, "the others are restarted: {web}");
    assert!(here.get(("", "Pod"), "default", "canary-1").await.is_some());

    // A spec that is refused, and the resource deleted: the mesh goes all the same.
    let twice = "{ config: { authorizers: [{ name: a, port: 1 }, { name: a, port: 2 }] } }";
    apply(twice).await?;
    kyma.says(&operator, DEFAULT, "Warning", "ValidationFailed").await?;
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    kyma.until_no_namespace().await
}
