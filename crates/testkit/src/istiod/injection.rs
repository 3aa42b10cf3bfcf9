//! What istiod needs to inject sidecars: templates, a certificate, and a webhook that the API server calls.
//!
//! Templates and webhook are rendered from Istio's own chart, so the selectors are the ones of an installation. The
//! webhook names an address on loopback instead of a Service; who signed for it is filled in by istiod itself.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::NAMESPACE;
use crate::{
    error::{During, Error, Result},
    kubectl::Kubectl,
    pki::{Authority, Leaf},
    run::{MARK, run},
    tools,
};

const WEBHOOK: &str = "istio-sidecar-injector";

pub(super) struct Injection {
    kubectl: Kubectl,
    https: SocketAddr,
    folder: PathBuf,
}

impl Injection {
    pub(super) async fn prepare(kubectl: &Kubectl, https: SocketAddr, folder: &Path) -> Result<Self> {
        let authority = Authority::new("istiod")?;
        let pair = authority.leaf(&Leaf { common_name: "istiod", ip: &[https.ip()], ..Leaf::default() })?;
        pair.write(folder, "webhook")?;
        authority.pair().write(folder, "root")?;
        let rendered = folder.join("injection.yaml");
        std::fs::write(&rendered, render(https)?).during("write the injection's objects")?;
        let injection = Self { kubectl: kubectl.clone(), https, folder: folder.to_owned() };
        kubectl.apply_files(&[rendered]).await?;
        Ok(injection)
    }

    pub(super) fn arguments(&self) -> [String; 4] {
        let file = |name: &str| self.folder.join(name).display().to_string();
        [
            format!("--httpsAddr={}", self.https),
            format!("--tlsCertFile={}", file("webhook.crt")),
            format!("--tlsKeyFile={}", file("webhook.key")),
            format!("--caCertFile={}", file("root.crt")),
        ]
    }

    /// Whether the API server has been told whom to trust.
    pub(super) async fn trusted(&self, kubectl: &Kubectl) -> Result<()> {
        let words = ["get", "mutatingwebhookconfiguration", WEBHOOK, "-o", "json"];
        let found: Value =
            serde_json::from_str(&kubectl.run(&words, String::new()).await?).map_err(Error::other)?;
        let webhooks = found["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let signed = |webhook: &Value| webhook["clientConfig"]["caBundle"].as_str().is_some_and(|it| !it.is_empty());
        match !webhooks.is_empty() && webhooks.iter().all(signed) {
            true => Ok(()),
            false => Err(Error::other("no authority in the webhook")),
        }
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        // It would refuse every pod that it matches when its server is gone.
        let words = ["delete", "mutatingwebhookconfiguration", WEBHOOK, "--ignore-not-found", "--wait=false"];
        let _ = self.kubectl.run_blocking(&words, "");
    }
}

fn render(https: SocketAddr) -> Result<String> {
    let chart = tools::folder("modules/istio")?.join("manifests/charts/istio-control/istio-discovery");
    let output = Command::new(tools::command("helm")?)
        .args(["template", "istiod"])
        .arg(chart)
        .args(["-n", NAMESPACE])
        .args(["-s", "templates/istiod-injector-configmap.yaml", "-s", "templates/mutatingwebhook.yaml"])
        .args(["--set", "global.hub=docker.io/istio", "--set", "global.tag=1.31.0"])
        .arg("--set")
        .arg(format!("istiodRemote.injectionURL=https://{https}/inject"))
        .env(MARK, run().folder())
        .output()
        .during("start helm")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::Other(format!("helm template: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
