//! `version` on a cluster whose pods have no processes, beside the real istioctl where that one can answer.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;
mod mesh;

use mesh::{Mesh, NEEDS};
use mizzen_testkit::{Result, needs};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_in_a_cluster_is_known_by_images_where_nothing_answers() -> Result<()> {
    needs!(NEEDS[0], NEEDS[1]);
    let mesh = Mesh::none().await?;
    let [ours, theirs] =
        [mesh.ours("version -s"), mesh.theirs("version")].map(|ended| (ended.code, ended.err));
    assert_eq!(ours, theirs, "both say that there is none");

    mesh.server.controllers().await?;
    mesh.install(&["--set", "profile=minimal", "--set", "tag=1.30.2-distroless"]);
    mesh.server
        .apply(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: default\n  labels: {service.istio.io/canonical-name: web}\n\
             spec:\n  containers:\n  - {name: app, image: app}\n  - {name: istio-proxy, image: 'h/proxyv2:1.29.4', args: [proxy, sidecar]}\n",
        )
        .await?;
    let text = mesh.ours("version -s").good();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, ["control plane version: 1.30.2", "data plane version: 1.29.4 (1 proxies)"]);
    let shown: Value = serde_json::from_str(&mesh.ours("version -o json").good()).unwrap();
    let server = &shown["meshVersion"][0];
    assert_eq!(
        (&server["Component"], &server["Revision"], &server["Source"]),
        (&json!("pilot"), &json!("default"), &json!("image"))
    );
    assert_eq!(server["Info"]["version"], "1.30.2");
    let proxy =
        json!({ "ID": "web.default", "IstioVersion": "1.29.4", "Type": "sidecar", "Source": "image" });
    assert_eq!(shown["dataPlaneVersion"], json!([proxy]));
    assert!(
        mesh.ours("version")
            .good()
            .contains("pilot version: 1.30.2\n  revision: default (known by its image only)\n")
    );

    for line in ["version -i nowhere", "version -r canary"] {
        let (ours, theirs) = (mesh.ours(line), mesh.theirs(line));
        assert_eq!((ours.code, ours.err), (theirs.code, theirs.err), "{line}");
    }
    assert_eq!(mesh.ours("version -s --remote=false").good().lines().count(), 1);
    Ok(())
}
