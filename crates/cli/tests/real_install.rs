//! A mesh installed in a real cluster, changed, and removed again.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod site;

use mizzen_testkit::{Controllers, Result, needs};
use site::Site;

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_is_installed_left_alone_changed_and_removed() -> Result<()> {
    needs!(Controllers::NEEDS);
    let site = Site::start().await?;
    let told = site.mizzen("install -y").await.well();
    for component in ["Istio core", "Istiod", "Ingress gateways"] {
        assert!(told.contains(&format!("✔ {component} is ready")), "{told}");
    }
    let installed = site.versions().await;
    let told = site.mizzen("install -y").await.well();
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!(site.versions().await, installed);
    site.mizzen("diff").await.well();
    Ok(())
}
