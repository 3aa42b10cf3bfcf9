//! ProxyConfig: settings of the proxies of some workloads.

use crate::{Findings, parts::selector};
use mizzen_api::proto::istio::networking::v1beta1::ProxyConfig;
use mizzen_text::At;

pub(crate) fn check(config: &ProxyConfig, found: &mut Findings) {
    let at = At::TOP.field("spec");
    selector::by_match_labels(config.selector.as_ref(), &at.field("selector"), found);
    if config.concurrency.is_some_and(|threads| threads < 0) {
        found.error(&at.field("concurrency"), "concurrency must be greater than or equal to 0");
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{accepted, refused, warned};
    use serde_json::json;

    #[test]
    fn concurrency_is_not_negative() {
        accepted("ProxyConfig", json!({}));
        accepted("ProxyConfig", json!({"concurrency": 0}));
        refused("ProxyConfig", json!({"concurrency": -1}), &["spec.concurrency"]);
    }

    #[test]
    fn workloads_are_selected_by_plain_labels() {
        accepted("ProxyConfig", json!({"selector": {"matchLabels": {"a": "b"}}}));
        warned("ProxyConfig", json!({"selector": {}}), &["spec.selector"]);
        refused(
            "ProxyConfig",
            json!({"selector": {"matchLabels": {"a": "*"}}}),
            &["spec.selector.matchLabels.a"],
        );
    }
}
