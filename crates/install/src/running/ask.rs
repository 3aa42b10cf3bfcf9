//! The pods, and the processes in them through the API server.

use std::time::Duration;

use mizzen_cluster::{Cluster, Refused};
use serde_json::Value;
use tokio::{task::JoinSet, time::timeout};

use super::{NotRunning, Proxy, Running, Server, connected, proxy, server};

/// For one answer of a process: whoever is there answers at once.
const ANSWER: Duration = Duration::from_secs(3);
/// Where a control plane answers.
const MONITORING: u16 = 15014;
/// On every pod that has been injected.
const INJECTED: &str = "service.istio.io/canonical-name";

impl Running {
    /// Of the control plane in a namespace; of all its revisions if none is named.
    pub async fn read(
        cluster: &std::sync::Arc<Cluster>,
        namespace: &str,
        revision: Option<&str>,
    ) -> Result<Self, NotRunning> {
        let revision = revision.filter(|revision| !revision.is_empty());
        let labels = revision
            .map_or_else(|| "app=istiod".to_owned(), |name| format!("app=istiod,istio.io/rev={name}"));
        let mut pods = cluster.list_in("", "Pod", namespace, &labels).await?;
        pods.retain(is_ready);
        if pods.is_empty() {
            return Err(NotRunning::NoPods(namespace.to_owned()));
        }
        let mut asked = JoinSet::new();
        for (place, pod) in pods.into_iter().enumerate() {
            let cluster = std::sync::Arc::clone(cluster);
            asked.spawn(async move {
                let version = page(&cluster, &pod, "version").await;
                // Who does not answer the one will not answer the other.
                let proxies = match &version {
                    Some(_) => page(&cluster, &pod, "debug/syncz").await.as_deref().and_then(connected),
                    None => None,
                };
                (place, server(&pod, version.as_deref()), proxies)
            });
        }
        let mut answers: Vec<(usize, Server, Option<Vec<Proxy>>)> = Vec::new();
        while let Some(answer) = asked.join_next().await {
            answers.extend(answer);
        }
        answers.sort_by_key(|(place, ..)| *place);
        let proxies: Option<Vec<Vec<Proxy>>> = answers.iter().map(|(.., proxies)| proxies.clone()).collect();
        let proxies = match proxies {
            Some(proxies) => Some(proxies.concat()),
            None => in_pods(cluster, revision).await?,
        };
        Ok(Self { servers: answers.into_iter().map(|(_, server, _)| server).collect(), proxies })
    }
}

/// One page of a pod's process; nothing if it cannot be had.
async fn page(cluster: &Cluster, pod: &Value, path: &str) -> Option<String> {
    let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}:{MONITORING}/proxy/{path}");
    let what = format!("asking pod {namespace}/{name}");
    timeout(ANSWER, cluster.read_text(&what, &path)).await.ok()?.ok()
}

/// Who may not list all pods does not know.
async fn in_pods(cluster: &Cluster, revision: Option<&str>) -> Result<Option<Vec<Proxy>>, Refused> {
    let of_revision = |pod: &&Value| {
        revision.is_none_or(|name| {
            pod["metadata"]["annotations"]["istio.io/rev"].as_str().is_none_or(|of| of == name)
        })
    };
    match cluster.list("", "Pod", INJECTED).await {
        Ok(pods) => Ok(Some(pods.iter().filter(of_revision).filter_map(proxy).collect())),
        Err(Refused::Forbidden { .. }) => Ok(None),
        Err(refused) => Err(refused),
    }
}

fn is_ready(pod: &Value) -> bool {
    let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    pod["status"]["phase"] == "Running"
        && conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
