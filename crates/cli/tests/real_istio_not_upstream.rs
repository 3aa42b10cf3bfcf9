//! What upstream's own scenarios leave out: versions that may not follow each other, deletion of a resource that is not valid, owners of
//! unknown kinds.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{
    Kyma, condition, resource,
    workloads::{list, pod, workload},
};
use mizzen_testkit::{
    Controllers, Part, Result,
    faults::{Fault, Verb},
    needs,
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
    // Another program is no version of the same one: what Kyma's operator has installed, which does not say whose it is, becomes ours. It
    // does so, too, if the first attempt is cut off when the other program is there already.
    let kyma_s = r#"{"metadata":{"annotations":{"mizzen.io/installed-program":null}}}"#;
    server.kubectl(&["patch", "istio", "default", "-n", HOME, "--type=merge", "-p", kyma_s]).await?;
    let faults = server.faults().await?;
    let cut = faults.inject(Fault::break_off().on(Verb::Write).path("deployments/istiod").next(1));
    let (cut_off, _) = kyma.operator_through(&faults.kubeconfig_file(), &["--leader-elect=false"]);
    let met = async || {
        let (hits, there) = (cut.hits(), is().await);
        Seen::when(hits > 0 && there == "mizzen/mizzen:0.1.0", || format!("{hits} cut off, {there}"))
    };
    cut_off.until("the other program", PATIENCE, met).await?;
    cut_off.kill();
    let remembered = kyma.get(HOME, "default").await.unwrap();
    assert_eq!(remembered["status"]["installedVersion"], "1.11.3", "it was cut off before that");
    let (ours, _) = kyma.operator_through(&server.kubeconfig_file(), &["--leader-elect=false"]);
    installed(&ours, "0.1.0").await?;
    assert_eq!(is().await, "mizzen/mizzen:0.1.0");
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

    // A pod of a Rollout, say, beside those of a Deployment. Their sidecars are what they should be until something else is wished for.
    here.kubectl("create namespace shop").await?;
    here.kubectl("create configmap rollout -n shop").await?;
    let rollout = here.get(("", "ConfigMap"), "shop", "rollout").await.unwrap();
    let gateway = here.get(DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
    let right = image(&gateway).as_str().unwrap().to_owned();
    let mut canary = pod("canary-1", &right);
    canary["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "rollout", "uid": rollout["metadata"]["uid"] }]);
    server.apply(&list(&[canary, workload("Deployment", "web", &right, &json!({}))])).await?;
    here.kubectl("wait deployment/web -n shop --for=condition=Available --timeout=60s").await?;
    here.kubectl("wait pod --all -n shop --for=condition=Ready --timeout=60s").await?;
    here.injection_is_served().await?;
    apply("{ config: { enableDNSProxying: true } }").await?;
    let status = kyma.says(&operator, DEFAULT, "Warning", "ReconcileFailed").await?;
    let told = condition(&status, "ProxySidecarRestartSucceeded");
    assert_eq!(told["reason"], "ProxySidecarManualRestartRequired", "{status}");
    assert!(told["message"].as_str().unwrap().contains("shop/rollout"), "{told}");
    let web = here.get(DEPLOYMENT, "shop", "web").await.unwrap();
    assert_eq!(web["metadata"]["generation"], 2, "the others are restarted: {web}");
    assert!(here.get(("", "Pod"), "shop", "canary-1").await.is_some());

    // A spec that is refused, and the resource deleted: the mesh goes all the same.
    let twice = "{ config: { authorizers: [{ name: a, port: 1 }, { name: a, port: 2 }] } }";
    apply(twice).await?;
    kyma.says(&operator, DEFAULT, "Warning", "ValidationFailed").await?;
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());
    // The same if somebody has taken the finalizer away: it is put back at once, though the spec is refused.
    let free = r#"{"metadata":{"finalizers":null}}"#;
    server.kubectl(&["patch", "istio", "default", "-n", HOME, "--type=merge", "-p", free]).await?;
    let held = async || {
        let finalizers = kyma.get(HOME, "default").await.unwrap()["metadata"]["finalizers"].clone();
        Seen::when(finalizers.is_array(), || finalizers.to_string())
    };
    operator.until("the finalizer to be back", PATIENCE, held).await?;
    apply("{ config: { proxyStatsMatcher: { inclusionRegexps: ['('] } } }").await?;
    kyma.says(&operator, DEFAULT, "Error", "ValidationFailed").await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    kyma.until_no_namespace().await
}
