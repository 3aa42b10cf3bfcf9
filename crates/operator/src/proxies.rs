//! Which proxies still take their configuration from a revision, as their pods say. A control plane is not asked: it may be the very
//! thing that is broken, and pods are known as long as there is a cluster.

use mizzen_cluster::{Cluster, Refused};
use serde_json::Value;

/// What injection leaves at a pod.
const INJECTED: &str = "sidecar.istio.io/status";
/// Injected pods have the first label; the gateways of the mesh itself have the second, and go with it.
const SELECTOR: &str = "security.istio.io/tlsMode,!operator.istio.io/component";
const NAMED: usize = 5;

/// `namespace/name` of each.
pub(crate) async fn attached(cluster: &Cluster, revision: &str) -> Result<Vec<String>, Refused> {
    let pods = cluster.list("", "Pod", SELECTOR).await?;
    Ok(of_revision(&pods, revision))
}

fn of_revision(pods: &[Value], revision: &str) -> Vec<String> {
    let text = |pod: &Value, pointer: &str| {
        pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let is_attached = |pod: &&Value| {
        let said = pod.pointer("/metadata/annotations").and_then(|all| all.get(INJECTED)?.as_str());
        let said: Value = said.and_then(|said| serde_json::from_str(said).ok()).unwrap_or_default();
        let ended = matches!(text(pod, "/status/phase").as_str(), "Succeeded" | "Failed");
        said["revision"] == revision && !ended
    };
    let name = |pod: &Value| format!("{}/{}", text(pod, "/metadata/namespace"), text(pod, "/metadata/name"));
    pods.iter().filter(is_attached).map(name).collect()
}

/// What somebody has to do about them.
pub(crate) fn sentence(revision: &str, attached: &[String]) -> String {
    let named = attached.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match attached.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{} proxies still use revision {revision}: {named}{more}; move them to another revision or delete them, then this one goes",
        attached.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pods_that_were_injected_by_the_revision_and_still_run_count() {
        let pod = |name: &str, revision: &str, phase: &str| {
            let said = json!({ "revision": revision }).to_string();
            json!({ "metadata": { "name": name, "namespace": "n", "annotations": { INJECTED: said } },
                    "status": { "phase": phase } })
        };
        let pods = [
            pod("a", "canary", "Running"),
            pod("b", "default", "Running"),
            pod("c", "canary", "Succeeded"),
            json!({ "metadata": { "name": "d", "namespace": "n" } }),
        ];
        assert_eq!(of_revision(&pods, "canary"), ["n/a"]);
    }

    #[test]
    fn few_are_named_and_the_others_counted() {
        let all: Vec<String> = (0..7).map(|number| format!("n/p{number}")).collect();
        assert!(sentence("canary", &all).starts_with("7 proxies still use revision canary: n/p0, n/p1,"));
        assert!(sentence("canary", &all).contains("n/p4 and 2 more;"));
    }
}
