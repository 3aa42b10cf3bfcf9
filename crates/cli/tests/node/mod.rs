//! Our own control plane on a real node, out of an image of this very binary.
//!
//! In: nothing. Out: a node on which the built-in charts are installed and istiod is ready, and pods with sidecars that
//! it configures. The node is started once for all tests of a binary.

use std::process::Stdio;

use mizzen_image::Image;
use mizzen_testkit::{
    Error, Node, Result, Secrets,
    envoy::Bootstrap,
    node::images,
    tools,
    wait::{PATIENCE, Seen, until},
};
use serde_json::Value;
use tokio::{process::Command, sync::OnceCell};

use crate::common::BINARY;

/// Beside the node itself.
pub(crate) const NEEDS: &[&str] = &["envoy", "pilot-agent", "echo-server", "echo-client"];
pub(crate) const NAMESPACE: &str = "istio-system";

/// What has to be said so that the kubelet takes the image that is on the node, and is not asked for a gateway: that is
/// a proxy with its agent, which this binary is not yet.
const FLAGS: &str = "--set hub=localhost --set tag=this --set components.ingressGateways[0].enabled=false";

/// A node on which istiod is ready.
pub(crate) async fn mesh() -> &'static Node {
    static MESH: OnceCell<Node> = OnceCell::const_new();
    let start = || async {
        let node = with_our_image().await?;
        install(&node).await?;
        istiod_is_ready(&node).await?;
        Ok::<_, Error>(node)
    };
    MESH.get_or_try_init(start).await.expect("a node with a mesh")
}

/// A node that has what the charts name, and what pods with sidecars need.
pub(crate) async fn with_our_image() -> Result<Node> {
    Node::start_with(vec![product(), images::proxy()?, images::echo()?]).await
}

/// One binary in the place of all of Istio's. Nobody in particular runs it: pods of the control plane must not be root.
fn product() -> Image {
    Image::new("localhost/mizzen:this")
        .program(BINARY, "/usr/local/bin/mizzen")
        .entrypoint(["/usr/local/bin/mizzen"])
        .user("1337")
}

/// The built-in charts, default profile; done when istiod is ready by the probe of its own pod.
pub(crate) async fn install(node: &Node) -> Result<()> {
    let line = format!("install -y {FLAGS} --readiness-timeout {}s", PATIENCE.as_secs());
    let output = Command::new(BINARY)
        .args(line.split_whitespace())
        .arg("--kubeconfig")
        .arg(node.kubeconfig_file())
        .env_clear()
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(Error::other)?;
    let [out, complaint] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    if !output.status.success() || !out.contains("✔ Istiod is ready") {
        return Err(Error::other(format_args!("mizzen {line}: {out}\n{complaint}")));
    }
    Ok(())
}

/// By the probe of its own pod.
pub(crate) async fn istiod_is_ready(node: &Node) -> Result<()> {
    let Err(error) = node.wait(NAMESPACE, "deployment/istiod", "Available").await else { return Ok(()) };
    let pods = node.kubectl(&["describe", "-n", NAMESPACE, "pods"]).await.unwrap_or_default();
    let log = istiod_log(node).await.unwrap_or_default();
    Err(Error::other(format_args!("{error}\n{pods}\n{log}")))
}

pub(crate) async fn istiod_log(node: &Node) -> Result<String> {
    node.kubectl(&["logs", "-n", NAMESPACE, "deployment/istiod", "--tail=-1"]).await
}

/// Istiod's only pod.
pub(crate) async fn istiod_pod(node: &Node) -> Result<String> {
    let words =
        ["get", "pods", "-n", NAMESPACE, "-l", "app=istiod", "-o", "jsonpath={.items[*].metadata.name}"];
    node.kubectl(&words).await
}

/// A page of a pod, through the API server.
pub(crate) async fn page(node: &Node, namespace: &str, pod: &str, port: u16, path: &str) -> Result<String> {
    let address = format!("/api/v1/namespaces/{namespace}/pods/{pod}:{port}/proxy{path}");
    node.kubectl(&["get", "--raw", &address]).await
}

/// What the real istioctl prints, asked of this cluster.
pub(crate) async fn istioctl(node: &Node, words: &[&str]) -> Result<String> {
    let output = Command::new(tools::command("istioctl")?)
        .args(words)
        .arg("--kubeconfig")
        .arg(node.kubeconfig_file())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(Error::other)?;
    let [out, complaint] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    match output.status.success() {
        true => Ok(out.into_owned()),
        false => Err(Error::other(format_args!("istioctl {}: {out}\n{complaint}", words.join(" ")))),
    }
}

/// A pod with a sidecar, ready: so Envoy has found istiod by its name, and has its first configuration in use.
pub(crate) async fn pod(node: &Node, secrets: &Secrets, namespace: &str, name: &str) -> Result<()> {
    let socket = secrets.service_account(namespace, name)?;
    let folder = socket.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let bootstrap = Bootstrap::sidecar("$(INSTANCE_IP)", "$(POD_NAME)", "$(POD_NAMESPACE)")
        .service_account(name)
        .labels([("app", name), ("security.istio.io/tlsMode", "istio")])
        .secrets(&socket)
        .admin_port(15000)
        .control_plane_named("istiod.istio-system.svc", 15010);
    let manifest = include_str!("pod.yaml")
        .replace("@NAME@", name)
        .replace("@NAMESPACE@", namespace)
        .replace("@SECRETS@", &folder)
        .replace("@BOOTSTRAP@", &Value::String(bootstrap.to_string()).to_string());
    node.apply(&manifest).await?;
    node.wait(namespace, &format!("pod/{name}"), "Ready").await
}

/// Runs the echo client in a pod until it gets through; what it printed.
pub(crate) async fn ask(node: &Node, namespace: &str, pod: &str, url: &str) -> Result<String> {
    let words = ["exec", "-n", namespace, pod, "-c", "app", "--", "/usr/local/bin/client", url];
    until(&format!("{url} to answer"), PATIENCE, async || match node.kubectl(&words).await {
        Ok(text) if text.contains("StatusCode=200") => Seen::Done(text),
        Ok(text) => Seen::NotYet(text),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await
}
