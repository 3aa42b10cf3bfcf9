//! Admission webhooks on a bare API server: by URL on loopback, and by Service, whose endpoints are dialled
//! although no kube-proxy is there.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use mizzen_testkit::{
    ApiServer, Result, needs,
    pki::Leaf,
    wait::{self, Seen},
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

/// Answers every review with a label for the object.
async fn review(request: Request<Incoming>) -> hyper::Result<Response<Full<Bytes>>> {
    let review: Value = serde_json::from_slice(&request.into_body().collect().await?.to_bytes()).unwrap();
    let patch = json!([{ "op": "add", "path": "/metadata/labels", "value": { "seen-by": "webhook" } }]);
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {
            "uid": review["request"]["uid"],
            "allowed": true,
            "patchType": "JSONPatch",
            "patch": STANDARD.encode(patch.to_string()),
        },
    });
    let mut response = Response::new(Full::from(answer.to_string()));
    response.headers_mut().insert("content-type", "application/json".parse().unwrap());
    Ok(response)
}

/// A webhook with a certificate of the API server's authority.
async fn webhook(api: &ApiServer, address: IpAddr, name: &str) -> SocketAddr {
    let leaf = Leaf { common_name: "webhook", dns: &[name], ip: &[address], ..Leaf::default() };
    let pair = api.control_plane().authority().leaf(&leaf).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind((address, 0)).await.unwrap();
    let bound = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let server = auto::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), service_fn(review)).await;
            });
        }
    });
    bound
}

/// Registers the webhook for the namespace's config maps, and waits until one is labelled by it.
async fn labels_config_maps(api: &ApiServer, namespace: &str, mut client: Value) -> Result<()> {
    client["caBundle"] = STANDARD.encode(api.control_plane().authority().certificate()).into();
    let registration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": { "name": namespace },
        "webhooks": [{
            "name": "webhook.mizzen.dev",
            "clientConfig": client,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "rules": [
                { "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"] },
            ],
        }],
    });
    api.apply(&registration.to_string()).await?;

    let maps = Api::<ConfigMap>::namespaced(api.client()?, namespace);
    let map: ConfigMap = serde_json::from_value(json!({ "metadata": { "generateName": "map-" } })).unwrap();
    // The API server learns of the registration, the Service and its endpoints in its own time.
    wait::until("a label from the webhook", wait::PATIENCE, async || {
        match maps.create(&PostParams::default(), &map).await {
            Ok(made) => {
                let label = made.metadata.labels.unwrap_or_default().remove("seen-by");
                Seen::when(label.as_deref() == Some("webhook"), || "no label".to_owned())
            }
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await
}

#[tokio::test]
async fn a_webhook_by_url_on_loopback_is_called() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let namespace = api.namespace("by-url").await?;
    let address = webhook(api, Ipv4Addr::LOCALHOST.into(), "localhost").await;
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
    let address = webhook(api, machine, &format!("hook.{namespace}.svc")).await;
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "hook", "namespace": namespace },
        "spec": { "ports": [{ "name": "https", "port": 443, "targetPort": address.port() }] },
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "hook", "namespace": namespace, "labels": { "kubernetes.io/service-name": "hook" },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "https", "port": address.port() }],
        "endpoints": [{ "addresses": [machine], "conditions": { "ready": true } }],
    });
    api.apply(&format!("{service}\n---\n{slice}")).await?;
    let client = json!({ "service": { "namespace": namespace, "name": "hook", "port": 443, "path": "/" } });
    labels_config_maps(api, &namespace, client).await
}
