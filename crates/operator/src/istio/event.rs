//! What happened to an object, told where its owner looks: as an event of it. Those of workloads have the names that upstream has planned.
//!
//! The name of an event is made of what it says and of the cause, so that one cause is told once as long as the cluster keeps
//! events. It is about the very object, not only its name: `kubectl describe` shows no other.

use super::sidecars::Owner;
use mizzen_cluster::{Cluster, Desired, ObjectId, Refused, now};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Of an object's name, so that the whole is a name still.
const LONGEST: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    RestartSuccess,
    RestartFailed,
    RestartRequired,
    RestartConfigInvalid,
    /// Of a resource that went: the mesh's namespace did not go with it.
    NamespaceKept,
}

impl Reason {
    fn reporter(self) -> &'static str {
        if self == Self::NamespaceKept { "istio-controller-manager" } else { "istio-restarter" }
    }
}

/// One that cannot be told changes nothing about what it tells of.
pub(super) async fn tell(
    cluster: &Cluster,
    namespace: &str,
    about: &Owner,
    reason: Reason,
    note: &str,
    cause: &str,
) {
    if let Err(refused) = keep(cluster, event(namespace, about, reason, note, cause, &now())).await {
        tracing::warn!(object = format!("{} {namespace}/{}", about.kind, about.name), %refused, "an event cannot be told");
    }
}

async fn keep(cluster: &Cluster, event: Value) -> Result<(), Refused> {
    let invalid = |error: mizzen_cluster::NoObject| Refused::Invalid {
        what: "an event".to_owned(),
        message: error.to_string(),
    };
    let desired = Desired::new(event).map_err(invalid)?;
    if is_known(cluster, &desired.id).await? {
        return Ok(());
    }
    match cluster.create(&desired).await {
        // Told at the same time.
        Err(Refused::Conflict { .. }) => Ok(()),
        other => other.map(drop),
    }
}

async fn is_known(cluster: &Cluster, id: &ObjectId) -> Result<bool, Refused> {
    Ok(cluster.get(id, None).await?.is_some())
}

fn event(namespace: &str, about: &Owner, reason: Reason, note: &str, cause: &str, now: &str) -> Value {
    let kind = if reason == Reason::RestartSuccess { "Normal" } else { "Warning" };
    let (reporter, reason) = (reason.reporter(), format!("{reason:?}"));
    let mut hasher = DefaultHasher::new();
    (&about.kind, &about.uid, &reason, note, cause).hash(&mut hasher);
    let name: String = about.name.chars().take(LONGEST).collect();
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": format!("{name}.{:016x}", hasher.finish()), "namespace": namespace },
        "involvedObject": { "apiVersion": about.version, "kind": about.kind, "name": about.name, "namespace": namespace, "uid": about.uid },
        "reason": reason, "message": note, "type": kind, "count": 1,
        "source": { "component": reporter }, "reportingComponent": reporter, "reportingInstance": reporter,
        "firstTimestamp": now, "lastTimestamp": now,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cause_has_one_name_and_another_has_another() {
        let about = Owner {
            version: "apps/v1".into(),
            kind: "Deployment".into(),
            name: "shop".repeat(80),
            uid: "u".into(),
        };
        let of = |reason, cause: &str, now: &str| event("n", &about, reason, "note", cause, now);
        let name = |event: &Value| event["metadata"]["name"].as_str().unwrap().to_owned();
        let first = of(Reason::RestartRequired, "cause", "t1");
        assert_eq!(name(&first), name(&of(Reason::RestartRequired, "cause", "t2")));
        assert_ne!(name(&first), name(&of(Reason::RestartRequired, "another", "t1")));
        assert_ne!(name(&first), name(&of(Reason::RestartFailed, "cause", "t1")));
        assert!(name(&first).len() < 253);
        assert_eq!((&first["type"], &first["reason"]), (&json!("Warning"), &json!("RestartRequired")));
        assert_eq!(of(Reason::RestartSuccess, "cause", "t1")["type"], "Normal");
        assert_eq!(first["reportingComponent"], "istio-restarter");
        assert_eq!(
            of(Reason::NamespaceKept, "cause", "t1")["reportingComponent"],
            "istio-controller-manager"
        );
        assert_eq!(first["involvedObject"]["uid"], "u");
        let another = Owner { uid: "another".into(), ..about.clone() };
        let told = event("n", &another, Reason::RestartRequired, "note", "cause", "t1");
        assert_ne!(name(&first), name(&told), "one that was made anew");
    }
}
