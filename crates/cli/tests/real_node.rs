//! Our own control plane in a pod, installed by our own charts: ready, allowed to read what it reads, found by Envoys in
//! other pods, and known to those who ask for its version.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
mod node;

use mizzen_testkit::{Node, Result, Secrets, needs, secrets::spiffe};
use node::{NAMESPACE, NEEDS, ask, istiod_log, istiod_pod, mesh, page, pod};
use serde_json::Value;

#[tokio::test]
async fn istiod_is_ready_and_has_nothing_to_complain_of() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = mesh().await;
    let log = istiod_log(node).await?;
    eprintln!("{log}");
    let metrics = page(node, NAMESPACE, &istiod_pod(node).await?, 15014, "/metrics").await?;
    eprintln!("{metrics}");
    Ok(())
}

#[tokio::test]
async fn envoys_in_pods_find_istiod_by_name_and_encrypt_what_they_say_to_each_other() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = mesh().await;
    node.namespace("shop").await?;
    let secrets = Secrets::start()?;
    for name in ["server", "client"] {
        pod(node, &secrets, "shop", name).await?;
    }
    let dump: Value = serde_json::from_str(&page(node, "shop", "client", 15000, "/config_dump").await?).unwrap();
    eprintln!("{}", &dump["configs"][1].to_string()[..2000]);
    let answer = ask(node, "shop", "client", "http://server/").await?;
    eprintln!("{answer}");
    assert!(answer.contains(&spiffe("shop", "client")));
    Ok(())
}

#[tokio::test]
async fn the_version_is_told_to_whoever_asks_through_the_api_server() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = mesh().await;
    let version = page(node, NAMESPACE, &istiod_pod(node).await?, 15014, "/version").await?;
    eprintln!("{version}");
    Ok(())
}
