//! What the operator may do: what its own work takes, kind by kind, and all that the roles which it makes grant to others. Nobody can
//! grant what he does not have, and the right to do so nevertheless would be the right to everything.

use mizzen_install::{COMPONENTS, Charts, Input, Refused, generate};
use serde_json::{Value, json};

/// A kind whose objects are made, kept and removed.
pub(crate) struct Owned {
    pub(crate) group: &'static str,
    pub(crate) versions: &'static [&'static str],
    pub(crate) plural: &'static str,
}

const fn kind(group: &'static str, versions: &'static [&'static str], plural: &'static str) -> Owned {
    Owned { group, versions, plural }
}

/// What charts make. Pods are not among them: they are their workloads'.
pub(crate) const OWNED: [Owned; 21] = [
    kind("", &["v1"], "configmaps"),
    kind("", &["v1"], "resourcequotas"),
    kind("", &["v1"], "secrets"),
    kind("", &["v1"], "serviceaccounts"),
    kind("", &["v1"], "services"),
    kind("admissionregistration.k8s.io", &["v1"], "mutatingwebhookconfigurations"),
    kind("admissionregistration.k8s.io", &["v1"], "validatingadmissionpolicies"),
    kind("admissionregistration.k8s.io", &["v1"], "validatingadmissionpolicybindings"),
    kind("admissionregistration.k8s.io", &["v1"], "validatingwebhookconfigurations"),
    kind("apiextensions.k8s.io", &["v1"], "customresourcedefinitions"),
    kind("apps", &["v1"], "daemonsets"),
    kind("apps", &["v1"], "deployments"),
    kind("autoscaling", &["v2"], "horizontalpodautoscalers"),
    kind("networking.istio.io", &["v1alpha3"], "envoyfilters"),
    kind("networking.istio.io", &["v1", "v1beta1", "v1alpha3"], "gateways"),
    kind("networking.k8s.io", &["v1"], "networkpolicies"),
    kind("policy", &["v1"], "poddisruptionbudgets"),
    kind("rbac.authorization.k8s.io", &["v1"], "clusterrolebindings"),
    kind("rbac.authorization.k8s.io", &["v1"], "clusterroles"),
    kind("rbac.authorization.k8s.io", &["v1"], "rolebindings"),
    kind("rbac.authorization.k8s.io", &["v1"], "roles"),
];

const OWN: [&str; 6] = ["create", "delete", "get", "list", "patch", "watch"];

/// For the work itself.
pub(crate) fn own() -> Vec<Value> {
    let mut rules = vec![
        rule("install.istio.io", &["istiooperators"], &["get", "list", "patch", "watch"]),
        rule("install.istio.io", &["istiooperators/status"], &["patch"]),
        rule("", &["namespaces"], &["create", "get", "patch"]),
        // Why a workload is not ready, and which proxies a revision has; a pod that an installer left goes with its mesh.
        rule("", &["pods"], &["delete", "get", "list"]),
        rule("", &["events"], &["list"]),
    ];
    rules.extend(OWNED.iter().map(|kind| rule(kind.group, &[kind.plural], &OWN)));
    rules
}

/// For the lease, in the operator's own namespace.
pub(crate) fn leases() -> Value {
    rule("coordination.k8s.io", &["leases"], &["create", "get", "update"])
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
}

/// What the roles of these charts grant, each rule once.
pub fn granted(charts: &dyn Charts) -> Result<Vec<Value>, Refused> {
    let mut sets = ["profile=demo", "values.pilot.autoscaleEnabled=true"].map(str::to_owned).to_vec();
    let node_agents = COMPONENTS.iter().find(|component| component.name == "Cni");
    if node_agents.is_some_and(|component| charts.chart(component.chart).is_ok()) {
        sets.push("components.cni.enabled=true".to_owned());
    }
    let generated = generate(&Input { sets, ..Input::default() }, charts)?;
    let mut rules: Vec<Value> = Vec::new();
    for manifest in generated.components.iter().flat_map(|component| &component.objects) {
        let object = manifest.object();
        if object["kind"] != "ClusterRole" && object["kind"] != "Role" {
            continue;
        }
        for rule in object["rules"].as_array().into_iter().flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_install::source::BuiltIn;

    #[test]
    fn every_kind_that_the_charts_make_may_be_made_and_is_watched() {
        let sets = ["profile=demo", "values.pilot.autoscaleEnabled=true"].map(str::to_owned).to_vec();
        let generated = generate(&Input { sets, ..Input::default() }, &BuiltIn).unwrap();
        for manifest in generated.components.iter().flat_map(|component| &component.objects) {
            let object = manifest.object();
            let api_version = object["apiVersion"].as_str().unwrap();
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let name = object["kind"].as_str().unwrap().to_lowercase();
            let plural = name.strip_suffix('y').map_or(format!("{name}s"), |start| format!("{start}ies"));
            let found = OWNED
                .iter()
                .any(|kind| kind.group == group && kind.plural == plural && kind.versions.contains(&version));
            assert!(found, "{group} {version} {plural}");
        }
    }

    #[test]
    fn no_right_is_the_right_to_everything() {
        let granted = granted(&BuiltIn).unwrap();
        assert!(granted.len() > 5, "{granted:?}");
        for rule in own().iter().chain(&granted).chain([&leases()]) {
            let list = |key: &str| rule[key].as_array().cloned().unwrap_or_default();
            assert!(!list("verbs").iter().any(|verb| verb == "escalate" || verb == "bind"), "{rule}");
            assert!(!list("apiGroups").contains(&json!("*")), "{rule}");
        }
    }
}
