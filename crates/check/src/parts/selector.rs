//! Which workloads an object is about: by labels, or by the things it is attached to.

use crate::Findings;
use mizzen_api::proto::istio::{networking::v1alpha3, r#type::v1beta1};
use mizzen_text::At;
use std::collections::BTreeMap;

/// What a policy may be attached to: group and kind.
const TARGETS: &[(&str, &str)] = &[
    ("", "Service"),
    ("networking.istio.io", "ServiceEntry"),
    ("gateway.networking.k8s.io", "Gateway"),
    ("gateway.networking.k8s.io", "GatewayClass"),
];

/// `spec.selector` of the security, telemetry and extension kinds.
pub(crate) fn by_match_labels(
    selector: Option<&v1beta1::WorkloadSelector>,
    at: &At<'_>,
    found: &mut Findings,
) {
    if let Some(selector) = selector {
        labels(&selector.match_labels, &at.field("matchLabels"), found);
        if selector.match_labels.is_empty() {
            found.warning(at, "workload selector specified without labels");
        }
    }
}

/// `spec.workloadSelector` of the networking kinds. Whether a selector without labels deserves a warning, and in
/// which words, differs by kind, so that is the caller's.
pub(crate) fn by_labels(selector: Option<&v1alpha3::WorkloadSelector>, at: &At<'_>, found: &mut Findings) {
    if let Some(selector) = selector {
        labels(&selector.labels, &at.field("labels"), found);
    }
}

fn labels(labels: &BTreeMap<String, String>, at: &At<'_>, found: &mut Findings) {
    for (key, value) in labels {
        let at = at.field(key);
        if key.is_empty() {
            found.error(&at, format!("empty key is not supported in selector: \"{key}={value}\""));
        }
        if key.contains('*') || value.contains('*') {
            found.error(&at, format!("wildcard is not supported in selector: \"{key}={value}\""));
        }
    }
}

/// `spec.targetRef` (`at` is the reference) or one of `spec.targetRefs`.
pub(crate) fn target(target: &v1beta1::PolicyTargetReference, at: &At<'_>, found: &mut Findings) {
    if target.name.is_empty() {
        found.error(&at.field("name"), "targetRef name must be set");
    }
    if !target.namespace.is_empty() {
        found.error(
            &at.field("namespace"),
            "targetRef namespace must not be set; cross namespace referencing is not supported",
        );
    }
    let group = if target.group == "core" { "" } else { &target.group };
    if !TARGETS.contains(&(group, &target.kind)) {
        let allowed: Vec<_> = TARGETS.iter().map(|(group, kind)| format!("{group}/{kind}")).collect();
        found.error(
            &at.field("kind"),
            format!(
                "targetRef must be to one of {} but was {}/{}",
                allowed.join(", "),
                target.group,
                target.kind
            ),
        );
    }
}

/// The three ways of a policy to say whom it is about; at most one may be used. `at` is the spec.
pub(crate) fn policy(
    selector: Option<&v1beta1::WorkloadSelector>,
    one: Option<&v1beta1::PolicyTargetReference>,
    many: &[v1beta1::PolicyTargetReference],
    at: &At<'_>,
    found: &mut Findings,
) {
    if u8::from(selector.is_some()) + u8::from(one.is_some()) + u8::from(!many.is_empty()) > 1 {
        found.error(at, "only one of targetRefs or selector can be set");
    }
    by_match_labels(selector, &at.field("selector"), found);
    if let Some(reference) = one {
        target(reference, &at.field("targetRef"), found);
    }
    let refs = at.field("targetRefs");
    for (index, reference) in many.iter().enumerate() {
        target(reference, &refs.index(index), found);
    }
}
