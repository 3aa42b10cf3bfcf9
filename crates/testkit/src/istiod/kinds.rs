//! Istio's kinds and the Gateway API's, from the files of their modules: istiod does not watch what is not there when
//! it starts.

use std::{collections::BTreeSet, fs, path::PathBuf};

use tokio::sync::Mutex;

use crate::{
    apiserver::ApiServer,
    error::{During, Result},
    tools,
};

/// Once for each API server: it takes seconds, and two at a time take longer.
pub(super) async fn install(server: &ApiServer) -> Result<()> {
    static DONE: Mutex<BTreeSet<PathBuf>> = Mutex::const_new(BTreeSet::new());
    let mut done = DONE.lock().await;
    if done.contains(&server.kubeconfig_file()) {
        return Ok(());
    }
    let files: Vec<_> = files()?.iter().map(|file| format!("--filename={}", file.display())).collect();
    let mut words = vec!["apply", "--server-side"];
    words.extend(files.iter().map(String::as_str));
    server.kubectl(&words).await?;
    server.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=90s"]).await?;
    done.insert(server.kubeconfig_file());
    Ok(())
}

fn files() -> Result<Vec<PathBuf>> {
    let istio = tools::folder("modules/istio")?.join("manifests/charts/base/files/crd-all.gen.yaml");
    let gateway = tools::folder("modules/gateway-api")?.join("config/crd/experimental");
    let mut files: Vec<PathBuf> = fs::read_dir(&gateway)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .during("look for the kinds of the Gateway API")?;
    // Beside the kinds lie a kustomization and a policy that forbids to change them.
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("gateway.networking.") && !name.contains("_vap_")
    });
    files.push(istio);
    Ok(files)
}
