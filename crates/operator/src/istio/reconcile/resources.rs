//! `istio-resources`: what Kyma puts on a mesh.

use super::{Done, Failed, MESH, NAMESPACE, Pass, dashboards, mark::metadata, wish::Wish};
use crate::istio::monitoring::{self, GATEWAY};
use mizzen_cluster::{ObjectId, Refused};
use serde_json::{Value, json};

/// The Secret with the certificate of the domain, next to the gateway's pods. It is somebody else's.
const CERTIFICATE: &str = "kyma-gateway-certs";

pub(super) async fn bring(pass: &Pass<'_>, domain: &str, done: &mut Done) -> Result<(), Failed> {
    let served = pass.cluster.served();
    let has_kinds = served.find("networking.istio.io", "Gateway", None).is_some();
    if !has_kinds && !pass.order.dry_run {
        let why = "the cluster has no kinds of Istio's: add istio to --components";
        return Err(Failed::Said(why.to_owned()));
    }
    let values = &pass.order.values;
    let mut has_monitors = false;
    if values.monitoring {
        match monitoring::are_served(pass.cluster).await {
            Ok(true) => has_monitors = true,
            Ok(false) => done.notes.push("no ServiceMonitors: the cluster has no such kind".to_owned()),
            Err(Refused::NotServed { .. }) => {
                let note = "no ServiceMonitors: their kind is defined and not served yet; run this again";
                done.notes.push(note.to_owned());
            }
            Err(refused) => return Err(refused.into()),
        }
    }
    let kyma = &pass.order.kyma;
    let keep = |wanted: bool| move |object| if wanted { Wish::Keep(object) } else { Wish::Drop(object) };
    let mut wishes: Vec<Wish> = always(domain, kyma).into_iter().map(Wish::Keep).collect();
    wishes.extend(monitors(kyma).into_iter().map(keep(has_monitors)));
    wishes.extend(dashboards::all(kyma).into_iter().map(keep(values.dashboards)));
    pass.see_to(wishes, done).await
}

/// Whatever the domain was.
pub(super) async fn remove(pass: &Pass<'_>, done: &mut Done) -> Result<(), Failed> {
    let kyma = &pass.order.kyma;
    let all = always("example.com", kyma).into_iter().chain(monitors(kyma)).chain(dashboards::all(kyma));
    pass.see_to(all.map(Wish::Drop).collect(), done).await
}

/// Those of Istio's kinds, by their names.
pub(super) fn known() -> Vec<ObjectId> {
    always("example.com", "").iter().filter_map(|object| ObjectId::of(object).ok()).collect()
}

fn always(domain: &str, kyma: &str) -> Vec<Value> {
    let of = |name: &str, namespace: &str| metadata(name, namespace, kyma);
    vec![
        gateway(domain, &of(GATEWAY, NAMESPACE)),
        monitoring::health(domain, &format!("{NAMESPACE}/{GATEWAY}"), &of),
        json!({
            "apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
            "metadata": of("default", MESH), "spec": { "mtls": { "mode": "STRICT" } },
        }),
    ]
}

fn monitors(kyma: &str) -> Vec<Value> {
    monitoring::monitors(&|name, namespace| metadata(name, namespace, kyma))
}

/// All of the domain: plain requests are sent to the encrypted port.
fn gateway(domain: &str, metadata: &Value) -> Value {
    let hosts = json!([format!("*.{domain}")]);
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "Gateway", "metadata": metadata,
        "spec": {
            "selector": { "app": "istio-ingressgateway", "istio": "ingressgateway" },
            "servers": [
                {
                    "port": { "number": 443, "name": "https", "protocol": "HTTPS" },
                    "tls": { "mode": "SIMPLE", "credentialName": CERTIFICATE }, "hosts": hosts,
                },
                {
                    "port": { "number": 80, "name": "http", "protocol": "HTTP" },
                    "tls": { "httpsRedirect": true }, "hosts": hosts,
                },
            ],
        },
    })
}
