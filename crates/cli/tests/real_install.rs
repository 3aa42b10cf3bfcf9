//! A mesh installed in a real cluster, left alone, changed, and removed again.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod site;

use mizzen_testkit::{Controllers, Result, needs};
use serde_json::{Value, json};
use site::{Site, changed, upstream};

/// Whose charts, and what they are installed with.
async fn is_installed_once(flags: &str, components: &[&str]) -> Result<()> {
    let site = Site::start().await?;
    let told = site.mizzen(&format!("install -y {flags}")).await.well();
    for component in components {
        assert!(told.contains(&format!("✔ {component} is ready")), "{told}");
    }
    let installed = site.versions().await;
    let told = site.mizzen(&format!("install -y {flags}")).await.well();
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!(site.versions().await, installed, "a second installation writes nothing");
    let told = site.mizzen(&format!("diff {flags}")).await.well();
    assert!(!told.contains(" new") && !told.contains(" changed"), "{told}");

    // By the list, whatever it was installed with.
    let told = site.mizzen("verify-install").await.well();
    assert!(told.contains("✔ Deployment: istiod.istio-system checked successfully"), "{told}");
    let generated = site.mizzen(&format!("manifest generate --cluster-specific {flags}")).await.well();
    assert!(generated.contains("kind: Deployment"), "{generated}");

    let flags = format!("{flags} --set meshConfig.outboundTrafficPolicy.mode=REGISTRY_ONLY");
    let told = site.mizzen(&format!("diff {flags}")).await;
    assert_eq!(told.code, Some(1), "a difference is a problem");
    assert_eq!(site.versions().await, installed, "a comparison writes nothing");
    site.mizzen(&format!("install -y {flags}")).await.well();
    assert_eq!(
        changed(&installed, &site.versions().await),
        ["ConfigMap istio-system/istio", "ConfigMap istio-system/values"],
        "one value changed: the two objects that have it"
    );
    Ok(())
}

const DEFAULT: &[&str] = &["Istio core", "Istiod", "Ingress gateways"];
const DEMO: &[&str] = &["Istio core", "Istiod", "Ingress gateways", "Egress gateways"];

#[tokio::test(flavor = "multi_thread")]
async fn our_default_profile_is_installed_once_and_changed_where_a_value_changes() -> Result<()> {
    needs!(Controllers::NEEDS);
    is_installed_once("", DEFAULT).await
}

#[tokio::test(flavor = "multi_thread")]
async fn our_demo_profile_is_installed_once_and_changed_where_a_value_changes() -> Result<()> {
    needs!(Controllers::NEEDS);
    is_installed_once("--set profile=demo", DEMO).await
}

#[tokio::test(flavor = "multi_thread")]
async fn istios_default_profile_is_installed_once_and_changed_where_a_value_changes() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio"]);
    is_installed_once(&format!("-d {}", upstream().display()), DEFAULT).await
}

#[tokio::test(flavor = "multi_thread")]
async fn istios_demo_profile_is_installed_once_and_changed_where_a_value_changes() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio"]);
    is_installed_once(&format!("-d {} --set profile=demo", upstream().display()), DEMO).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_wanted_any_more_goes_and_what_is_not_ours_stays() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y").await.well();
    // Somebody's own, with the labels of the gateway's objects.
    let foreign = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "somebodys", "namespace": "istio-system", "labels": {
            "operator.istio.io/managed": "Reconcile", "operator.istio.io/component": "IngressGateways",
            "istio.io/rev": "default" } } });
    site.server.apply(&foreign.to_string()).await?;
    let before = site.objects().await;
    let told = site.mizzen("install -y --set components.ingressGateways.[0].enabled=false").await.well();
    assert!(told.contains("removed Deployment istio-system/istio-ingressgateway"), "{told}");
    let after = site.objects().await;
    let gone: Vec<&String> = before.keys().filter(|key| !after.contains_key(*key)).collect();
    assert!(!gone.is_empty() && gone.iter().all(|key| key.contains("istio-ingressgateway")), "{gone:?}");
    assert!(after.contains_key("ConfigMap istio-system/somebodys"));
    assert!(after.keys().all(|key| !key.contains("ingressgateway")), "{:?}", after.keys());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_manager_has_edited_is_told_and_not_overwritten() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y").await.well();
    let patch = r#"{"data":{"mesh":"somebody: else\n"}}"#;
    let edit = [
        "-n",
        "istio-system",
        "patch",
        "configmap",
        "istio",
        "--type=merge",
        "-p",
        patch,
        "--field-manager=editor",
    ];
    site.server.kubectl(&edit).await?;
    // A control plane keeps these.
    let patch = r#"[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"eHl6"},
        {"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]"#;
    let keep =
        ["patch", "validatingwebhookconfiguration", "istiod-default-validator", "--type=json", "-p", patch];
    site.server.kubectl(&[keep.as_slice(), &["--field-manager=pilot-discovery"]].concat()).await?;
    let edited = site.versions().await;
    let told = site.mizzen("install -y").await.well();
    assert!(told.contains("data.mesh stays \"somebody: else\\n\" as editor has it"), "{told}");
    assert!(told.contains("failurePolicy stays \"Fail\" as pilot-discovery has it"), "{told}");
    assert_eq!(site.versions().await, edited, "nothing was written");
    // A change of something else in the same object leaves it, too.
    site.mizzen("install -y --set values.base.validationURL=https://example.com/validate").await.well();
    let now = site.objects().await;
    let validator = &now["ValidatingWebhookConfiguration /istiod-default-validator"]["webhooks"][0];
    assert_eq!(validator["failurePolicy"], "Fail");
    assert_eq!(validator["clientConfig"]["caBundle"], "eHl6");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_the_autoscalers() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y").await.well();
    site.server.kubectl(&["-n", "istio-system", "scale", "deployment", "istiod", "--replicas=3"]).await?;
    site.mizzen("install -y --set values.pilot.podAnnotations.a=b").await.well();
    let istiod = &site.objects().await["Deployment istio-system/istiod"];
    assert_eq!(istiod["spec"]["replicas"], 3);
    assert_eq!(istiod.pointer("/spec/template/metadata/annotations/a"), Some(&Value::from("b")));
    Ok(())
}
