//! What speaks against an installation, and what goes wrong in the middle of one: said in a sentence, and nothing lost.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod site;

use mizzen_testkit::{
    Controllers, Result, controllers,
    faults::{Fault, Verb},
    needs,
};
use serde_json::{Value, json};
use site::{BINARY, Site, changed};
use std::{fs, path::Path, process::Stdio, time::Duration};
use tokio::{io::AsyncReadExt, process::Command};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_every_fifth_call_does_not_keep_a_mesh_from_being_installed() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y").await.well();
    let undisturbed = site.state().await;
    site.mizzen("uninstall --purge -y").await.well();
    let faults = site.server.faults().await?;
    let injected = [
        faults.inject(Fault::too_many_requests(0).rate(1, 15)),
        faults.inject(Fault::internal_error().rate(1, 15)),
        faults.inject(Fault::conflict().on(Verb::Write).rate(1, 8)),
        faults.inject(Fault::lose_answer().rate(1, 40)),
    ];
    let through = faults.kubeconfig_file();
    site.run(Path::new(BINARY), &through, "install -y").await.well();
    assert_eq!(site.state().await, undisturbed);
    site.run(Path::new(BINARY), &through, "uninstall --purge -y").await.well();
    assert!(injected.iter().all(|fault| fault.hits() > 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_right_is_named_before_anything_is_written() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let all = [
        "",
        "apps",
        "rbac.authorization.k8s.io",
        "autoscaling",
        "policy",
        "apiextensions.k8s.io",
        "networking.k8s.io",
        "networking.istio.io",
    ];
    let role = |name: &str, rules: Value| json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": name }, "rules": rules });
    let nearly = json!([
        { "apiGroups": all, "resources": ["*"], "verbs": ["*"] },
        { "apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["get", "list"] },
        { "apiGroups": ["admissionregistration.k8s.io"], "resources": ["mutatingwebhookconfigurations"], "verbs": ["*"] }]);
    let reads = json!([{ "apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"] }]);
    for (user, rules) in [("nearly", nearly), ("reader", reads)] {
        site.server.apply(&role(user, rules).to_string()).await?;
        let bind = format!("create clusterrolebinding {user} --clusterrole={user} --user={user}");
        site.server.kubectl(&bind.split_whitespace().collect::<Vec<_>>()).await?;
    }
    let before = site.versions().await;
    let told = site.mizzen("install -y --as nearly --as-group system:authenticated").await.badly();
    let sentence =
        "this user may not: create ValidatingWebhookConfiguration, patch ValidatingWebhookConfiguration\n";
    assert!(told.contains(sentence) && told.contains("nothing was done"), "{told}");
    let told = site.mizzen("install -y --as reader --as-group system:authenticated").await.badly();
    assert!(told.contains("this user may not: ") && told.contains("create Namespace"), "{told}");
    let told = site.mizzen("install -y --as nobody --as-group system:authenticated").await.badly();
    assert!(told.contains("is not allowed") && told.contains("ask for that right"), "{told}");
    assert_eq!(changed(&before, &site.versions().await), Vec::<String>::new());

    site.mizzen("install -y --set profile=minimal").await.well();
    let before = site.versions().await;
    for flags in ["--revision default -y", "--revision default --dry-run"] {
        let line = format!("uninstall {flags} --as nearly --as-group system:authenticated");
        let told = site.mizzen(&line).await.badly();
        let sentence = "this user may not: delete ValidatingWebhookConfiguration\n";
        assert!(told.contains(sentence) && told.contains("nothing was done"), "{told}");
    }
    assert_eq!(changed(&before, &site.versions().await), Vec::<String>::new());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_holds_is_named_and_the_removal_is_not_called_done() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    site.mizzen("install -y --set profile=minimal").await.well();
    let held = json!({ "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": { "name": "held", "namespace": "default", "finalizers": ["example.com/held"] },
        "spec": { "hosts": ["a"], "http": [{ "route": [{ "destination": { "host": "a" } }] }] } });
    site.server.apply(&held.to_string()).await?;
    let ended = site.mizzen("uninstall --purge -y").await;
    assert!(
        ended.out.contains("The mesh waits for CustomResourceDefinition virtualservices"),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains("the mesh is removed"), "{}", ended.out);
    let told = ended.badly();
    assert!(told.contains("before it has to go: VirtualService default/held"), "{told}");
    let free = r#"{"metadata":{"finalizers":null}}"#;
    site.server.kubectl(&["patch", "virtualservice", "held", "--type=merge", "-p", free]).await?;
    let told = site.mizzen("uninstall --purge -y").await.well();
    assert!(told.contains("the mesh is removed") || told.contains("nothing to remove"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_would_inject_the_same_pods_are_refused() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let other = json!({ "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": { "name": "another-injector" }, "webhooks": [{
            "name": "namespace.sidecar-injector.istio.io", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore", "clientConfig": { "url": "https://127.0.0.1:1/inject" },
            "namespaceSelector": { "matchLabels": { "istio-injection": "enabled" } } }] });
    site.server.apply(&other.to_string()).await?;
    let before = site.objects().await.len();
    let told = site.mizzen("install -y").await.badly();
    assert!(told.contains("[IST0139]") && told.contains("another-injector"), "{told}");
    assert_eq!(site.objects().await.len(), before, "nothing was made");
    let told = site.mizzen("install -y --force").await;
    assert!(told.code == Some(0) && told.err.contains("[IST0139]"), "{}", told.err);
    Ok(())
}

/// An IstioOperator that changes istiod's pods.
fn patched(site: &Site, name: &str, path: &str, value: &Value) -> String {
    let file = site.server.kubeconfig_file().with_file_name(format!("{name}.yaml"));
    let overlay =
        json!({ "kind": "Deployment", "name": "istiod", "patches": [{ "path": path, "value": value }] });
    let operator = json!({ "apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator",
        "spec": { "profile": "minimal", "components": { "pilot": { "k8s": { "overlays": [overlay] } } } } });
    fs::write(&file, operator.to_string()).unwrap();
    file.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_cannot_start_is_explained() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let label = format!("spec.template.metadata.labels.{}", controllers::POD.replace('.', "\\."));
    let node = json!({ "kubernetes.io/hostname": "nowhere" });
    let cases = [
        (
            label.as_str(),
            json!(controllers::IMAGE_PULL_ERROR),
            ["container discovery waits, ", "ImagePullBackOff"],
        ),
        (
            &label,
            json!(controllers::CRASH_LOOP),
            ["container discovery waits, CrashLoopBackOff", "it ended with code"],
        ),
        ("spec.template.spec.nodeSelector", node, ["no node takes it: ", "didn't match"]),
    ];
    for (path, value, expected) in cases {
        let file = patched(&site, "broken", path, &value);
        let ended = site.mizzen(&format!("install -y -f {file} --readiness-timeout 30s")).await;
        assert_eq!(ended.code, Some(1), "{}", ended.out);
        let told = ended.out;
        assert!(told.contains("✘ Istiod: not ready after 30 s: Deployment istio-system/istiod"), "{told}");
        assert!(
            told.contains("pod istiod-") && expected.iter().all(|part| told.contains(part)),
            "{value}: {told}"
        );
        assert!(ended.err.contains("run the same command again"), "{}", ended.err);
        site.mizzen("uninstall --purge -y").await.well();
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_worked_on_is_told_in_a_sentence() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let kubeconfig = fs::read_to_string(site.server.kubeconfig_file()).unwrap();
    let written = |name: &str, text: String| {
        let file = site.server.kubeconfig_file().with_file_name(name);
        fs::write(&file, text).unwrap();
        file
    };
    let said = async |file: &Path, line: &str| site.run(Path::new(BINARY), file, line).await.badly();
    let port = site.server.url().rsplit_once(':').unwrap().1.to_owned();
    let nobody = written("nobody", kubeconfig.replace(&format!(":{port}"), ":1"));
    let told = said(&nobody, "install -y").await;
    assert!(told.contains("no answer") && told.contains("is the cluster running"), "{told}");
    let told = site.mizzen("install -y --context elsewhere").await.badly();
    assert!(told.contains("elsewhere") && told.contains("--context"), "{told}");
    let faults = site.server.faults().await?;
    let text = fs::read_to_string(faults.kubeconfig_file()).unwrap();
    let token = site.server.control_plane().token();
    assert!(text.contains(token));
    let expired = written("expired", text.replace(token, "expired"));
    let told = said(&expired, "install -y").await;
    assert!(told.contains("does not accept these credentials") && told.contains("log in again"), "{told}");
    let nothing = site.mizzen("install -y --kubeconfig /does/not/exist").await;
    assert_eq!(nothing.code, Some(2), "named twice: {}", nothing.err);
    // Slow is not wrong.
    faults.inject(Fault::delay(Duration::from_millis(300)));
    site.run(Path::new(BINARY), &faults.kubeconfig_file(), "install -y --set profile=minimal").await.well();
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_deleted_is_waited_for_or_told() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let kubectl = async |words: &[&str]| site.server.kubectl(words).await;
    site.mizzen("install -y --set profile=minimal").await.well();
    // An object of the kind that is held holds its definition.
    let held = json!({ "apiVersion": "networking.istio.io/v1", "kind": "Sidecar",
        "metadata": { "name": "held", "namespace": "default", "finalizers": ["example.com/hold"] } });
    site.server.apply(&held.to_string()).await?;
    let definition = "sidecars.networking.istio.io";
    kubectl(&["delete", "crd", definition, "--wait=false"]).await?;
    let ended = site.mizzen("install -y --set profile=minimal --readiness-timeout 2s").await;
    assert!(
        ended.out.contains(&format!("{definition} is being deleted since")),
        "{}{}",
        ended.out,
        ended.err
    );
    assert!(ended.out.contains("customresourcecleanup"), "{}", ended.out);
    kubectl(&[
        "-n",
        "default",
        "patch",
        "sidecar",
        "held",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ])
    .await?;
    site.mizzen("install -y --set profile=minimal").await.well();
    // And a namespace.
    kubectl(&["-n", "istio-system", "create", "configmap", "held"]).await?;
    let hold = r#"{"metadata":{"finalizers":["example.com/hold"]}}"#;
    kubectl(&["-n", "istio-system", "patch", "configmap", "held", "--type=merge", "-p", hold]).await?;
    kubectl(&["delete", "namespace", "istio-system", "--wait=false"]).await?;
    let told = site.mizzen("install -y --set profile=minimal").await.badly();
    assert!(
        told.contains("Namespace istio-system is being deleted") && told.contains("nothing was done"),
        "{told}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_says_what_was_done_and_how_to_go_on() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let faults = site.server.faults().await?;
    let slow = faults.inject(Fault::delay(Duration::from_millis(400)).on(Verb::Write));
    let mut child = Command::new(BINARY)
        .args(["install", "-y", "--kubeconfig"])
        .arg(faults.kubeconfig_file())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while slow.hits() < 6 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let pid = child.id().unwrap().to_string();
    Command::new("kill").args(["-INT", &pid]).status().await.unwrap();
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(1), "{told}");
    assert!(told.contains("interrupted after ") && told.contains("run the same command again"), "{told}");
    faults.clear();
    site.mizzen("install -y").await.well();
    let done = site.versions().await;
    site.mizzen("install -y").await.well();
    assert_eq!(changed(&done, &site.versions().await), Vec::<String>::new());
    Ok(())
}
