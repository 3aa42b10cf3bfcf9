//! The operator against a real cluster. Pods run no process there, so this binary is started beside it, with the rights of the
//! operator's own account and no others.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod operated;
mod site;

use mizzen_testkit::{
    Controllers, Result, controllers, needs,
    wait::{PATIENCE, Seen, until},
};
use nix::sys::signal::Signal;
use operated::{CANARY, DEPLOYMENT, EXAMPLE, Operated, image, is_within, page, passes, words_until};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_becomes_a_mesh_that_is_kept_repaired_and_removed() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let Operated { site, .. } = &here;

    // The operator is deployed, and what is printed is what was applied.
    let told = site.mizzen("operator init --dry-run").await.well();
    assert!(told.contains("+ Deployment istio-operator/istio-operator"), "{told}");
    assert!(site.objects().await.is_empty(), "a rehearsal writes nothing");
    site.mizzen("operator init").await.well();
    let dumped: Value =
        serde_json::from_str(&site.mizzen_alone("operator dump -o json").await.well()).unwrap();
    let live = site.objects().await;
    for object in dumped["items"].as_array().unwrap() {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let key = format!("{} {}/{}", text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        assert!(is_within(object, &live[&key]), "{key}");
    }
    let deployed = site.versions().await;
    site.mizzen("operator init").await.well();
    assert_eq!(site.versions().await, deployed, "a second time nothing is written");

    // The example of the document becomes a mesh, component by component.
    let (operator, port) = here.operator();
    let mut statuses = here.statuses()?;
    site.server.apply(EXAMPLE).await?;
    let words = timeout(PATIENCE, words_until(&mut statuses, "HEALTHY")).await.unwrap();
    let expected: Vec<&str> = vec!["Base", "EgressGateways", "IngressGateways", "Pilot", "whole"];
    assert_eq!(words.keys().collect::<Vec<_>>(), expected);
    for (name, words) in &words {
        assert_eq!(words, &["RECONCILING", "HEALTHY"], "{name}");
    }
    assert!(
        page(port, "/healthz").await.contains("200 OK") && page(port, "/readyz").await.contains("200 OK")
    );

    // Left alone it does nothing.
    let settled = async || {
        let before = passes(port).await;
        sleep(Duration::from_secs(3)).await;
        let after = passes(port).await;
        Seen::when(before == after, || format!("{before}, then {after}"))
    };
    operator.until("no pass without a cause", PATIENCE, settled).await?;

    // Edits and deletions are repaired; fields that others are meant to write are not touched.
    let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    let right = image(&istiod).clone();
    let bundle = r#"[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Q0E="}]"#;
    here.kubectl("scale deployment istiod -n istio-system --replicas=3").await?;
    site.server
        .kubectl(&[
            "patch",
            "mutatingwebhookconfiguration",
            "istio-sidecar-injector",
            "--type=json",
            "-p",
            bundle,
        ])
        .await?;
    here.kubectl("set image deployment/istiod -n istio-system discovery=somebody/else:1").await?;
    let edit = r#"{"data":{"mesh":"edited: true"}}"#;
    site.server
        .kubectl(&["patch", "configmap", "istio", "-n", "istio-system", "--type=merge", "-p", edit])
        .await?;
    here.kubectl("delete service istiod -n istio-system").await?;
    let repaired = async || {
        let deployment = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap_or_default();
        let map = here.get(("", "ConfigMap"), "istio-system", "istio").await.unwrap_or_default();
        let service = here.get(("", "Service"), "istio-system", "istiod").await;
        let mesh = map["data"]["mesh"].as_str().unwrap_or_default().to_owned();
        let all = *image(&deployment) == right && mesh.contains("accessLogFile") && service.is_some();
        Seen::when(all, || format!("{} {mesh} {}", image(&deployment), service.is_some()))
    };
    operator.until("the repair", PATIENCE, repaired).await?;
    here.says(&operator, "example-istiocontrolplane", "HEALTHY").await?;
    let deployment = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    assert_eq!(deployment["spec"]["replicas"], 3, "scaled is scaled");
    let webhook = here.get(
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        "",
        "istio-sidecar-injector",
    );
    assert_eq!(webhook.await.unwrap()["webhooks"][0]["clientConfig"]["caBundle"], "Q0E=");

    // A bad one says what is wrong with it, and its neighbour is as well as before.
    let bad = EXAMPLE.replace("example-istiocontrolplane", "bad").replace("demo", "dmeo");
    site.server.apply(&bad).await?;
    let status = here.says(&operator, "bad", "ERROR").await?;
    let sentence = status["message"].as_str().unwrap();
    assert!(sentence.contains("there is no profile `dmeo`") && sentence.contains("`demo`"), "{sentence}");
    here.says(&operator, "example-istiocontrolplane", "HEALTHY").await?;
    let before = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    here.kubectl("delete istiooperator bad -n istio-system --wait=false").await?;
    here.until_gone(&operator, "bad").await?;
    let after = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
    assert_eq!(
        before["metadata"]["uid"], after["metadata"]["uid"],
        "the neighbour's are not taken for its own"
    );

    // Killed in the middle of its work, and started again: one component waits for its pods, and nothing has been deleted yet.
    let change = |labels: Value| {
        json!({ "spec": {
            "meshConfig": { "accessLogFile": "/dev/stderr" },
            "components": { "egressGateways": [{ "name": "istio-egressgateway", "enabled": false }] },
            "values": { "pilot": { "podLabels": labels } },
        } })
    };
    here.patch("example-istiocontrolplane", &change(json!({ controllers::POD: controllers::NEVER_READY })))
        .await?;
    here.says(&operator, "example-istiocontrolplane", "RECONCILING").await?;
    operator.kill();
    assert!(here.get(DEPLOYMENT, "istio-system", "istio-egressgateway").await.is_some());
    here.patch("example-istiocontrolplane", &change(Value::Null)).await?;
    let (operator, _) = here.operator();
    let finished = async || {
        let egress = here.get(DEPLOYMENT, "istio-system", "istio-egressgateway").await;
        let map = here.get(("", "ConfigMap"), "istio-system", "istio").await.unwrap_or_default();
        let mesh = map["data"]["mesh"].as_str().unwrap_or_default().to_owned();
        Seen::when(egress.is_none() && mesh.contains("/dev/stderr"), || mesh)
    };
    operator.until("the change to be done", PATIENCE, finished).await?;
    let status = here.says(&operator, "example-istiocontrolplane", "HEALTHY").await?;
    assert!(status["componentStatus"].get("EgressGateways").is_none(), "{status}");

    // The resource goes, and what it owned before it.
    here.kubectl("delete istiooperator example-istiocontrolplane -n istio-system --wait=false").await?;
    here.until_gone(&operator, "example-istiocontrolplane").await?;
    let left = site.objects().await;
    for (key, object) in &left {
        let component = &object["metadata"]["labels"]["operator.istio.io/component"];
        assert!(component.is_null() || component == "Base", "{key} is still there");
        assert!(!key.contains("mizzen-inventory"), "{key}");
    }

    // Told to end it gives its lease back, and it can be removed.
    operator.signal(Signal::SIGTERM);
    let ended = async || Seen::from_option(operator.ended(), || "it runs".to_owned());
    let status = until("the operator to end", PATIENCE, ended).await?;
    assert!(status.success(), "{status}");
    let lease =
        here.get(("coordination.k8s.io", "Lease"), "istio-operator", "istio-operator-lock").await.unwrap();
    assert_eq!(lease["spec"]["holderIdentity"].as_str().unwrap_or_default(), "");
    site.mizzen("operator remove -y").await.well();
    let left = site.objects().await;
    let of_operator: Vec<_> =
        left.keys().filter(|key| key.contains("istio-operator") || key.contains("istiooperators")).collect();
    assert!(of_operator.is_empty(), "{of_operator:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_with_proxies_is_not_removed_under_them() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    here.site.mizzen("operator init").await.well();
    let (operator, _) = here.operator();
    here.site.server.apply(CANARY).await?;
    let ignored = EXAMPLE
        .replace("  namespace", "  annotations: { install.istio.io/ignoreReconcile: \"true\" }\n  namespace");
    here.site.server.apply(&ignored).await?;
    let status = here.says(&operator, "canary", "HEALTHY").await?;
    assert_eq!(status["componentStatus"]["Pilot"]["status"], "HEALTHY", "{status}");

    // The autoscaler has its way.
    let scaled = async || {
        let deployment = here.get(DEPLOYMENT, "istio-system", "istiod-canary").await.unwrap_or_default();
        let replicas = deployment["spec"]["replicas"].clone();
        Seen::when(replicas == 2, || replicas.to_string())
    };
    operator.until("two replicas", PATIENCE, scaled).await?;

    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "shop", "namespace": "default", "labels": { "security.istio.io/tlsMode": "istio" },
                      "annotations": { "sidecar.istio.io/status": json!({ "revision": "canary" }).to_string() } },
        "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    here.site.server.apply(&pod.to_string()).await?;
    here.kubectl("delete istiooperator canary -n istio-system --wait=false").await?;
    let status = here.says(&operator, "canary", "ACTION_REQUIRED").await?;
    assert!(status["message"].as_str().unwrap().contains("default/shop"), "{status}");
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod-canary").await.is_some());
    here.kubectl("delete pod shop -n default --force").await?;
    here.until_gone(&operator, "canary").await?;
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod-canary").await.is_none());

    // The one that is to be left alone was, and goes without a trace.
    let resource = here.resource("example-istiocontrolplane").await.unwrap();
    assert!(
        resource.get("status").is_none() && resource.pointer("/metadata/finalizers").is_none(),
        "{resource}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_that_does_not_become_ready_says_why_and_keeps_no_other_waiting() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let Operated { site, .. } = &here;
    let file = site.server.kubeconfig_file().with_file_name("canary.yaml");
    std::fs::write(&file, CANARY).unwrap();
    site.mizzen(&format!("operator init -f {}", file.display())).await.well();
    let (operator, _) = here.operator();
    here.says(&operator, "canary", "HEALTHY").await?;

    let good = EXAMPLE.replace("example-istiocontrolplane", "second").replace("demo", "minimal");
    let label = format!("{}: {}", controllers::POD, controllers::IMAGE_PULL_ERROR);
    site.server.apply(&format!("{good}  values: {{ pilot: {{ podLabels: {{ {label} }} }} }}\n")).await?;
    let waits = async || {
        let resource = here.resource("second").await.unwrap_or_default();
        let message = resource["status"]["message"].as_str().unwrap_or_default();
        let is_told =
            message.contains("Deployment istio-system/istiod") && message.contains("ImagePullBackOff");
        Seen::when(is_told && resource["status"]["status"] == "RECONCILING", || {
            resource["status"].to_string()
        })
    };
    operator.until("the reason", PATIENCE, waits).await?;

    // The first is not kept waiting by it, nor is a better version of the second.
    here.patch("canary", &json!({ "spec": { "meshConfig": { "accessLogFile": "/dev/stderr" } } })).await?;
    let changed = async || {
        let map = here.get(("", "ConfigMap"), "istio-system", "istio-canary").await.unwrap_or_default();
        let mesh = map["data"]["mesh"].as_str().unwrap_or_default().to_owned();
        Seen::when(mesh.contains("/dev/stderr"), || mesh)
    };
    operator.until("the change of the first", PATIENCE, changed).await?;
    site.server.apply(&good).await?;
    here.says(&operator, "second", "HEALTHY").await?;
    here.says(&operator, "canary", "HEALTHY").await?;

    // What both have is left to the one that came first.
    let definition = ("apiextensions.k8s.io", "CustomResourceDefinition");
    let gateways = here.get(definition, "", "gateways.networking.istio.io").await.unwrap();
    assert_eq!(gateways["metadata"]["labels"]["install.operator.istio.io/owning-resource"], "canary");

    // Without the operator resources can be deleted, and meshes stay.
    operator.kill();
    let told = site.mizzen("operator remove -y").await.well();
    assert!(told.contains("2 IstioOperator resources will be looked at by nobody"), "{told}");
    assert!(
        here.get(definition, "", "istiooperators.install.istio.io").await.is_some(),
        "people's resources stay"
    );
    here.kubectl("delete istiooperator canary -n istio-system").await?;
    site.mizzen("operator init").await.well();
    site.mizzen("operator remove --purge -y").await.well();
    assert!(here.get(definition, "", "istiooperators.install.istio.io").await.is_none());
    for name in ["istiod", "istiod-canary"] {
        assert!(here.get(DEPLOYMENT, "istio-system", name).await.is_some(), "{name}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_of_another_namespace_is_repaired_and_removed_as_well() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    here.site.mizzen("operator init --watchedNamespaces istio-system,elsewhere").await.well();
    let (operator, _) = here.operator_of("istio-system,elsewhere");
    here.site.server.apply(&CANARY.replace("namespace: istio-system", "namespace: elsewhere")).await?;
    let healthy = async || {
        let resource =
            here.get(("install.istio.io", "IstioOperator"), "elsewhere", "canary").await.unwrap_or_default();
        Seen::when(resource["status"]["status"] == "HEALTHY", || resource["status"].to_string())
    };
    operator.until("a mesh", PATIENCE, healthy).await?;
    here.kubectl("delete service istiod-canary -n istio-system").await?;
    let repaired = async || {
        let service = here.get(("", "Service"), "istio-system", "istiod-canary").await;
        Seen::from_option(service.map(drop), || "it is not there".to_owned())
    };
    operator.until("the Service again", PATIENCE, repaired).await?;

    // A list that cannot be read is told where people look.
    let patch = r#"patch configmap mizzen-inventory-canary.canary -n elsewhere --type=merge -p {"data":{"inventory.json":"{"}}"#;
    here.kubectl(patch).await?;
    here.kubectl("delete service istiod-canary -n istio-system").await?;
    let told = async || {
        let resource =
            here.get(("install.istio.io", "IstioOperator"), "elsewhere", "canary").await.unwrap_or_default();
        let status = &resource["status"];
        Seen::when(status["status"] == "ERROR" && status.to_string().contains("mizzen-inventory"), || {
            status.to_string()
        })
    };
    operator.until("the reason", PATIENCE, told).await?;
    here.kubectl("delete configmap mizzen-inventory-canary.canary -n elsewhere").await?;
    operator.until("a mesh again", PATIENCE, healthy).await?;

    here.kubectl("delete istiooperator canary -n elsewhere --timeout=90s").await?;
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod-canary").await.is_none());
    let left = here.site.objects().await;
    assert!(left.keys().all(|key| !key.contains("istiod-canary")), "{:?}", left.keys());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_changes_its_revision_leaves_nothing_of_the_former() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    here.site.mizzen("operator init").await.well();
    let (operator, _) = here.operator();
    here.site.server.apply(CANARY).await?;
    here.says(&operator, "canary", "HEALTHY").await?;
    let mut statuses = here.statuses()?;
    here.patch("canary", &json!({ "spec": { "revision": "blue" } })).await?;
    // It is well when the other revision is there and the former gone, not before.
    let moved = async {
        let mut is_removed = false;
        loop {
            let status = statuses.recv().await.unwrap();
            is_removed |= status["message"] == "the former revision canary is being removed";
            if is_removed && status["status"] == "HEALTHY" {
                return;
            }
        }
    };
    timeout(PATIENCE, moved).await.unwrap();
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod-blue").await.is_some());
    let left = here.site.objects().await;
    assert!(
        left.keys().all(|key| !key.ends_with("-canary") && !key.contains("-canary.")),
        "{:?}",
        left.keys()
    );
    here.kubectl("delete istiooperator canary -n istio-system --timeout=90s").await?;
    let left = here.site.objects().await;
    assert!(left.keys().all(|key| !key.contains("blue")), "{:?}", left.keys());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_operator_of_a_revision_dies_the_one_without_a_revision_goes_on() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    here.site.mizzen("operator init").await.well();
    let (own, _) = here.operator_for("istio-system", "canary");
    let (general, _) = here.operator();
    here.site.server.apply(CANARY).await?;
    here.says(&own, "canary", "HEALTHY").await?;
    own.kill();
    here.kubectl("delete service istiod-canary -n istio-system").await?;
    let repaired = async || {
        let service = here.get(("", "Service"), "istio-system", "istiod-canary").await;
        Seen::from_option(service.map(drop), || "it is not there".to_owned())
    };
    general.until("the Service again", PATIENCE, repaired).await?;
    here.kubectl("delete istiooperator canary -n istio-system --timeout=90s").await?;
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod-canary").await.is_none());
    Ok(())
}
