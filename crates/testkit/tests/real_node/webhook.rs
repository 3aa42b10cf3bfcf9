//! A mutating webhook that labels everything it is asked about. The same code listens on the node's loopback, in
//! the test process, and in a pod, where the test binary itself is the image's program.

use std::{convert::Infallible, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use mizzen_testkit::pki::Pair;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Serves for ever; objects get the label `touched-by` with this value.
pub(crate) async fn serve(listener: TcpListener, pair: &Pair, label: &'static str) {
    let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("protocol versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate that fits its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // The kubelet's and kube-proxy's way of looking whether a port is open ends here.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let answer = service_fn(move |request| review(request, label));
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

async fn review(
    request: Request<Incoming>,
    label: &'static str,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let patch = json!([{ "op": "add", "path": "/metadata/labels", "value": { "touched-by": label } }]);
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {
            "uid": asked["request"]["uid"],
            "allowed": true,
            "patchType": "JSONPatch",
            "patch": STANDARD.encode(patch.to_string()),
        },
    });
    Ok(Response::builder()
        .header("content-type", "application/json")
        .body(Full::from(answer.to_string()))
        .expect("a response"))
}

/// Has the API server ask about every new ConfigMap of one namespace.
pub(crate) fn configuration(namespace: &str, mut client: Value, authority: &str) -> String {
    client["caBundle"] = json!(STANDARD.encode(authority));
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": { "name": namespace },
        "webhooks": [{
            "name": "label.mizzen.test",
            "clientConfig": client,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"] }],
        }],
    });
    configuration.to_string()
}
