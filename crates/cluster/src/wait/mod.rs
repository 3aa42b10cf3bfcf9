//! Is an object ready, and if not, why? From the object and what belongs to it to a sentence; only `until` asks the cluster.

mod pods;
mod until;

pub use pods::explain;
pub use until::{NotReady, Waiting};

use serde_json::Value;

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    Yes,
    /// With the reason in words.
    NotYet(String),
}

/// By its kind; what has no notion of being ready is.
pub fn readiness(object: &Value) -> Ready {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "CustomResourceDefinition" => condition(object, "Established", "is not established"),
        "Namespace" => match text(object, "/status/phase") {
            "Active" | "" => Ready::Yes,
            phase => Ready::NotYet(format!("is {phase}")),
        },
        "Deployment" | "StatefulSet" => replicas(object),
        "DaemonSet" => daemons(object),
        "Job" => condition(object, "Complete", "is not complete"),
        _ => Ready::Yes,
    }
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

fn condition(object: &Value, name: &str, otherwise: &str) -> Ready {
    let all = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let found = all.into_iter().find(|condition| condition["type"] == name);
    match found {
        Some(found) if found["status"] == "True" => Ready::Yes,
        Some(found) => {
            let message = found["message"].as_str().filter(|message| !message.is_empty());
            Ready::NotYet(
                message.map_or_else(|| otherwise.to_owned(), |message| format!("{otherwise}: {message}")),
            )
        }
        None => Ready::NotYet(otherwise.to_owned()),
    }
}

fn seen(object: &Value) -> bool {
    number(object, "/status/observedGeneration") >= number(object, "/metadata/generation")
}

fn replicas(object: &Value) -> Ready {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let (updated, ready) =
        (number(object, "/status/updatedReplicas"), number(object, "/status/readyReplicas"));
    let all = number(object, "/status/replicas");
    if !seen(object) {
        return Ready::NotYet("its change has not been seen yet".to_owned());
    }
    if let Some(failure) = failing(object) {
        return Ready::NotYet(failure);
    }
    if updated < wanted {
        return Ready::NotYet(format!("{updated} of {wanted} replicas are new"));
    }
    if all > updated {
        return Ready::NotYet(format!("{} old replicas are still there", all - updated));
    }
    if ready < wanted {
        return Ready::NotYet(format!("{ready} of {wanted} replicas are ready"));
    }
    Ready::Yes
}

/// Pods that cannot even be made: a quota, an admission webhook, no such account.
fn failing(object: &Value) -> Option<String> {
    let mut all = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let found =
        all.find(|condition| condition["type"] == "ReplicaFailure" && condition["status"] == "True")?;
    Some(format!("its pods cannot be made: {}", found["message"].as_str().unwrap_or_default()))
}

fn daemons(object: &Value) -> Ready {
    let wanted = number(object, "/status/desiredNumberScheduled");
    let (updated, ready) =
        (number(object, "/status/updatedNumberScheduled"), number(object, "/status/numberReady"));
    if !seen(object) {
        return Ready::NotYet("its change has not been seen yet".to_owned());
    }
    // None is wanted where no node is meant for it, and that is fine.
    if updated < wanted {
        return Ready::NotYet(format!("{updated} of {wanted} nodes have the new one"));
    }
    if ready < wanted {
        return Ready::NotYet(format!("it is ready on {ready} of {wanted} nodes"));
    }
    Ready::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_is_ready_in_its_own_way() {
        let yes = |object: Value| assert_eq!(readiness(&object), Ready::Yes, "{object}");
        let no = |object: Value, told: &str| {
            assert_eq!(readiness(&object), Ready::NotYet(told.to_owned()), "{object}");
        };
        yes(json!({ "kind": "ConfigMap" }));
        no(json!({ "kind": "CustomResourceDefinition" }), "is not established");
        yes(
            json!({ "kind": "CustomResourceDefinition", "status": { "conditions": [{ "type": "Established", "status": "True" }] } }),
        );
        no(json!({ "kind": "Namespace", "status": { "phase": "Terminating" } }), "is Terminating");
        let deployment = |status: Value| json!({ "kind": "Deployment", "metadata": { "generation": 2 }, "spec": { "replicas": 2 }, "status": status });
        no(deployment(json!({ "observedGeneration": 1 })), "its change has not been seen yet");
        no(deployment(json!({ "observedGeneration": 2, "updatedReplicas": 1 })), "1 of 2 replicas are new");
        no(
            deployment(json!({ "observedGeneration": 2, "updatedReplicas": 2, "replicas": 3 })),
            "1 old replicas are still there",
        );
        no(
            deployment(
                json!({ "observedGeneration": 2, "updatedReplicas": 2, "replicas": 2, "readyReplicas": 1 }),
            ),
            "1 of 2 replicas are ready",
        );
        yes(deployment(
            json!({ "observedGeneration": 2, "updatedReplicas": 2, "replicas": 2, "readyReplicas": 2 }),
        ));
        yes(json!({ "kind": "DaemonSet", "status": { "desiredNumberScheduled": 0 } }));
        no(
            json!({ "kind": "DaemonSet", "status": { "desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 1 } }),
            "it is ready on 1 of 2 nodes",
        );
        no(
            json!({ "kind": "Job", "status": { "conditions": [{ "type": "Complete", "status": "False", "message": "no" }] } }),
            "is not complete: no",
        );
    }
}
