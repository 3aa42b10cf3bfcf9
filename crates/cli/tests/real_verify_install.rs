//! `verify-install` on a mesh that the real istioctl has installed from Istio's charts.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;
mod mesh;

use common::{Folder, fed};
use mesh::{Mesh, NEEDS, manifests};
use mizzen_testkit::{Result, controllers, needs, wait};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_is_verified_object_by_object_and_what_is_wrong_is_named() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::installed(&["default"]).await?;
    let line = format!("verify-install --set profile=minimal -d {}", manifests().display());
    let whole = mesh.ours(&line).good();
    for wanted in [
        "✔ Deployment: istiod.istio-system checked successfully\n",
        "✔ CustomResourceDefinition: gateways.networking.istio.io checked successfully\n",
        "✔ ConfigMap: istio.istio-system checked successfully\n",
        "\nChecked 1 Istio Deployments\n✔ Istio is installed and verified successfully\n",
    ] {
        assert!(whole.contains(wanted), "{wanted}: {whole}");
    }
    // Every object that istioctl prints is looked at.
    let printed =
        mesh.theirs(&format!("manifest generate --set profile=minimal -d {}", manifests().display())).good();
    let objects = printed.lines().filter(|line| line.starts_with("kind: ")).count();
    assert_eq!(whole.matches(" checked successfully").count(), objects);
    // The same from that text, as a file and on standard input.
    let folder = Folder::new("verify");
    folder.file("mesh.yaml", &printed);
    let file = format!("verify-install -f {}", folder.path().join("mesh.yaml").display());
    assert_eq!(mesh.ours(&file).good(), whole);
    assert_eq!(fed(&mut mesh.start_ours("verify-install -f -"), &printed).good(), whole);

    mesh.server.kubectl(&["-n", "istio-system", "delete", "configmap", "istio"]).await?;
    let ended = mesh.ours(&line);
    assert!(ended.out.contains("✘ ConfigMap: istio.istio-system: it is not there\n"), "{}", ended.out);
    let told = format!(
        "error: 1 of {objects} objects are not as they should be:\n    ConfigMap: istio.istio-system: it is not there\n"
    );
    assert_eq!((ended.code, ended.err), (1, told));

    let label = json!({ "spec": { "template": { "metadata": { "labels": { controllers::POD: controllers::NEVER_READY } } } } });
    let patch = ["-n", "istio-system", "patch", "deployment", "istiod", "-p", &label.to_string()];
    mesh.server.kubectl(&patch).await?;
    let generation = "jsonpath={.metadata.generation} {.status.observedGeneration} {.status.updatedReplicas}";
    wait::until("the change to be seen", wait::PATIENCE, async || {
        let seen = mesh
            .server
            .kubectl(&["-n", "istio-system", "get", "deployment", "istiod", "-o", generation])
            .await;
        match seen {
            Ok(seen) => wait::Seen::when(seen == "2 2 1", || seen.clone()),
            Err(error) => wait::Seen::NotYet(error.to_string()),
        }
    })
    .await?;
    let ended = mesh.ours(&line);
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("2 of ")
            && ended.err.contains("Deployment: istiod.istio-system: it is not ready: "),
        "{}",
        ended.err
    );

    let other = mesh.ours(&format!("{line} --revision canary"));
    assert!(
        other.code == 1 && other.out.contains("✘ Deployment: istiod-canary.istio-system: it is not there\n")
    );
    Ok(())
}
