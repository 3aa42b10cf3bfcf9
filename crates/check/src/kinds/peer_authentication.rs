//! PeerAuthentication: which connections must be mutual TLS.

use crate::{Findings, parts::selector, value::number};
use mizzen_api::proto::istio::security::v1beta1::PeerAuthentication;
use mizzen_text::At;

pub(crate) fn check(spec: &PeerAuthentication, found: &mut Findings) {
    let at = At::TOP.field("spec");
    let for_workloads = spec.selector.as_ref().is_some_and(|selector| !selector.match_labels.is_empty());
    let ports = at.field("portLevelMtls");
    if !for_workloads && !spec.port_level_mtls.is_empty() {
        found.error(
            &ports,
            "mesh/namespace peer authentication cannot have port level mTLS; name the workloads in selector.matchLabels",
        );
    }
    for port in spec.port_level_mtls.keys() {
        if let Err(wrong) = number::port(*port) {
            found.error(&ports.field(&port.to_string()), wrong);
        }
    }
    selector::by_match_labels(spec.selector.as_ref(), &at.field("selector"), found);
}

#[cfg(test)]
mod tests {
    use crate::testing::{accepted, refused_at, warned_at};
    use serde_json::{Value, json};

    fn peer(spec: &Value) -> Value {
        json!({"apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
               "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
    }

    #[test]
    fn ports_are_for_selected_workloads_only() {
        let ports = json!({"8080": {"mode": "DISABLE"}});
        accepted(&peer(&json!({"selector": {"matchLabels": {"app": "a"}}, "portLevelMtls": ports})));
        refused_at(
            &peer(&json!({"mtls": {"mode": "STRICT"}, "portLevelMtls": ports})),
            &["spec.portLevelMtls"],
        );
        refused_at(&peer(&json!({"selector": {}, "portLevelMtls": ports})), &["spec.portLevelMtls"]);
    }

    #[test]
    fn a_port_is_a_number_that_exists() {
        let spec = json!({"selector": {"matchLabels": {"app": "a"}}, "portLevelMtls": {"0": {}, "1": {}, "65536": {}}});
        refused_at(&peer(&spec), &["spec.portLevelMtls.0", "spec.portLevelMtls.65536"]);
    }

    #[test]
    fn a_selector_has_labels_without_wildcards() {
        warned_at(&peer(&json!({"selector": {}})), &["spec.selector"]);
        refused_at(
            &peer(&json!({"selector": {"matchLabels": {"app": "a*"}}})),
            &["spec.selector.matchLabels.app"],
        );
    }
}
