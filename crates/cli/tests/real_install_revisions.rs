//! Control planes side by side, and others' meshes taken over; what stays when they go.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod site;

use mizzen_testkit::{Controllers, Result, needs, tools};
use serde_json::{Value, json};
use site::{Site, upstream};
use std::collections::{BTreeMap, BTreeSet};

fn revision<'v>(objects: &'v BTreeMap<String, Value>, key: &str) -> &'v str {
    objects[key].pointer("/metadata/labels/istio.io~1rev").and_then(Value::as_str).unwrap()
}

/// What is left of a mesh, but for what Kubernetes makes in every namespace.
async fn left(site: &Site) -> BTreeSet<String> {
    let keys = site.objects().await.into_keys();
    keys.filter(|key| !key.ends_with("/default") && !key.ends_with("/kube-root-ca.crt")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_revisions_live_side_by_side_and_the_old_one_goes_alone() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y --set profile=minimal --revision old").await.well();
    let old = site.objects().await;
    assert_eq!(
        revision(&old, "MutatingWebhookConfiguration /istio-revision-tag-default"),
        "old",
        "the first is the default"
    );
    site.mizzen("install -y --set profile=minimal --revision new").await.well();
    let both = site.objects().await;
    for name in ["istiod-old", "istiod-new"] {
        assert!(both.contains_key(&format!("Deployment istio-system/{name}")));
    }
    assert_eq!(
        revision(&both, "MutatingWebhookConfiguration /istio-revision-tag-default"),
        "old",
        "and stays it"
    );
    for revision in ["old", "new"] {
        let told = site.mizzen(&format!("diff --set profile=minimal --revision {revision}")).await.well();
        assert!(!told.contains(" changed"), "neither has changed the other's: {told}");
    }

    site.mizzen("tag set default --revision new --overwrite -y").await.well();
    site.mizzen("uninstall --revision old -y").await.well();
    let new = site.objects().await;
    assert_eq!(revision(&new, "MutatingWebhookConfiguration /istio-revision-tag-default"), "new");
    assert!(new.keys().all(|key| !key.ends_with("-old")), "{:?}", new.keys());
    assert!(new.contains_key("Deployment istio-system/istiod-new"));
    assert!(
        new.contains_key("CustomResourceDefinition /virtualservices.networking.istio.io"),
        "what they share stays"
    );
    let told = site.mizzen("uninstall --revision old -y").await.badly();
    assert!(told.contains("could not find target revision old") && told.contains("new"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_goes_without_what_all_share_and_a_purge_leaves_the_namespace() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y").await.well();
    // What a control plane leaves behind is nobody's to delete.
    site.server.kubectl(&["-n", "istio-system", "create", "secret", "generic", "istio-ca-secret"]).await?;
    let all = site.objects().await;
    let shared: BTreeSet<String> = all
        .iter()
        .filter(|(_, object)| {
            object.pointer("/metadata/labels/operator.istio.io~1component") == Some(&"Base".into())
        })
        .map(|(key, _)| key.clone())
        .collect();
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web", "namespace": "default",
        "labels": { "service.istio.io/canonical-name": "web" }, "annotations": { "istio.io/rev": "default" } },
        "spec": { "containers": [{ "name": "istio-proxy", "image": "proxyv2:1.31.0", "args": ["proxy", "sidecar"] }] } });
    site.server.apply(&pod.to_string()).await?;
    let told = site.mizzen("uninstall --revision default -y --dry-run").await.well();
    assert!(told.contains("proxies that lose their control plane: 1 (web.default)"), "{told}");
    assert!(told.contains("gateways that will go: istio-system/istio-ingressgateway"), "{told}");
    assert_eq!(site.objects().await.len(), all.len(), "nothing was removed yet");
    site.mizzen("uninstall --revision default -y").await.well();
    let own = ["Namespace /istio-system", "Secret istio-system/istio-ca-secret"].map(str::to_owned);
    let expected: BTreeSet<String> = shared.into_iter().chain(own.clone()).collect();
    assert_eq!(left(&site).await, expected);
    site.mizzen("uninstall --purge -y").await.well();
    assert_eq!(left(&site).await, own.into());
    let told = site.mizzen("uninstall --purge -y").await.well();
    assert!(told.contains("nothing to remove"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_of_istioctls_is_taken_over_upgraded_and_removed() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio", "istioctl"]);
    let site = Site::start().await?;
    let charts = upstream();
    let charts = charts.display();
    let with = format!("-d {charts} --set tag=1.30.2 --set values.pilot.env.OLD_SETTING=1");
    site.istioctl(&format!("install -y {with}")).await.well();
    let before = site.versions().await;
    let told = site.mizzen(&format!("install -y -d {charts} --set tag=1.31.0")).await.badly();
    assert!(told.contains("belongs to istio-operator") && told.contains("--adopt"), "{told}");
    assert_eq!(site.versions().await, before, "nothing is taken that was not asked for");

    let told =
        site.mizzen(&format!("install -y -d {charts} --set tag=1.31.0 --adopt --dry-run")).await.well();
    assert!(told.contains("taken over from istio-operator"), "{told}");
    assert!(
        told.contains("1.30.2\" → ") && told.contains("OLD_SETTING"),
        "what changes and what goes is shown: {told}"
    );
    assert_eq!(site.versions().await, before, "a rehearsal writes nothing");
    // Not wanted any more: the gateway goes, too.
    let flags = format!("-d {charts} --set tag=1.31.0 --set components.ingressGateways.[0].enabled=false");
    site.mizzen(&format!("install -y --adopt {flags}")).await.well();
    let now = site.objects().await;
    let istiod = &now["Deployment istio-system/istiod"];
    assert!(
        istiod
            .pointer("/spec/template/spec/containers/0/image")
            .unwrap()
            .as_str()
            .unwrap()
            .ends_with(":1.31.0")
    );
    assert!(!istiod.to_string().contains("OLD_SETTING\""), "what istioctl had set and nobody wants is gone");
    assert!(now.keys().all(|key| !key.contains("ingressgateway")), "{:?}", now.keys());
    let managers = |object: &Value| -> BTreeSet<String> {
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        entries.iter().map(|entry| entry["manager"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!managers(istiod).contains("istio-operator"), "{:?}", managers(istiod));

    let taken = site.versions().await;
    let told = site.mizzen(&format!("install -y {flags}")).await.well();
    assert!(told.contains("nothing was written"), "it is ours now: {told}");
    assert_eq!(site.versions().await, taken);
    let told = site.mizzen(&format!("install -y {flags} --set tag=1.30.2")).await.badly();
    assert!(told.contains("going back to 1.30.2 is not supported"), "{told}");
    site.mizzen("uninstall --purge -y").await.well();
    assert_eq!(left(&site).await, ["Namespace /istio-system".to_owned()].into());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_of_helms_is_taken_over() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio", "helm"]);
    let site = Site::start().await?;
    let charts = upstream().join("charts");
    let helm = tools::command("helm")?;
    site.server.kubectl(&["create", "namespace", "istio-system"]).await?;
    for (name, chart) in [("base", "base"), ("istiod", "istio-control/istio-discovery")] {
        let line = format!(
            "install {name} {} -n istio-system --set global.tag=1.31.0",
            charts.join(chart).display()
        );
        site.run(&helm, &site.server.kubeconfig_file(), &line).await.well();
    }
    let flags = format!("-d {} --set profile=minimal --set tag=1.31.0", upstream().display());
    let told = site.mizzen(&format!("install -y {flags}")).await.badly();
    assert!(told.contains("belongs to helm") && told.contains("--adopt"), "{told}");
    site.mizzen(&format!("install -y --adopt {flags}")).await.well();
    let taken = site.objects().await;
    let istiod = &taken["Deployment istio-system/istiod"];
    assert_eq!(
        istiod.pointer("/metadata/annotations/meta.helm.sh~1release-name"),
        None,
        "it is not Helm's any more"
    );
    let versions = site.versions().await;
    let told = site.mizzen(&format!("install -y {flags}")).await.well();
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!(site.versions().await, versions);
    Ok(())
}
