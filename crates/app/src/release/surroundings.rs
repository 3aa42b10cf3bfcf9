//! What a cluster lacks for an application to be of use in it: no reason not to apply it, and told.

use super::{
    owner::{APP, Owner, RELEASE, STACK},
    plan::Plan,
    record::Found,
    rehearse::STAND_IN,
};
use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A sentence for each. What this user may not look at is not told.
pub async fn warnings(cluster: &Cluster, owner: &Owner, plan: &Plan) -> Result<Vec<String>, Refused> {
    let mut told = Vec::new();
    let wanted = || plan.steps.iter().map(|step| &step.wanted.desired);
    if wanted().any(|desired| is_istio(&desired.id)) {
        let planes = readable(cluster.list("apps", "Deployment", "app=istiod").await)?;
        if planes.is_some_and(|planes| planes.is_empty()) {
            told.push(
                "there is no control plane in this cluster: Istio's objects have no effect before there is one; `mizzen install` installs one"
                    .to_owned(),
            );
        }
    }
    told.extend(unserved(plan));
    told.extend(unasked(plan));
    if plan.before.as_ref().is_some_and(Found::is_recovered) {
        told.push(format!(
            "the record of {}, {}, is gone; what its releases have made is read from the Specs that are still there",
            owner.name(),
            owner.ledger()
        ));
    }
    let mut meshed: BTreeSet<&str> = BTreeSet::new();
    meshed
        .extend(wanted().filter(|desired| runs(&desired.value)).map(|desired| desired.id.namespace.as_str()));
    for name in meshed {
        let in_spec = wanted().find(|desired| desired.id.kind == "Namespace" && desired.id.name == name);
        let live = plan.namespaces.get(name).and_then(Option::as_ref);
        let known = in_spec.is_some() || live.is_some();
        let injected = in_spec.map(|desired| &*desired.value).into_iter().chain(live).any(is_injected);
        if known && !injected {
            told.push(format!(
                "pods in namespace {name} get no sidecar: it has no label istio-injection=enabled; `namespaceLabels` in platform.yaml sets it on a namespace that the application makes"
            ));
        }
    }
    let selector = format!("{},!{RELEASE}", owner.selector());
    let elsewhere = readable(cluster.list("", "Secret", &selector).await)?.unwrap_or_default();
    for secret in elsewhere {
        let namespace = secret["metadata"]["namespace"].as_str().unwrap_or_default();
        let labels = &secret["metadata"]["labels"];
        if namespace != owner.namespace
            && labels[APP] == owner.app.as_str()
            && labels[STACK] == owner.stack.as_str()
        {
            told.push(format!(
                "{} is in namespace {namespace}, too, and stays there; `mizzen app destroy -n {namespace}` removes it",
                owner.name()
            ));
        }
    }
    Ok(told)
}

fn readable(listed: Result<Vec<Value>, Refused>) -> Result<Option<Vec<Value>>, Refused> {
    match listed {
        Ok(listed) => Ok(Some(listed)),
        Err(Refused::Forbidden { .. }) => Ok(None),
        Err(refused) => Err(refused),
    }
}

fn is_istio(id: &ObjectId) -> bool {
    id.group.ends_with(".istio.io")
}

/// What will be known only when the objects are applied.
fn unasked(plan: &Plan) -> Option<String> {
    let (first, reason) = plan.unasked.first()?;
    let more = match plan.unasked.len() {
        1 => String::new(),
        count => format!(" (and {} more objects)", count - 1),
    };
    Some(format!(
        "whether {first}{more} is taken in namespace {}, which is not there yet, is known when it is; asked about the same in namespace {STAND_IN} the server says: {reason}",
        first.namespace
    ))
}

/// One line for each kind.
fn unserved(plan: &Plan) -> Vec<String> {
    let mut kinds: BTreeMap<(&str, &str, bool), usize> = BTreeMap::new();
    for (id, api_version) in &plan.unserved {
        *kinds.entry((api_version, &id.kind, is_istio(id))).or_default() += 1;
    }
    let told = kinds.into_iter().map(|((api_version, kind, istio), count)| {
        let advice = if istio {
            "; `mizzen install` brings it, or `mizzen crd print | kubectl apply --server-side -f -`"
        } else {
            ""
        };
        format!("the cluster does not know the kind {kind} of {api_version} ({count} of the objects){advice}")
    });
    told.collect()
}

/// Whether pods come of it that want a sidecar.
fn runs(object: &Value) -> bool {
    let template = &object["spec"]["template"];
    let says_no = |part: &str| template["metadata"][part]["sidecar.istio.io/inject"] == "false";
    let own = template["metadata"]["labels"]["sidecar.istio.io/inject"] == "true";
    template["spec"]["containers"].is_array() && !says_no("labels") && !says_no("annotations") && !own
}

/// By a sidecar, or by the node's own proxy.
fn is_injected(namespace: &Value) -> bool {
    let label = |name: &str| namespace["metadata"]["labels"][name].as_str().filter(|value| !value.is_empty());
    match label("istio-injection") {
        Some(word) => word == "enabled",
        None => label("istio.io/rev").is_some() || label("istio.io/dataplane-mode") == Some("ambient"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_namespace_is_injected_by_any_of_istios_labels() {
        let labelled = |labels: Value| is_injected(&json!({"metadata": {"labels": labels}}));
        assert!(labelled(json!({"istio-injection": "enabled"})));
        assert!(labelled(json!({"istio.io/rev": "canary"})));
        assert!(labelled(json!({"istio.io/dataplane-mode": "ambient"})));
        assert!(
            !labelled(json!({"istio-injection": "disabled", "istio.io/rev": "canary"})),
            "the first wins"
        );
        assert!(!labelled(json!({})));
    }

    #[test]
    fn pods_that_ask_for_none_or_for_one_themselves_are_not_meant() {
        let pods = |metadata: Value| json!({"spec": {"template": {"metadata": metadata, "spec": {"containers": []}}}});
        assert!(runs(&pods(json!({}))));
        assert!(!runs(&pods(json!({"labels": {"sidecar.istio.io/inject": "false"}}))));
        assert!(!runs(&pods(json!({"annotations": {"sidecar.istio.io/inject": "false"}}))));
        assert!(!runs(&pods(json!({"labels": {"sidecar.istio.io/inject": "true"}}))));
        assert!(!runs(&json!({"spec": {}})));
    }
}
