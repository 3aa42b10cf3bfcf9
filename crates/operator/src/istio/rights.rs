//! What the operator for `Istio` resources may do: what its own work takes, kind by kind, and all that the roles which it makes grant to
//! others. It is not more than upstream's operator has, but for what is listed with its reason in the test beside.

use super::blockers::KINDS;
use crate::rights as shared;
use serde_json::{Value, json};

const OWN: [&str; 6] = ["create", "delete", "get", "list", "patch", "watch"];

/// For the work itself; `granted` is what the roles of the charts grant.
pub(super) fn rules(granted: &[Value]) -> Vec<Value> {
    let mut rules = vec![
        rule("operator.kyma-project.io", &["istios"], &["get", "list", "patch", "watch"]),
        rule("operator.kyma-project.io", &["istios/status"], &["patch"]),
        rule("", &["namespaces"], &["create", "delete", "get", "list", "patch", "watch"]),
        rule("", &["nodes"], &["list"]),
        rule("", &["pods"], &["delete", "get", "list"]),
        rule("", &["pods/eviction"], &["create"]),
        rule("", &["events"], &["create", "get", "list"]),
        // Workloads whose sidecars are not what they should be, and those that keep the mesh's namespace when it is to go.
        rule("apps", &["replicasets"], &["get", "list", "patch"]),
        rule("", &["replicationcontrollers"], &["get", "list", "patch"]),
        rule("apps", &["statefulsets"], &["get", "list", "patch"]),
        rule("autoscaling.k8s.io", &["verticalpodautoscalers"], &OWN),
        rule("scheduling.k8s.io", &["priorityclasses"], &["create", "get", "list", "patch", "watch"]),
        rule("security.istio.io", &["peerauthentications"], &OWN),
        // Monitoring: the gateway that health is reached by is somebody else's.
        rule("monitoring.coreos.com", &["servicemonitors"], &OWN),
        rule("networking.istio.io", &["gateways"], &["get", "list", "watch"]),
        rule("networking.istio.io", &["virtualservices"], &OWN),
    ];
    // What people have made of Istio's kinds keeps the mesh from being removed.
    rules.extend(KINDS.iter().map(|(group, _, plural)| rule(group, &[plural], &["list"])));
    rules.extend(shared::OWNED.iter().map(|kind| rule(kind.group, &[kind.plural], &OWN)));
    for granted in granted {
        if !rules.contains(granted) {
            rules.push(granted.clone());
        }
    }
    rules
}

pub(super) fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::granted;
    use mizzen_install::source::BuiltIn;
    use mizzen_testkit::compared_with;
    use mizzen_text::{
        Source,
        yaml::{self, Options},
    };
    use std::{collections::BTreeSet, fs};

    /// Group, resource, verbs, and why.
    const ADDITIONS: [(&str, &str, &[&str], &str); 7] = [
        (
            "monitoring.coreos.com",
            "servicemonitors",
            &["delete", "list", "patch", "watch"],
            "applied by the server, repaired when somebody edits them, and gone with the mesh",
        ),
        (
            "",
            "replicationcontrollers",
            &["patch"],
            "its next pods say what they were made for, so that none is evicted twice for one cause",
        ),
        (
            "",
            "pods/eviction",
            &["create"],
            "pods are asked to go, where upstream deletes them whatever their budget says",
        ),
        (
            "scheduling.k8s.io",
            "priorityclasses",
            &["create", "get", "list", "patch", "watch"],
            "made if it is not there, and again when it goes: no pod of the mesh is without it",
        ),
        ("", "resourcequotas", &OWN, "charts make one on GKE, and watches repair it"),
        (
            "admissionregistration.k8s.io",
            "validatingadmissionpolicies",
            &OWN,
            "our charts make it beside the webhook",
        ),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings", &OWN, "the same"),
    ];

    fn list(rule: &Value, key: &str) -> Vec<String> {
        rule[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn allows(rules: &[Value], group: &str, resource: &str, verb: &str) -> bool {
        let has = |rule: &Value, key: &str, word: &str| {
            list(rule, key).iter().any(|known| known == word || known == "*")
        };
        rules.iter().any(|rule| {
            has(rule, "apiGroups", group) && has(rule, "resources", resource) && has(rule, "verbs", verb)
        })
    }

    #[test]
    fn rights_are_not_wider_than_upstreams_but_for_what_has_a_reason() {
        let file = compared_with!("kyma-istio/role.yaml");
        let source = Source::new("role", fs::read(file).unwrap());
        let role: Value = yaml::load_first(&source, &Options::KUBERNETES).unwrap().unwrap();
        let theirs = role["rules"].as_array().unwrap();
        let (mut used, mut wider, mut count) = (BTreeSet::new(), Vec::new(), 0);
        for rule in rules(&granted(&BuiltIn).unwrap()) {
            for group in list(&rule, "apiGroups") {
                for resource in list(&rule, "resources") {
                    for verb in list(&rule, "verbs") {
                        count += 1;
                        if allows(theirs, &group, &resource, &verb) {
                            continue;
                        }
                        let addition = ADDITIONS.iter().position(|(known_group, known, verbs, _)| {
                            *known_group == group && *known == resource && verbs.contains(&verb.as_str())
                        });
                        match addition {
                            Some(place) => drop(used.insert(place)),
                            None => wider.push(format!("{verb} {resource} of {group:?}")),
                        }
                    }
                }
            }
        }
        assert!(wider.is_empty(), "{count} rights, of which upstream has not: {wider:#?}");
        let unused: Vec<_> =
            ADDITIONS.iter().enumerate().filter(|(place, _)| !used.contains(place)).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
}
