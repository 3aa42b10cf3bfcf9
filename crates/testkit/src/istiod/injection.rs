//! What istiod needs to inject sidecars: templates, a certificate, and a webhook that the API server calls.
//!
//! Templates and webhook are rendered from Istio's own chart, so the selectors are the ones of an installation. The
//! webhook names an address on loopback instead of a Service; who signed for it is filled in by istiod itself.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::{Api, Client, Config, api::DeleteParams};
use tokio::process::Command;

use super::NAMESPACE;
use crate::{
    apiserver::ApiServer,
    error::{During, Error, Result},
    pki::{Authority, Leaf},
    run::{MARK, run},
    tools,
};

const WEBHOOK: &str = "istio-sidecar-injector";

pub(super) struct Injection {
    server: Config,
    https: SocketAddr,
    folder: PathBuf,
}

impl Injection {
    pub(super) async fn prepare(server: &ApiServer, https: SocketAddr, folder: &Path) -> Result<Self> {
        let authority = Authority::new("istiod's authority")?;
        let pair = authority.leaf(&Leaf { common_name: "istiod", ip: &[https.ip()], ..Leaf::default() })?;
        pair.write(folder, "webhook")?;
        authority.pair().write(folder, "root")?;
        let injection = Self { server: server.config()?, https, folder: folder.to_owned() };
        server.apply(&render(https).await?).await?;
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
    pub(super) async fn trusted(&self) -> Result<()> {
        let found = webhooks(self.server.clone())?.get(WEBHOOK).await?;
        let webhooks = found.webhooks.unwrap_or_default();
        match webhooks.iter().all(|webhook| webhook.client_config.ca_bundle.is_some()) {
            true if !webhooks.is_empty() => Ok(()),
            _ => Err(Error::other("no authority in the webhook")),
        }
    }
}

fn webhooks(server: Config) -> Result<Api<MutatingWebhookConfiguration>> {
    Ok(Api::all(Client::try_from(server)?))
}

/// A webhook whose server is gone refuses every pod that it matches.
impl Drop for Injection {
    fn drop(&mut self) {
        let server = self.server.clone();
        let (done, wait) = mpsc::sync_channel(1);
        run().runtime().spawn(async move {
            if let Ok(webhooks) = webhooks(server) {
                let _ = webhooks.delete(WEBHOOK, &DeleteParams::default()).await;
            }
            let _ = done.send(());
        });
        // On other threads than the ones of the run, or there would be nobody to do it.
        let _ = wait.recv_timeout(Duration::from_secs(5));
    }
}

async fn render(https: SocketAddr) -> Result<String> {
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
        .await
        .during("start helm")?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::Other(format!("helm template: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
