//! Admission webhooks on a bare API server: by URL on loopback, and by Service, whose endpoints are dialled
//! although no kube-proxy is there; where they are pods that run nowhere, a process is in their place.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use mizzen_testkit::{
    ApiServer, Pods, Result, needs,
    pki::Leaf,
    wait::{self, Seen},
    webhook,
};
use serde_json::{Value, json};

/// A webhook with a certificate of the API server's authority.
async fn serve(api: &ApiServer, address: IpAddr, name: &str) -> Result<SocketAddr> {
    let leaf = Leaf { common_name: "webhook", dns: &[name], ip: &[address], ..Leaf::default() };
    let pair = api.control_plane().authority().leaf(&leaf)?;
    let listener = tokio::net::TcpListener::bind((address, 0)).await.unwrap();
    let bound = listener.local_addr().unwrap();
    tokio::spawn(async move { webhook::serve(listener, &pair, "the-test").await });
    Ok(bound)
}

/// Registers the webhook for the namespace's config maps, and waits until one is labelled by it.
async fn labels_config_maps(api: &ApiServer, namespace: &str, client: Value) -> Result<()> {
    let authority = api.control_plane().authority().certificate();
    api.apply(&webhook::registration(namespace, client, &authority).to_string()).await?;

    let maps = Api::<ConfigMap>::namespaced(api.client()?, namespace);
    let map: ConfigMap = serde_json::from_value(json!({ "metadata": { "generateName": "map-" } })).unwrap();
    // The API server learns of the registration, the Service and its endpoints in its own time.
    wait::until("a label from the webhook", wait::PATIENCE, async || {
        match maps.create(&PostParams::default(), &map).await {
            Ok(made) => {
                let label = made.metadata.labels.unwrap_or_default().remove(webhook::LABEL);
                Seen::when(label.as_deref() == Some("the-test"), || "no label".to_owned())
            }
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await
}

/// A Service of one endpoint.
fn service(namespace: &str, address: IpAddr, port: u16) -> String {
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "hook", "namespace": namespace },
        "spec": { "ports": [{ "name": "https", "port": 443, "targetPort": port }] },
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "hook", "namespace": namespace, "labels": { "kubernetes.io/service-name": "hook" },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "https", "port": port }],
        "endpoints": [{ "addresses": [address], "conditions": { "ready": true } }],
    });
    format!("{service}\n---\n{slice}")
}

#[tokio::test]
async fn a_webhook_by_url_on_loopback_is_called() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let namespace = api.namespace("by-url").await?;
    let address = serve(api, Ipv4Addr::LOCALHOST.into(), "localhost").await?;
    labels_config_maps(api, &namespace, json!({ "url": format!("https://{address}/") })).await
}

#[tokio::test]
async fn a_webhook_by_service_is_called_at_its_endpoints() -> Result<()> {
    needs!(ApiServer::NEEDS);
    // No endpoint may be loopback, so it takes an address of the machine; nothing is sent to find it.
    let probe = UdpSocket::bind("0.0.0.0:0").unwrap();
    if probe.connect("192.0.2.1:9").is_err() {
        return needs::skip("this machine has no address but loopback");
    }
    let machine = probe.local_addr().unwrap().ip();

    let api = ApiServer::shared().await;
    let namespace = api.namespace("by-service").await?;
    let address = serve(api, machine, &format!("hook.{namespace}.svc")).await?;
    api.apply(&service(&namespace, machine, address.port())).await?;
    let client = json!({ "service": { "namespace": namespace, "name": "hook", "port": 443, "path": "/" } });
    labels_config_maps(api, &namespace, client).await
}

#[tokio::test]
async fn a_webhook_by_service_is_called_at_a_process_in_its_pods_place() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let pods = Pods::start()?;
    let api = ApiServer::start_with(&pods).await?;
    let namespace = api.namespace("by-pod").await?;
    let address = serve(&api, Ipv4Addr::LOCALHOST.into(), &format!("hook.{namespace}.svc")).await?;
    // An address that no machine has.
    let pod = SocketAddr::from(([10, 128, 0, 7], 15017));
    api.apply(&service(&namespace, pod.ip(), pod.port())).await?;
    pods.answer(pod.port(), address);
    let client = json!({ "service": { "namespace": namespace, "name": "hook", "port": 443, "path": "/" } });
    labels_config_maps(&api, &namespace, client).await?;
    assert!(pods.dialled().iter().all(|dialled| *dialled == pod) && !pods.dialled().is_empty());
    Ok(())
}
