//! An installation of somebody else's was cut off, and has left two injectors that are both on: ours goes through nevertheless.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, resource};
use mizzen_testkit::{Controllers, Result, needs};
use serde_json::{Value, json};

const HOME: (&str, &str) = ("kyma-system", "default");
const KIND: (&str, &str) = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration");
/// As `istioctl tag set default --webhook-name` calls it.
const TAGGED: &str = "somebodys-default-tag";

/// An injector, as installers leave it.
fn injector(name: &str, labels: &Value, matched: &Value) -> Value {
    let mut labels = labels.clone();
    labels["app"] = "sidecar-injector".into();
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": { "name": name, "labels": labels },
        "webhooks": [{
            "name": "namespace.sidecar-injector.istio.io",
            "clientConfig": { "service": { "name": "istiod", "namespace": "istio-system", "path": "/inject" } },
            "namespaceSelector": { "matchLabels": matched }, "objectSelector": { "matchLabels": matched },
            "rules": [{ "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"] }],
            "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
        }],
    })
}

/// Both of an installer that was cut off: the plain one was to be switched off when the tag's was there.
fn left_behind(plain_is_off: bool) -> [Value; 2] {
    let off = json!({ "istio.io/deactivated": "never-match" });
    let on = json!({ "istio-injection": "enabled" });
    let mut tagged = injector(TAGGED, &json!({ "istio.io/rev": "default", "istio.io/tag": "default" }), &on);
    tagged["webhooks"][0]["objectSelector"] = json!({});
    let matched = if plain_is_off { &off } else { &on };
    let mut plain = injector("istio-sidecar-injector", &json!({ "istio.io/rev": "default" }), matched);
    if !plain_is_off {
        plain["webhooks"][0]["objectSelector"] = json!({});
    }
    [tagged, plain]
}

#[tokio::test(flavor = "multi_thread")]
async fn injectors_that_a_cut_off_installer_left_are_cleaned_up() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    // As istioctl applies them, so that they are taken over.
    let apply = async |object: &Value| {
        let file = server.kubeconfig_file().with_file_name("left-behind.json");
        std::fs::write(&file, object.to_string()).unwrap();
        let words = ["apply", "--server-side", "--field-manager=istio-operator", "--force-conflicts", "-f"];
        server.kubectl(&words.into_iter().chain([file.to_str().unwrap()]).collect::<Vec<_>>()).await
    };

    // Where the plain one is off, the tag's is the one that serves: it is nobody's to delete, and is told.
    for object in left_behind(true) {
        apply(&object).await?;
    }
    let (operator, _) = kyma.operator(&["--failure-max-delay", "1s"]);
    server.apply(&resource(HOME.0, HOME.1, "{}")).await?;
    let status = kyma.says(&operator, HOME, "Error", "IstioInstallUninstallFailed").await?;
    let description = status["description"].as_str().unwrap();
    assert!(
        description.contains("Webhook overlaps with others") && description.contains(TAGGED),
        "{description}"
    );
    assert!(here.get(KIND, "", TAGGED).await.is_some());
    assert!(here.get(operated::DEPLOYMENT, "istio-system", "istiod").await.is_none());

    // Where both are on, the tag's goes, and the next attempt goes through.
    for object in left_behind(false) {
        apply(&object).await?;
    }
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    assert!(here.get(KIND, "", TAGGED).await.is_none());
    let plain = here.get(KIND, "", "istio-sidecar-injector").await.unwrap();
    assert!(plain["webhooks"].to_string().contains("never-match"), "{plain}");
    assert!(here.get(KIND, "", "istio-revision-tag-default").await.is_some());
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    kyma.until_no_namespace().await?;

    // One pass from a terminal cleans up and goes on by itself; a plan touches nothing.
    operator.kill();
    for object in left_behind(false) {
        apply(&object).await?;
    }
    let line = "reconcile --components cluster-essentials,istio";
    for plan in ["--dry-run", "--dry-run --force"] {
        let told = here.site.mizzen(&format!("{line} {plan}")).await.badly();
        assert!(told.contains("Webhook overlaps with others"), "{plan}: {told}");
    }
    assert!(here.get(KIND, "", TAGGED).await.is_some());
    let told = here.site.mizzen(line).await.well();
    assert!(told.contains(&format!("removed: {TAGGED}")), "{told}");
    assert!(here.get(KIND, "", TAGGED).await.is_none());
    assert!(here.get(operated::DEPLOYMENT, "istio-system", "istiod").await.is_some());
    Ok(())
}
