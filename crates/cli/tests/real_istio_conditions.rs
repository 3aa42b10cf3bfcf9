//! Every reason of a condition that the `Istio` resource can have, reached; and with each when the resource is looked at again.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "which rows were reached is part of the result")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, condition, resource};
use mizzen_cluster::Resource;
use mizzen_testkit::{
    Controllers, Result,
    faults::{Fault, Verb},
    needs,
    wait::{PATIENCE, Seen},
};
use operated::DEPLOYMENT;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::sleep;

const HOME: &str = "kyma-system";
const DEFAULT: (&str, &str) = (HOME, "default");
const READY: &str = "Ready";
const SIDECARS: &str = "ProxySidecarRestartSucceeded";
const FILTERS: &str = "IngressTargetingUserResourceFound";

/// Condition, reason, status and message; nothing where the words name something.
const ROWS: [(&str, &str, &str, Option<&str>); 22] = [
    (READY, "ReconcileSucceeded", "True", Some("Reconciliation succeeded")),
    (READY, "ReconcileFailed", "False", Some("Reconciliation failed")),
    (
        READY,
        "ReconcileUnknown",
        "Unknown",
        Some(
            "Module readiness is unknown. Either a reconciliation is progressing, or failed previously. Check status of other conditions",
        ),
    ),
    (
        READY,
        "ValidationFailed",
        "False",
        Some("Reconciliation did not happen as Istio Custom Resource failed to validate"),
    ),
    (
        READY,
        "OlderCRExists",
        "False",
        Some("This Istio custom resource is not the oldest one and does not represent the module state"),
    ),
    (READY, "IstioInstallNotNeeded", "False", Some("Istio installation is not needed")),
    (READY, "IstioInstallSucceeded", "False", Some("Istio installation succeeded")),
    (READY, "IstioUninstallSucceeded", "False", Some("Istio uninstallation succeded")),
    (READY, "IstioInstallUninstallFailed", "False", Some("Istio install or uninstall failed")),
    (
        READY,
        "IstioCustomResourceMisconfigured",
        "False",
        Some("Istio custom resource has invalid configuration"),
    ),
    (
        READY,
        "IstioCustomResourcesDangling",
        "False",
        Some("Istio deletion blocked because of existing Istio custom resources"),
    ),
    (READY, "IstioVersionUpdateNotAllowed", "False", Some("Update to the new Istio version is not allowed")),
    (READY, "CustomResourcesReconcileFailed", "False", Some("Custom resources reconciliation failed")),
    (READY, "IngressGatewayRestartSucceeded", "False", Some("Istio Ingress Gateway restart succeeded")),
    (READY, "IngressGatewayRestartFailed", "False", Some("Istio Ingress Gateway restart failed")),
    (SIDECARS, "ProxySidecarRestartSucceeded", "True", Some("Proxy sidecar restart succeeded")),
    (SIDECARS, "ProxySidecarRestartFailed", "False", Some("Proxy sidecar restart failed")),
    (SIDECARS, "ProxySidecarManualRestartRequired", "False", None),
    (
        FILTERS,
        "IngressTargetingUserResourceFound",
        "True",
        Some("Resource targeting Istio Ingress Gateway found"),
    ),
    (
        FILTERS,
        "IngressTargetingUserResourceNotFound",
        "False",
        Some("Resources targeting Istio Ingress Gateway not found"),
    ),
    (
        FILTERS,
        "IngressTargetingUserResourceDetectionFailed",
        "Unknown",
        Some("Resource targeting Istio Ingress Gateway detection failed"),
    ),
    // Ours.
    (SIDECARS, "NobodyInjects", "False", None),
];

type Told = Arc<Mutex<BTreeSet<(String, String, String, String)>>>;

/// Everything that any status says from now on.
fn listen(kyma: &Kyma) -> Result<Told> {
    let resource = Resource::new("operator.kyma-project.io", &["v1alpha2"], "istios");
    let mut statuses = kyma.here.statuses_of(resource)?;
    let told = Told::default();
    let heard = Arc::clone(&told);
    tokio::spawn(async move {
        while let Some(status) = statuses.recv().await {
            for condition in status["conditions"].as_array().into_iter().flatten() {
                let [kind, reason, is, message] = ["type", "reason", "status", "message"]
                    .map(|field| condition[field].as_str().unwrap_or_default().to_owned());
                heard.lock().unwrap().insert((kind, reason, is, message));
            }
        }
    });
    Ok(told)
}

/// A workload whose pods say themselves that they have an old sidecar.
fn old(kind: &str, namespace: &str, name: &str) -> Value {
    let template = json!({
        "metadata": { "labels": { "app": name }, "annotations": { "sidecar.istio.io/status": "{}" } },
        "spec": { "containers": [{ "name": "app", "image": "app" }, { "name": "istio-proxy", "image": "old" }] },
    });
    if kind == "Pod" {
        let mut pod = template;
        pod["apiVersion"] = "v1".into();
        pod["kind"] = kind.into();
        pod["metadata"]["name"] = name.into();
        pod["metadata"]["namespace"] = namespace.into();
        return pod;
    }
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name, "namespace": namespace },
        "spec": { "selector": { "matchLabels": { "app": name } }, "template": template },
    })
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one resource goes through all of it")]
async fn every_row_of_the_tables_of_conditions_and_of_waits_is_reached() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let faults = server.faults().await?;
    let told = listen(&kyma)?;
    let (operator, port) = kyma.operator_through(
        &faults.kubeconfig_file(),
        &["--failure-max-delay", "2s", "--reconciliation-interval", "5s"],
    );
    let apply = async |spec: &str| server.apply(&resource(HOME, "default", spec)).await;
    let says = async |state: &str, reason: &str| kyma.says(&operator, DEFAULT, state, reason).await;
    let comes_to = async |outcome: &str| kyma.comes_to(&operator, DEFAULT, outcome).await;

    // What people have to change first is not looked at again before they have: validation, another namespace, not the oldest.
    apply("{ config: { authorizers: [{ name: a, port: 1 }, { name: a, port: 2 }] } }").await?;
    says("Warning", "ValidationFailed").await?;
    comes_to("Settled").await?;
    apply("{ config: { proxyStatsMatcher: { inclusionRegexps: ['('] } } }").await?;
    says("Error", "ValidationFailed").await?;
    comes_to("Settled").await?;
    server.apply(&resource("default", "elsewhere", "{}")).await?;
    kyma.says(&operator, ("default", "elsewhere"), "Error", "ReconcileFailed").await?;
    kyma.comes_to(&operator, ("default", "elsewhere"), "Settled").await?;
    let held = "{ apiVersion: operator.kyma-project.io/v1alpha2, kind: Istio,
        metadata: { name: second, namespace: kyma-system, finalizers: [example.com/hold] } }";
    // Of two of one second the later one counts.
    sleep(Duration::from_millis(1100)).await;
    server.apply(held).await?;
    kyma.says(&operator, (HOME, "second"), "Warning", "OlderCRExists").await?;
    kyma.comes_to(&operator, (HOME, "second"), "Settled").await?;
    // One that goes, and nothing of ours holds it.
    here.kubectl("delete istio second -n kyma-system --wait=false").await?;
    let not_needed = async || {
        let status = kyma.get(HOME, "second").await.unwrap_or_default()["status"].clone();
        Seen::when(condition(&status, READY)["reason"] == "IstioInstallNotNeeded", || status.to_string())
    };
    operator.until("second not to be needed", PATIENCE, not_needed).await?;
    let free = r#"{"metadata":{"finalizers":[]}}"#;
    server.kubectl(&["patch", "istio", "second", "-n", HOME, "--type=merge", "-p", free]).await?;

    // Errors come again, later each time.
    apply("{ mizzen: { distribution: istio } }").await?;
    says("Error", "IstioCustomResourceMisconfigured").await?;
    comes_to("Failed").await?;
    kyma.forbid(DEPLOYMENTS, "object.metadata.name != 'istiod'").await?;
    apply("{ compatibilityMode: false }").await?;
    let status = says("Error", "IstioInstallUninstallFailed").await?;
    let description = status["description"].as_str().unwrap();
    assert!(
        description.starts_with("Could not install Istio: ") && description.contains("not today"),
        "{description}"
    );
    comes_to("Failed").await?;
    kyma.allow("deployments").await?;

    // All is well, and looked at again in time though nothing happens.
    says("Ready", "ReconcileSucceeded").await?;
    comes_to("Unchanged").await?;
    let before = operated::passes(port).await;
    let again = async || {
        let now = operated::passes(port).await;
        Seen::when(now != before, || now)
    };
    operator.until("another look", PATIENCE, again).await?;

    // What is kept beside the mesh.
    kyma.forbid(("security.istio.io", "peerauthentications"), "object.spec.mtls.mode != 'STRICT'").await?;
    here.kubectl("delete peerauthentication default -n istio-system").await?;
    let status = says("Error", "CustomResourcesReconcileFailed").await?;
    assert_eq!(condition(&status, "PeerAuthenticationApplied")["status"], "False", "{status}");
    assert_eq!(condition(&status, SIDECARS)["status"], "True", "the others go on: {status}");
    comes_to("Failed").await?;
    kyma.allow("peerauthentications").await?;
    says("Ready", "ReconcileSucceeded").await?;

    // The gateway.
    let restarted = "!('annotations' in object.spec.template.metadata) || \
        !('istio-operator.kyma-project.io/restartedAt' in object.spec.template.metadata.annotations)";
    kyma.forbid(DEPLOYMENTS, restarted).await?;
    apply("{ config: { numTrustedProxies: 1 } }").await?;
    says("Error", "IngressGatewayRestartFailed").await?;
    comes_to("Failed").await?;
    kyma.allow("deployments").await?;
    says("Ready", "ReconcileSucceeded").await?;

    // Sidecars: nobody injects; Kyma's own cannot be restarted; those that only their owners can restart.
    server.apply(&old("Deployment", HOME, "kymas").to_string()).await?;
    here.kubectl("rollout status deployment kymas -n kyma-system --timeout=60s").await?;
    apply("{ config: { numTrustedProxies: 1, gatewayExternalTrafficPolicy: Local } }").await?;
    let status = says("Warning", "ReconcileFailed").await?;
    assert_eq!(condition(&status, SIDECARS)["reason"], "NobodyInjects", "{status}");
    comes_to("Noted").await?;
    // The gateway was restarted before.
    let restarted = format!("object.metadata.namespace != 'kyma-system' || {restarted}");
    kyma.forbid(DEPLOYMENTS, &restarted).await?;
    here.injection_is_served().await?;
    apply("{ config: { numTrustedProxies: 1 } }").await?;
    let status = says("Error", "ReconcileFailed").await?;
    assert_eq!(condition(&status, SIDECARS)["reason"], "ProxySidecarRestartFailed", "{status}");
    comes_to("Failed").await?;
    kyma.allow("deployments").await?;
    here.kubectl("delete deployment kymas -n kyma-system --cascade=foreground").await?;
    server.apply(&old("Pod", "default", "bare").to_string()).await?;
    here.kubectl("wait pod/bare --for=condition=Ready --timeout=60s").await?;
    apply("{ config: { numTrustedProxies: 1, gatewayExternalTrafficPolicy: Local } }").await?;
    let status = says("Warning", "ReconcileFailed").await?;
    assert_eq!(condition(&status, SIDECARS)["reason"], "ProxySidecarManualRestartRequired", "{status}");
    comes_to("Noted").await?;
    here.kubectl("delete pod bare --force").await?;

    // Somebody's EnvoyFilter; and a list of them that cannot be had.
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "mine", "namespace": "istio-system" },
        "spec": { "workloadSelector": { "labels": { "istio": "ingressgateway" } }, "configPatches": [] },
    });
    server.apply(&filter.to_string()).await?;
    apply("{ config: { numTrustedProxies: 1 } }").await?;
    let status = says("Warning", "ReconcileFailed").await?;
    assert_eq!(condition(&status, FILTERS)["status"], "True", "{status}");
    comes_to("Noted").await?;
    here.kubectl("delete envoyfilter mine -n istio-system").await?;
    let lists = Fault::internal_error().on(Verb::Read).path("namespaces/istio-system/envoyfilters").last();
    let fault = faults.inject(lists);
    apply("{ config: { numTrustedProxies: 1, gatewayExternalTrafficPolicy: Local } }").await?;
    let status = says("Error", "ReconcileFailed").await?;
    assert_eq!(condition(&status, FILTERS)["status"], "Unknown", "{status}");
    comes_to("Failed").await?;
    faults.remove(&fault);
    says("Ready", "ReconcileSucceeded").await?;

    // What people have to do something about is looked at once a minute: another version, and what blocks deletion.
    kyma.refuses_to_follow(&operator, DEFAULT, "0.3.0", &json!({ "config": { "numTrustedProxies": 1 } }))
        .await?;
    comes_to("Blocked").await?;
    let rule = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
        "metadata": { "name": "mine", "namespace": "default" }, "spec": { "host": "somewhere" },
    });
    server.apply(&rule.to_string()).await?;
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    says("Warning", "IstioCustomResourcesDangling").await?;
    comes_to("Blocked").await?;
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());
    here.kubectl("delete destinationrule mine -n default").await?;
    kyma.until_gone(&operator, "default").await?;

    let reached = |(kind, reason, status, message): &(&str, &str, &str, Option<&str>)| {
        told.lock().unwrap().iter().any(|known| {
            (known.0.as_str(), known.1.as_str(), known.2.as_str()) == (*kind, *reason, *status)
                && message.is_none_or(|message| message == known.3)
        })
    };
    // What was told last is heard a moment later.
    let all = async || {
        let missing: Vec<_> = ROWS.iter().filter(|row| !reached(row)).collect();
        println!("{} of {} reasons reached", ROWS.len() - missing.len(), ROWS.len());
        Seen::when(missing.is_empty(), || format!("{missing:#?} in {:#?}", told.lock().unwrap()))
    };
    operator.until("every reason to have been told", PATIENCE, all).await
}

const DEPLOYMENTS: (&str, &str) = ("apps", "deployments");
