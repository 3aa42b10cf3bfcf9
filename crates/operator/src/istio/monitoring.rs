//! MonitoringReconciler: what watches the mesh from outside. Scraping by a Prometheus operator, where the cluster has the kind for it; and a
//! page that answers as long as the ingress gateway does, where there is a gateway to reach it by.

use super::{
    MESH, NAMESPACE,
    reason::Reason,
    resources::{self, NotKept, drop_own, keep},
    telling::Telling,
};
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Value, json};

/// The gateway of the cluster's domain, which is somebody else's: Kyma's API gateway, or `mizzen reconcile`.
pub(super) const GATEWAY: &str = "kyma-gateway";
const CONDITION: &str = "MonitoringApplied";

const GROUP: &str = "monitoring.coreos.com";
const KIND: &str = "ServiceMonitor";

/// Of a name and a namespace: whoever keeps the objects marks them.
pub(super) type Metadata<'m> = &'m dyn Fn(&str, &str) -> Value;

/// One for the control plane, one for the gateways. Sidecars are scraped by the annotations of their pods: a monitor of all Services would
/// scrape a pod once for each of them.
pub(super) fn monitors(metadata: Metadata<'_>) -> Vec<Value> {
    let monitor = |name: &str, selector: Value, endpoint: Value| {
        json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": KIND,
            "metadata": metadata(name, MESH),
            "spec": {
                "jobLabel": "istio",
                "namespaceSelector": { "matchNames": [MESH] },
                "selector": selector,
                "endpoints": [endpoint],
            },
        })
    };
    let gateways = json!({ "key": "istio", "operator": "In", "values": ["ingressgateway", "egressgateway"] });
    // The agent's port is in no Service: the pod is found by a port that every gateway has.
    let at_the_agent = json!([
        { "action": "replace", "sourceLabels": ["__meta_kubernetes_pod_ip"], "regex": "([0-9.]+)", "replacement": "$1:15020", "targetLabel": "__address__" },
        { "action": "replace", "sourceLabels": ["__meta_kubernetes_pod_ip"], "regex": "(.*:.*)", "replacement": "[$1]:15020", "targetLabel": "__address__" },
    ]);
    vec![
        monitor(
            "istio-control-plane",
            json!({ "matchLabels": { "istio": "pilot" } }),
            json!({ "port": "http-monitoring", "path": "/metrics", "interval": "30s" }),
        ),
        monitor(
            "istio-gateways",
            json!({ "matchExpressions": [gateways] }),
            json!({ "port": "https", "scheme": "http", "path": "/stats/prometheus", "interval": "30s", "relabelings": at_the_agent }),
        ),
    ]
}

/// `healthz.DOMAIN/healthz/ready` is answered by the gateway itself.
pub(super) fn health(domain: &str, gateway: &str, metadata: Metadata<'_>) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": metadata("istio-healthz", MESH),
        "spec": {
            "hosts": [format!("healthz.{domain}")],
            "gateways": [gateway],
            "http": [{
                "match": [{ "uri": { "exact": "/healthz/ready" } }],
                "route": [{ "destination": {
                    "host": format!("istio-ingressgateway.{MESH}.svc.cluster.local"), "port": { "number": 15021 },
                } }],
            }],
        },
    })
}

/// What can be there, and what that is in words.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    monitors: bool,
    domain: Option<String>,
    words: String,
}

fn decide(monitors: bool, gateway: Option<&Value>) -> Decision {
    let domain = gateway.and_then(domain);
    let scraped =
        if monitors { "ServiceMonitors" } else { "no ServiceMonitors: the cluster has no such kind" };
    let health = match (&domain, gateway) {
        (Some(domain), _) => format!("health at healthz.{domain}"),
        (None, Some(_)) => {
            format!("no page of health: the Gateway {NAMESPACE}/{GATEWAY} has no domain of its own")
        }
        (None, None) => format!("no page of health: there is no Gateway {NAMESPACE}/{GATEWAY}"),
    };
    Decision { monitors, domain, words: format!("{scraped}; {health}") }
}

/// The first one of which a gateway takes every host.
fn domain(gateway: &Value) -> Option<String> {
    let servers = gateway["spec"]["servers"].as_array().into_iter().flatten();
    let mut hosts = servers.flat_map(|server| server["hosts"].as_array().into_iter().flatten());
    hosts.find_map(|host| {
        let host = host.as_str()?;
        // A host may say for which namespaces it is.
        let (_, host) = host.split_once('/').unwrap_or(("", host));
        host.strip_prefix("*.").map(str::to_owned)
    })
}

/// Whether anything was written.
pub(super) async fn reconcile(
    cluster: &Cluster,
    version: &str,
    telling: &mut Telling,
) -> Result<bool, String> {
    match Box::pin(bring(cluster, version)).await {
        Ok((wrote, words)) => {
            let reason = Reason { name: "Applied", kind: CONDITION, status: "True", message: "" };
            telling.say(&reason, &words);
            Ok(wrote)
        }
        Err(error) => {
            let reason = Reason { name: "NotApplied", kind: CONDITION, status: "False", message: "" };
            telling.say(&reason, &error.to_string());
            Err(error.to_string())
        }
    }
}

async fn bring(cluster: &Cluster, version: &str) -> Result<(bool, String), NotKept> {
    let gateway =
        cluster.get(&ObjectId::new("networking.istio.io", "Gateway", NAMESPACE, GATEWAY), None).await?;
    let decision = decide(are_served(cluster).await?, gateway.as_ref());
    let metadata = |name: &str, namespace: &str| resources::metadata(name, namespace, version);
    let mut wrote = false;
    for monitor in monitors(&metadata) {
        wrote |= if decision.monitors {
            keep(cluster, monitor).await?
        } else {
            drop_own(cluster, &monitor).await?
        };
    }
    wrote |= match &decision.domain {
        Some(domain) => keep(cluster, health(domain, &format!("{NAMESPACE}/{GATEWAY}"), &metadata)).await?,
        None => drop_own(cluster, &health("", "", &metadata)).await?,
    };
    Ok((wrote, decision.words))
}

/// One that is defined and not served is on its way: whoever looks again finds it.
pub(super) async fn are_served(cluster: &Cluster) -> Result<bool, Refused> {
    if cluster.served().find(GROUP, KIND, Some("v1")).is_some() {
        return Ok(true);
    }
    let definition = ObjectId::new(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "",
        "servicemonitors.monitoring.coreos.com",
    );
    let Some(definition) = cluster.get(&definition, None).await? else { return Ok(false) };
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let is_coming = versions.into_iter().any(|version| version["name"] == "v1" && version["served"] == true);
    if is_coming && definition["metadata"].get("deletionTimestamp").is_none() {
        let (group, kind, version) = (GROUP.to_owned(), KIND.to_owned(), "v1".to_owned());
        return Err(Refused::NotServed { group, kind, version });
    }
    Ok(false)
}

/// All that may be there, whatever is wanted.
pub(super) fn all(version: &str) -> Vec<Value> {
    let metadata = |name: &str, namespace: &str| resources::metadata(name, namespace, version);
    let mut all = monitors(&metadata);
    all.push(health("", "", &metadata));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_there_is_there_and_the_rest_is_told() {
        let gateway =
            |hosts: Value| json!({ "spec": { "servers": [{ "hosts": ["a.example"] }, { "hosts": hosts }] } });
        let of = |monitors: bool, gateway: Option<Value>| decide(monitors, gateway.as_ref());
        let all = of(true, Some(gateway(json!(["*.kyma.example"]))));
        assert_eq!((all.monitors, all.domain.as_deref()), (true, Some("kyma.example")));
        assert_eq!(all.words, "ServiceMonitors; health at healthz.kyma.example");
        assert_eq!(
            of(true, Some(gateway(json!(["ns/*.kyma.example"])))).domain.as_deref(),
            Some("kyma.example")
        );
        let none = of(false, None);
        assert_eq!((none.monitors, none.domain), (false, None));
        assert_eq!(
            none.words,
            "no ServiceMonitors: the cluster has no such kind; no page of health: there is no Gateway kyma-system/kyma-gateway"
        );
        for hosts in [json!(["*"]), json!(["b.example"]), json!([]), Value::Null] {
            let without = of(true, Some(gateway(hosts.clone())));
            assert_eq!(without.domain, None, "{hosts}");
            assert!(without.words.contains("has no domain of its own"), "{}", without.words);
        }
    }

    #[test]
    fn gateways_are_scraped_at_their_agents_whatever_family_their_addresses_are_of() {
        let monitors = monitors(&|name, namespace| json!({ "name": name, "namespace": namespace }));
        let relabelled = monitors[1]["spec"]["endpoints"][0]["relabelings"].as_array().unwrap();
        let whole: Vec<&str> = relabelled.iter().map(|rule| rule["replacement"].as_str().unwrap()).collect();
        assert_eq!(whole, ["$1:15020", "[$1]:15020"]);
        assert_eq!(monitors[0]["spec"]["endpoints"][0]["port"], "http-monitoring");
    }
}
