//! Why the pods of a workload do not become ready: the pod, the container, and what the cluster says of it.

use serde_json::Value;

/// The most telling thing about these pods and their events; nothing if all is well.
pub fn explain(pods: &[Value], events: &[Value]) -> Option<String> {
    // The newest one is the one that is waited for.
    let mut pods: Vec<&Value> = pods.iter().filter(|pod| !is_ready(pod)).collect();
    pods.sort_by_key(|pod| std::cmp::Reverse(text(pod, "/metadata/creationTimestamp").to_owned()));
    let pod = pods.first()?;
    let name = text(pod, "/metadata/name");
    let state = container(pod).or_else(|| unscheduled(pod)).or_else(|| not_ready(pod));
    let event = newest(events, name);
    Some(match (state, event) {
        (Some(state), Some(event)) if !state.contains(event.as_str()) => {
            format!("pod {name}: {state} ({event})")
        }
        (Some(state), _) => format!("pod {name}: {state}"),
        (None, Some(event)) => format!("pod {name}: {event}"),
        (None, None) => format!("pod {name} is {}", text(pod, "/status/phase")),
    })
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(object: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn is_ready(pod: &Value) -> bool {
    list(pod, "/status/conditions")
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// A container that waits or has ended, those that come first before the others.
fn container(pod: &Value) -> Option<String> {
    let all = list(pod, "/status/initContainerStatuses").chain(list(pod, "/status/containerStatuses"));
    for status in all {
        let name = text(status, "/name");
        let last = status.pointer("/lastState/terminated");
        if let Some(waiting) = status.pointer("/state/waiting") {
            let reason = text(waiting, "/reason");
            // Every container says so for a moment.
            if matches!(reason, "ContainerCreating" | "PodInitializing" | "") {
                continue;
            }
            let message = Some(text(waiting, "/message")).filter(|message| !message.is_empty());
            let ended = last.map(|last| format!(", it ended with code {}", last["exitCode"]));
            let told = message.map(|message| format!(": {message}")).unwrap_or_default();
            return Some(format!("container {name} waits, {reason}{}{told}", ended.unwrap_or_default()));
        }
        if let Some(ended) = status.pointer("/state/terminated")
            && ended["exitCode"] != 0
        {
            return Some(format!(
                "container {name} has ended with code {} ({})",
                ended["exitCode"],
                text(ended, "/reason")
            ));
        }
    }
    None
}

fn unscheduled(pod: &Value) -> Option<String> {
    let mut all = list(pod, "/status/conditions");
    let found =
        all.find(|condition| condition["type"] == "PodScheduled" && condition["status"] == "False")?;
    Some(format!("no node takes it: {}", text(found, "/message")))
}

fn not_ready(pod: &Value) -> Option<String> {
    let mut all = list(pod, "/status/conditions");
    let found = all.find(|condition| condition["type"] == "Ready" && condition["status"] == "False")?;
    Some(text(found, "/message")).filter(|message| !message.is_empty()).map(str::to_owned)
}

/// The last warning about the pod.
fn newest(events: &[Value], pod: &str) -> Option<String> {
    let about = |event: &&Value| {
        event["type"] == "Warning" && event.pointer("/involvedObject/name").is_some_and(|name| name == pod)
    };
    let when = |event: &&Value| {
        let at = ["/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"]
            .map(|pointer| text(event, pointer));
        at.into_iter().find(|at| !at.is_empty()).unwrap_or_default().to_owned()
    };
    let event = events.iter().filter(about).max_by_key(when)?;
    let message: String = text(event, "/message").chars().take(300).collect();
    Some(format!("{}: {message}", text(event, "/reason")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "it is given as `json!`")]
    fn pod(name: &str, status: Value) -> Value {
        json!({ "metadata": { "name": name, "creationTimestamp": "2026-01-01T00:00:00Z" }, "status": status })
    }

    fn event(pod: &str, reason: &str, at: &str) -> Value {
        json!({ "type": "Warning", "reason": reason, "message": "m", "lastTimestamp": at, "involvedObject": { "name": pod } })
    }

    #[test]
    fn the_container_and_the_last_event_are_named() {
        let pulls = pod(
            "p",
            json!({ "containerStatuses": [
            { "name": "ok", "state": { "running": {} } },
            { "name": "c", "state": { "waiting": { "reason": "ImagePullBackOff", "message": "no such image" } } }] }),
        );
        let events = [event("p", "Old", "1"), event("p", "Failed", "2"), event("q", "Other", "3")];
        assert_eq!(
            explain(&[pulls], &events).as_deref(),
            Some("pod p: container c waits, ImagePullBackOff: no such image (Failed: m)")
        );
    }

    #[test]
    fn a_crash_says_its_code_and_a_pod_without_a_node_why() {
        let crashes = pod(
            "p",
            json!({ "containerStatuses": [{ "name": "c",
            "state": { "waiting": { "reason": "CrashLoopBackOff" } }, "lastState": { "terminated": { "exitCode": 3 } } }] }),
        );
        assert_eq!(
            explain(&[crashes], &[]).as_deref(),
            Some("pod p: container c waits, CrashLoopBackOff, it ended with code 3")
        );
        let pending = pod(
            "p",
            json!({ "phase": "Pending", "conditions": [
            { "type": "PodScheduled", "status": "False", "message": "0/1 nodes are available" }] }),
        );
        assert_eq!(
            explain(&[pending], &[]).as_deref(),
            Some("pod p: no node takes it: 0/1 nodes are available")
        );
    }

    #[test]
    fn ready_pods_are_no_reason() {
        let ready = pod("p", json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
        assert_eq!(explain(&[ready], &[event("p", "Unhealthy", "1")]), None);
        let starting = pod(
            "p",
            json!({ "phase": "Pending", "containerStatuses": [{ "name": "c", "state": { "waiting": { "reason": "ContainerCreating" } } }] }),
        );
        assert_eq!(explain(&[starting], &[]).as_deref(), Some("pod p is Pending"));
    }
}
