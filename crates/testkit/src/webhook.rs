//! A mutating webhook that labels everything it is asked about: enough to see that an API server called it.
//!
//! The same code listens in a test's process and, as program `testkit-webhook`, in a pod.

use std::{convert::Infallible, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{
    error::{During, Result},
    pki::Pair,
    tls,
};

/// The label that objects get.
pub const LABEL: &str = "touched-by";

/// Serves until the listener fails; objects get [`LABEL`] with this value.
pub async fn serve(listener: TcpListener, pair: &Pair, value: &'static str) -> Result<()> {
    let acceptor = TlsAcceptor::from(Arc::new(tls::server(pair, None, &[b"h2", b"http/1.1"])?));
    loop {
        let (stream, _) = listener.accept().await.during("accept a call of the webhook")?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A probe that only looks whether the port is open ends here.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let answer = service_fn(move |request| review(request, value));
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

async fn review(request: Request<Incoming>, value: &str) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let patch = json!([{ "op": "add", "path": "/metadata/labels", "value": { LABEL: value } }]);
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
    let mut response = Response::new(Full::from(answer.to_string()));
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Has the API server ask about every new ConfigMap of one namespace. `client` is a `clientConfig` without its bundle.
pub fn registration(namespace: &str, mut client: Value, authority: &str) -> Value {
    client["caBundle"] = json!(STANDARD.encode(authority));
    json!({
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
            "rules": [
                { "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"] },
            ],
        }],
    })
}
