//! Our own control plane in a pod, installed by our own charts: ready, allowed to read what it reads, found by Envoys in
//! other pods, and known to those who ask for its version.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
mod node;

use common::{BINARY, run};
use mizzen_testkit::{
    Error, Node, Result, Secrets, needs,
    secrets::spiffe,
    tools,
    wait::{PATIENCE, Seen, until},
};
use node::{NAMESPACE, NEEDS, ask, asked, istiod_log, istiod_pod, mesh, page, pod};
use serde_json::Value;
use std::path::Path;

#[tokio::test]
async fn istiod_becomes_ready_by_the_probe_of_the_chart_and_complains_of_nothing() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = mesh().await;
    let log = istiod_log(node).await?;
    assert!(log.contains("every source has been read"), "{log}");
    let complains = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
    // An API server says so of kinds that were installed a moment ago.
    let passes = |line: &&str| line.contains("storage is (re)initializing");
    let complaints: Vec<_> = log.lines().filter(complains).filter(|line| !passes(line)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));

    let status = "jsonpath={.items[*].status.containerStatuses[*].restartCount}";
    let restarts = node.kubectl(&["get", "pods", "-n", NAMESPACE, "-l", "app=istiod", "-o", status]).await?;
    assert_eq!(restarts, "0");
    Ok(())
}

#[tokio::test]
async fn the_roles_of_the_chart_let_istiod_read_every_kind_that_it_follows() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = mesh().await;
    let istiod = istiod_pod(node).await?;
    let following = |line: &&str| line.contains("state=\"following\"") && line.ends_with(" 1");
    // A watch that came upon a kind that was installed a moment ago is tried again.
    let metrics = until("every kind to be followed", PATIENCE, async || {
        let metrics = match page(node, NAMESPACE, &istiod, 15014, "/metrics").await {
            Ok(metrics) => metrics,
            Err(error) => return Seen::NotYet(error.to_string()),
        };
        let sources: Vec<&str> = metrics.lines().filter(|line| line.starts_with("mizzen_source{")).collect();
        match sources.iter().find(|line| !following(line)) {
            Some(other) => Seen::NotYet((*other).to_owned()),
            None => Seen::Done(metrics),
        }
    })
    .await?;
    let sources: Vec<_> = metrics.lines().filter(|line| line.starts_with("mizzen_source{")).collect();
    for kind in
        ["configmaps", "pods", "endpointslices.discovery.k8s.io", "virtualservices.networking.istio.io"]
    {
        assert!(sources.iter().any(|line| line.contains(kind)), "{kind} is not in {sources:?}");
    }
    Ok(())
}

/// The part of Envoy's dump whose type ends so.
fn part<'d>(dump: &'d Value, kind: &str) -> Result<&'d Value> {
    let parts = dump["configs"].as_array().into_iter().flatten();
    let mut found = parts.filter(|part| part["@type"].as_str().is_some_and(|name| name.ends_with(kind)));
    found.next().ok_or_else(|| Error::other(format_args!("no {kind} in {dump}")))
}

#[tokio::test]
async fn envoys_in_pods_find_istiod_by_its_name_and_are_configured_to_speak_mtls() -> Result<()> {
    needs!(Node::NEEDS, NEEDS);
    let node = mesh().await;
    node.namespace("shop").await?;
    let secrets = Secrets::start()?;
    tokio::try_join!(pod(node, &secrets, "shop", "server"), pod(node, &secrets, "shop", "client"))?;

    let dump = page(node, "shop", "client", 15000, "/config_dump").await?;
    let dump: Value = serde_json::from_str(&dump).map_err(Error::other)?;
    let address = ["get", "pod", "-n", "shop", "client", "-o", "jsonpath={.status.podIP}"];
    let id = format!("sidecar~{}~client.shop~shop.svc.cluster.local", node.kubectl(&address).await?);
    assert_eq!(part(&dump, ".BootstrapConfigDump")?["bootstrap"]["node"]["id"], *id);
    let names = |kind: &str, list: &str, name: &str| -> Result<Vec<String>> {
        let list = part(&dump, kind)?[list].as_array().into_iter().flatten();
        Ok(list.filter_map(|item| item.pointer(name)?.as_str().map(str::to_owned)).collect())
    };
    let clusters = names(".ClustersConfigDump", "dynamic_active_clusters", "/cluster/name")?;
    for service in ["80||server.shop", "15010||istiod.istio-system", "443||kubernetes.default"] {
        let cluster = format!("outbound|{service}.svc.cluster.local");
        assert!(clusters.contains(&cluster), "{cluster} is not in {clusters:?}");
    }
    let listeners = names(".ListenersConfigDump", "dynamic_listeners", "/name")?;
    assert!(
        ["virtualOutbound", "virtualInbound"].iter().all(|name| listeners.contains(&(*name).to_owned())),
        "{listeners:?}"
    );

    // What the server was told of the client: it was reached by mTLS, through both Envoys.
    let answer = ask(node, "shop", "client", "http://server/").await?;
    let [server, client] = ["server", "client"].map(|name| spiffe("shop", name));
    let told = answer.lines().find(|line| line.contains("X-Forwarded-Client-Cert")).unwrap_or_default();
    assert!(told.contains(&format!("By={server};")) && told.contains(&format!("URI={client}")), "{answer}");
    Ok(())
}

#[tokio::test]
async fn the_version_is_told_through_the_api_server_and_to_istioctl() -> Result<()> {
    needs!(Node::NEEDS, NEEDS, &["istioctl"]);
    let node = mesh().await;
    let ours: Value = serde_json::from_str(&run("mizzen version -o json").good()).map_err(Error::other)?;
    let [version, revision, status] =
        ["version", "revision", "status"].map(|name| ours["clientVersion"][name].as_str().unwrap());
    let page = page(node, NAMESPACE, &istiod_pod(node).await?, 15014, "/version").await?;
    assert_eq!(page, format!("{version}-{revision}-{status}"));

    let version_of = async |program: &Path| -> Result<Value> {
        serde_json::from_str(&asked(node, program, &["version", "-o", "json"]).await?).map_err(Error::other)
    };
    let theirs = version_of(&tools::command("istioctl")?).await?;
    let info = &theirs["meshVersion"][0]["Info"];
    assert_eq!(
        (&info["version"], &info["revision"], &info["status"]),
        (&version.into(), &revision.into(), &status.into()),
        "{theirs}"
    );
    let ours = version_of(Path::new(BINARY)).await?;
    assert_eq!(ours["meshVersion"], theirs["meshVersion"], "both ask the same process");
    assert_eq!(ours["dataPlaneVersion"].is_null(), theirs["dataPlaneVersion"].is_null(), "{ours}\n{theirs}");
    Ok(())
}
