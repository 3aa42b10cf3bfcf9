//! Annotations that Istio gives a meaning to, on any kind.

use crate::Findings;
use mizzen_api::{Object, Spec, proto::istio::security::v1beta1::authorization_policy::Action};
use mizzen_text::At;

const DRY_RUN: &str = "istio.io/dry-run";
/// Refuses the object, whatever it says: for testing that the webhook is there.
const ALWAYS_REJECT: &str = "internal.istio.io/webhook-always-reject";
/// Written by the control plane on what it makes itself; anybody else would gain rights by them.
const INTERNAL: &[&str] = &["internal.istio.io/parent-namespace", "internal.istio.io/parents"];

pub(crate) fn check(object: &Object, found: &mut Findings) {
    let metadata = At::TOP.field("metadata");
    let at = metadata.field("annotations");
    let annotations = &object.metadata.annotations;
    if let Some(value) = annotations.get(DRY_RUN) {
        dry_run(object, value, &at.field(DRY_RUN), found);
    }
    if annotations.contains_key(ALWAYS_REJECT) {
        found.error(&at.field(ALWAYS_REJECT), format!("{ALWAYS_REJECT:?} annotation found, rejecting"));
    }
    for name in INTERNAL.iter().filter(|name| annotations.contains_key(**name)) {
        found.error(&at.field(name), format!("{name:?} annotation found, this may not be set by users"));
    }
}

fn dry_run(object: &Object, value: &str, at: &At<'_>, found: &mut Findings) {
    let Spec::AuthorizationPolicy(policy) = &object.spec else {
        found.error(at, format!("only an AuthorizationPolicy may have the annotation {DRY_RUN}; remove it"));
        return;
    };
    match policy.action() {
        Action::Allow | Action::Deny => {
            // What Go takes for a boolean.
            if !matches!(
                value,
                "1" | "t" | "T" | "TRUE" | "true" | "True" | "0" | "f" | "F" | "FALSE" | "false" | "False"
            ) {
                found.error(at, format!("annotation {DRY_RUN} must be true or false, not {value:?}"));
            }
        }
        Action::Audit | Action::Custom => {
            found.error(at, format!("annotation {DRY_RUN} is supported only for the actions ALLOW and DENY"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(kind: &str, action: &str, annotation: &str, value: &str) -> Vec<String> {
        let (api_version, spec) = match kind {
            "AuthorizationPolicy" => ("security.istio.io/v1", json!({"action": action, "rules": [{}]})),
            _ => ("networking.istio.io/v1", json!({"address": "1.2.3.4"})),
        };
        let object = Object::read(&json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": "a", "annotations": {annotation: value}},
            "spec": spec,
        }));
        let mut found = Findings::default();
        check(&object.unwrap(), &mut found);
        found.errors().map(|finding| finding.path.to_string()).collect()
    }

    #[test]
    fn what_only_the_control_plane_may_write_is_refused() {
        for name in [ALWAYS_REJECT, INTERNAL[0], INTERNAL[1]] {
            assert_eq!(found("WorkloadEntry", "", name, "x"), [format!("metadata.annotations[{name:?}]")]);
        }
        assert!(found("WorkloadEntry", "", "internal.istio.io/gateway-semantics", "x").is_empty());
    }

    #[test]
    fn only_a_policy_that_allows_or_denies_can_be_tried_out() {
        assert!(found("AuthorizationPolicy", "DENY", DRY_RUN, "true").is_empty());
        for (kind, action, value) in [
            ("AuthorizationPolicy", "ALLOW", "yes"),
            ("AuthorizationPolicy", "AUDIT", "true"),
            ("WorkloadEntry", "", "true"),
        ] {
            assert_eq!(found(kind, action, DRY_RUN, value), [format!("metadata.annotations[{DRY_RUN:?}]")]);
        }
    }
}
