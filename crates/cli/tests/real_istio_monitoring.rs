//! MonitoringReconciler in a real cluster: what can be there is, as soon as it can, and is kept.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, SAMPLE, condition};
use mizzen_testkit::{
    Controllers, Part, Result, needs,
    wait::{PATIENCE, Seen},
};
use serde_json::{Value, json};

const HOME: (&str, &str) = ("kyma-system", "istio-sample");
const MONITOR: (&str, &str) = ("monitoring.coreos.com", "ServiceMonitor");
const HEALTH: (&str, &str) = ("networking.istio.io", "VirtualService");

fn gateway(domain: &str) -> String {
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "Gateway",
        "metadata": { "name": "kyma-gateway", "namespace": "kyma-system" },
        "spec": {
            "selector": { "istio": "ingressgateway" },
            "servers": [{ "port": { "number": 80, "name": "http", "protocol": "HTTP" }, "hosts": [format!("*.{domain}")] }],
        },
    })
    .to_string()
}

struct Watched<'k> {
    kyma: &'k Kyma,
    operator: &'k Part,
}

impl Watched<'_> {
    /// Waits for a field of an object of the mesh's namespace; null where the object is not there.
    async fn until(&self, kind: (&str, &str), name: &str, pointer: &str, expected: &Value) -> Result<()> {
        let probe = async || {
            let live = self.kyma.here.get(kind, "istio-system", name).await.unwrap_or_default();
            let found = live.pointer(pointer).cloned().unwrap_or_default();
            Seen::when(found == *expected, || found.to_string())
        };
        self.operator.until(&format!("{pointer} of {name} to be {expected}"), PATIENCE, probe).await
    }

    async fn says(&self, words: &str) -> Result<()> {
        let probe = async || {
            let status = self.kyma.get(HOME.0, HOME.1).await.unwrap_or_default()["status"].clone();
            let told = condition(&status, "MonitoringApplied");
            let fine = status["state"] == "Ready" && told["status"] == "True" && told["message"] == words;
            Seen::when(fine, || status.to_string())
        };
        self.operator.until(words, PATIENCE, probe).await
    }

    async fn patch(&self, kind: &str, name: &str, patch: &str) -> Result<String> {
        let words = ["patch", kind, name, "-n", "istio-system", "--type=merge", "-p", patch];
        self.kyma.here.site.server.kubectl(&words).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn monitors_and_health_come_when_they_can_are_repaired_and_go_with_the_mesh() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (operator, _) = kyma.operator(&[]);
    let (here, server, watched) =
        (&kyma.here, &kyma.here.site.server, Watched { kyma: &kyma, operator: &operator });
    server.apply(SAMPLE).await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let (no_monitors, no_gateway) = (
        "no ServiceMonitors: the cluster has no such kind",
        "no page of health: there is no Gateway kyma-system/kyma-gateway",
    );
    watched.says(&format!("{no_monitors}; {no_gateway}")).await?;
    assert!(here.get(HEALTH, "istio-system", "istio-healthz").await.is_none());

    // The kind comes, and somebody's gateway: with them what they are for.
    server.apply(&operated::kind("monitoring.coreos.com", "ServiceMonitor")).await?;
    let (port, path) = ("/spec/endpoints/0/port", "/spec/endpoints/0/path");
    watched.until(MONITOR, "istio-control-plane", port, &json!("http-monitoring")).await?;
    watched.until(MONITOR, "istio-gateways", path, &json!("/stats/prometheus")).await?;
    watched.says(&format!("ServiceMonitors; {no_gateway}")).await?;
    server.apply(&gateway("kyma.example")).await?;
    watched.until(HEALTH, "istio-healthz", "/spec/hosts", &json!(["healthz.kyma.example"])).await?;
    watched.says("ServiceMonitors; health at healthz.kyma.example").await?;

    // Edited and deleted they are repaired.
    watched
        .patch("servicemonitor", "istio-control-plane", r#"{"spec":{"endpoints":[{"port":"mine"}]}}"#)
        .await?;
    watched.patch("virtualservice", "istio-healthz", r#"{"spec":{"hosts":["mine.example"]}}"#).await?;
    here.kubectl("delete servicemonitor istio-gateways -n istio-system").await?;
    watched.until(MONITOR, "istio-control-plane", port, &json!("http-monitoring")).await?;
    watched.until(MONITOR, "istio-gateways", path, &json!("/stats/prometheus")).await?;
    watched.until(HEALTH, "istio-healthz", "/spec/hosts", &json!(["healthz.kyma.example"])).await?;

    // The gateway moves to another domain, and goes: health with it.
    server.apply(&gateway("other.example")).await?;
    watched.until(HEALTH, "istio-healthz", "/spec/hosts", &json!(["healthz.other.example"])).await?;
    here.kubectl("delete gateway.networking.istio.io kyma-gateway -n kyma-system").await?;
    watched.until(HEALTH, "istio-healthz", "/spec", &Value::Null).await?;

    // Somebody's gateway keeps the mesh; what is kept here goes with it.
    server.apply(&gateway("kyma.example")).await?;
    here.kubectl("delete istio istio-sample -n kyma-system --wait=false").await?;
    let status = kyma.says(&operator, HOME, "Warning", "IstioCustomResourcesDangling").await?;
    let words = "There are Istio resources that block deletion: Gateway kyma-system/kyma-gateway. ";
    assert!(status["description"].as_str().unwrap().starts_with(words), "{status}");
    here.kubectl("delete gateway.networking.istio.io kyma-gateway -n kyma-system").await?;
    kyma.until_gone(&operator, HOME.1).await?;
    assert!(here.get(MONITOR, "istio-system", "istio-control-plane").await.is_none());
    assert!(here.get(MONITOR, "istio-system", "istio-gateways").await.is_none());
    let log = operator.log();
    let refused: Vec<&str> = log.lines().filter(|line| line.contains("forbidden")).collect();
    assert!(refused.is_empty(), "it lacks a right: {refused:#?}");
    Ok(())
}
