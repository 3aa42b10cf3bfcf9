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
