//! What has to be done about a resource, by what it says and by the others.

use super::{
    FINALIZER, NAMESPACE, reason,
    validate::{Refusal, validate},
};
use crate::finalizers;
use mizzen_api::istio::{Spec, State};
use serde_json::Value;

pub(super) enum Decision {
    /// It goes, and nothing of ours holds it.
    NotNeeded,
    Refused(Refusal),
    Bring(Box<Spec>),
    Remove,
    /// It goes, and the mesh is another one's.
    Release,
}

/// `all` are the resources where they have to be.
pub(super) fn decide(resource: &Value, all: &[Value], experimental: bool) -> Decision {
    let elsewhere = resource["metadata"]["namespace"] != NAMESPACE;
    let oldest = oldest(all);
    let is_oldest = oldest.is_some_and(|oldest| oldest["metadata"]["uid"] == resource["metadata"]["uid"]);
    if resource.pointer("/metadata/deletionTimestamp").is_some() {
        // Whatever is wrong with it: it must be possible to get rid of it.
        return match finalizers::has(resource, FINALIZER) {
            false => Decision::NotNeeded,
            true if elsewhere || !is_oldest => Decision::Release,
            true => Decision::Remove,
        };
    }
    let refused = |state, reason, description| Decision::Refused(Refusal { state, reason, description });
    let spec = match Spec::of(resource) {
        Ok(spec) => spec,
        Err(wrong) => {
            let description = format!("Could not merge Istio operator configuration: {wrong}");
            return refused(State::Error, &reason::MISCONFIGURED, description);
        }
    };
    if let Err(refusal) = validate(&spec, experimental) {
        return Decision::Refused(refusal);
    }
    if elsewhere {
        let description =
            format!("Stopped Istio CR reconciliation: istio CR is not in {NAMESPACE} namespace");
        return refused(State::Error, &reason::FAILED, description);
    }
    match oldest {
        _ if is_oldest => Decision::Bring(Box::new(spec)),
        Some(oldest) => {
            let name = oldest["metadata"]["name"].as_str().unwrap_or_default();
            let description = format!(
                "Stopped Istio CR reconciliation: only Istio CR {name} in {NAMESPACE} reconciles the module"
            );
            refused(State::Warning, &reason::OLDER_EXISTS, description)
        }
        None => {
            let description = "Stopped Istio CR reconciliation: no Istio CR found".to_owned();
            refused(State::Error, &reason::OLDEST_NOT_FOUND, description)
        }
    }
}

/// Of several of one second the last.
fn oldest(all: &[Value]) -> Option<&Value> {
    all.iter()
        .rev()
        .min_by_key(|resource| resource["metadata"]["creationTimestamp"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource(name: &str, namespace: &str, second: u8) -> Value {
        json!({ "metadata": { "name": name, "namespace": namespace, "uid": format!("{namespace}/{name}"),
                              "creationTimestamp": format!("2026-01-01T00:00:0{second}Z") } })
    }

    fn going(mut resource: Value, held: bool) -> Value {
        resource["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z".into();
        if held {
            resource["metadata"]["finalizers"] = json!([FINALIZER]);
        }
        resource
    }

    fn told(resource: &Value, all: &[Value]) -> String {
        match decide(resource, all, false) {
            Decision::NotNeeded => "not needed".to_owned(),
            Decision::Bring(_) => "bring".to_owned(),
            Decision::Remove => "remove".to_owned(),
            Decision::Release => "release".to_owned(),
            Decision::Refused(refusal) => {
                format!("{:?} {} {}", refusal.state, refusal.reason.name, refusal.description)
            }
        }
    }

    #[test]
    fn the_oldest_in_its_place_is_the_mesh() {
        let (old, new) = (resource("old", NAMESPACE, 1), resource("new", NAMESPACE, 2));
        let all = [new.clone(), old.clone()];
        assert_eq!(told(&old, &all), "bring");
        assert_eq!(
            told(&new, &all),
            "Warning OlderCRExists Stopped Istio CR reconciliation: only Istio CR old in kyma-system reconciles the module"
        );
        let twin = resource("twin", NAMESPACE, 1);
        let all = [old.clone(), twin.clone()];
        assert_eq!((told(&twin, &all).as_str(), told(&old, &all).starts_with("Warning")), ("bring", true));
        assert!(told(&old, &[]).starts_with("Error OldestCRNotFound"));
        assert_eq!(
            told(&resource("a", "default", 1), &all),
            "Error ReconcileFailed Stopped Istio CR reconciliation: istio CR is not in kyma-system namespace"
        );
    }

    #[test]
    fn whatever_is_wrong_with_a_resource_it_can_be_deleted() {
        let mut bad = resource("old", NAMESPACE, 1);
        bad["spec"] = json!({ "config": { "proxyStatsMatcher": { "inclusionRegexps": ["("] } } });
        assert!(told(&bad, std::slice::from_ref(&bad)).starts_with("Error ValidationFailed"));
        let bad = going(bad, true);
        assert_eq!(told(&bad, std::slice::from_ref(&bad)), "remove");
        let free = going(resource("old", NAMESPACE, 1), false);
        assert_eq!(told(&free, std::slice::from_ref(&free)), "not needed");
        let new = going(resource("new", NAMESPACE, 2), true);
        assert_eq!(
            told(&new, &[resource("old", NAMESPACE, 1), new.clone()]),
            "release",
            "the mesh is the older one's"
        );
        assert_eq!(told(&going(resource("a", "default", 1), true), &[]), "release");
        let mut wrong = resource("old", NAMESPACE, 1);
        wrong["spec"] = json!({ "config": 1 });
        assert!(
            told(&wrong, std::slice::from_ref(&wrong)).starts_with("Error IstioCustomResourceMisconfigured")
        );
    }
}
