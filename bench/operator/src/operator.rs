//! The process that is measured.

use anyhow::{Context as _, Result, bail};
use mizzen_testkit::{
    ApiServer, Part,
    wait::{PATIENCE, Seen},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

pub(crate) struct Operator(Part);

/// What one look cost.
pub(crate) struct Look {
    pub(crate) seconds: f64,
    pub(crate) outcome: String,
}

const RESOURCE: &str = "{ apiVersion: operator.kyma-project.io/v1alpha2, kind: Istio, metadata: { name: default, namespace: kyma-system } }";

impl Operator {
    /// With its definition, its rights and a mesh.
    pub(crate) async fn install(mizzen: &Path, server: &ApiServer) -> Result<Self> {
        let manifest =
            Command::new(mizzen).args(["operator", "manifest"]).stderr(Stdio::inherit()).output()?;
        server.apply(&String::from_utf8(manifest.stdout)?).await?;
        server
            .kubectl(&["wait", "--for=condition=Established", "crd", "istios.operator.kyma-project.io"])
            .await?;
        let operator = Self::start(mizzen, &server.kubeconfig_file())?;
        server.apply(RESOURCE).await?;
        let well = async || {
            let line = ["get", "istio", "default", "-n", "kyma-system", "-o", "jsonpath={.status.state}"];
            let state = server.kubectl(&line).await.unwrap_or_else(|error| error.to_string());
            Seen::when(state == "Ready", || state)
        };
        operator.0.until("the mesh to be ready", PATIENCE, well).await?;
        // As a control plane does: without, nothing is restarted.
        let bundle = r#"[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Q0E="}]"#;
        let webhook = "patch mutatingwebhookconfiguration istio-revision-tag-default --type=json -p";
        server.kubectl(&webhook.split(' ').chain([bundle]).collect::<Vec<_>>()).await?;
        Ok(operator)
    }

    pub(crate) fn start(mizzen: &Path, kubeconfig: &Path) -> Result<Self> {
        let mut command = Command::new(mizzen);
        command
            .args(["operator", "run", "--kind", "Istio", "--monitoring-port", "0", "--leader-elect=false"])
            .args(["--log-level", "info,mizzen_operator=debug"])
            .args(["--as", "system:serviceaccount:kyma-system:istio-controller-manager"])
            .arg("--kubeconfig")
            .arg(kubeconfig);
        Ok(Self(Part::start("operator", command)?))
    }

    /// Makes it look at the resource, by a change of its surroundings that changes nothing; waits until it has.
    pub(crate) async fn look(&self, server: &ApiServer) -> Result<Look> {
        let looks = || self.0.log().lines().filter(|line| line.contains("a pass")).count();
        let before = looks();
        let line = ["delete", "configmap", "istio-features", "-n", "kyma-system"];
        if server.kubectl(&line).await.is_err() {
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio-features", "namespace": "kyma-system" },
                "data": { "features": "{}" },
            });
            server.apply(&map.to_string()).await?;
        }
        let looked = async || Seen::when(looks() > before, || "no further look".to_owned());
        self.0.until("another look", PATIENCE * 4, looked).await?;
        let log = self.0.log();
        let last = log.lines().rfind(|line| line.contains("a pass")).context("no look")?;
        let field = |name: &str| {
            let value = last.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            value.with_context(|| format!("{name} in {last}"))
        };
        Ok(Look { seconds: seconds(field("took")?)?, outcome: field("outcome")?.to_owned() })
    }

    /// In bytes: now, and the most that there ever was.
    pub(crate) fn memory(&self) -> Result<Value> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.pid()))?;
        let bytes = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such figure")?;
            let kilobytes = line.trim_matches([':', ' ', '\t']).trim_end_matches(" kB");
            Ok(kilobytes.parse::<u64>()? * 1_024)
        };
        Ok(json!({ "resident": bytes("VmRSS")?, "peak": bytes("VmHWM")? }))
    }

    pub(crate) fn end(&self) {
        self.0.kill();
    }
}

/// As Rust prints it.
fn seconds(text: &str) -> Result<f64> {
    for (unit, factor) in [("ms", 1e-3), ("µs", 1e-6), ("s", 1.0)] {
        if let Some(number) = text.strip_suffix(unit) {
            return Ok(number.parse::<f64>()? * factor);
        }
    }
    bail!("{text} is no duration")
}
