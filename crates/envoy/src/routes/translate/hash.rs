//! What of a request chooses its host, from a DestinationRule's `consistentHash`.

use crate::message::duration;
use mizzen_proto::{
    envoy::config::route::v3::route_action::{
        HashPolicy,
        hash_policy::{
            ConnectionProperties, Cookie, CookieAttribute, Header, PolicySpecifier, QueryParameter,
        },
    },
    istio::networking::v1alpha3::{
        Destination, DestinationRule, LoadBalancerSettings, TrafficPolicy,
        load_balancer_settings::{ConsistentHashLb, LbPolicy, consistent_hash_lb::HashKey},
    },
};

/// Whether any destination under the rule may be hashed.
pub(in crate::routes) fn has_hash(rule: &DestinationRule) -> bool {
    let in_policy = |policy: &TrafficPolicy| {
        of_balancer(policy.load_balancer.as_ref()).is_some()
            || policy
                .port_level_settings
                .iter()
                .any(|port| of_balancer(port.load_balancer.as_ref()).is_some())
    };
    let subsets = rule.subsets.iter().filter_map(|subset| subset.traffic_policy.as_ref());
    rule.traffic_policy.iter().chain(subsets).any(in_policy)
}

/// For requests to a service's port that no VirtualService routes.
pub(in crate::routes) fn of_service(rule: &DestinationRule, port: u32) -> Option<HashPolicy> {
    let policy = rule.traffic_policy.as_ref()?;
    of_port(policy, Some(port)).or_else(|| of_balancer(policy.load_balancer.as_ref())).and_then(specifier)
}

/// For a destination of a VirtualService. The outer value says whether there is a hash at all: one without a key has no
/// policy and yet ties requests to hosts.
pub(in crate::routes) fn of_destination(
    rule: &DestinationRule,
    destination: &Destination,
) -> Option<Option<HashPolicy>> {
    let port = destination.port.map(|port| port.number);
    let whole = rule.traffic_policy.as_ref();
    let subset = rule.subsets.iter().find(|subset| subset.name == destination.subset);
    let subset = subset.and_then(|subset| subset.traffic_policy.as_ref());
    let balancer = |policy: &TrafficPolicy| of_balancer(policy.load_balancer.as_ref()).cloned();
    let hash = subset
        .and_then(|policy| of_port(policy, port).cloned())
        .or_else(|| subset.and_then(balancer))
        .or_else(|| whole.and_then(|policy| of_port(policy, port).cloned()))
        .or_else(|| whole.and_then(balancer))?;
    Some(specifier(&hash))
}

fn of_balancer(balancer: Option<&LoadBalancerSettings>) -> Option<&ConsistentHashLb> {
    match balancer?.lb_policy.as_ref()? {
        LbPolicy::ConsistentHash(hash) => Some(hash),
        LbPolicy::Simple(_) => None,
    }
}

fn of_port(policy: &TrafficPolicy, port: Option<u32>) -> Option<&ConsistentHashLb> {
    let port = port?;
    let of = |settings: &Option<mizzen_proto::istio::networking::v1alpha3::PortSelector>| {
        settings.map_or(0, |port| port.number)
    };
    let settings = policy.port_level_settings.iter().find(|settings| of(&settings.port) == port)?;
    of_balancer(settings.load_balancer.as_ref())
}

fn specifier(hash: &ConsistentHashLb) -> Option<HashPolicy> {
    let specifier = match hash.hash_key.as_ref()? {
        HashKey::HttpHeaderName(name) => {
            PolicySpecifier::Header(Header { header_name: name.clone(), ..Header::default() })
        }
        HashKey::HttpCookie(cookie) => PolicySpecifier::Cookie(Cookie {
            name: cookie.name.clone(),
            ttl: cookie.ttl.and_then(duration),
            path: cookie.path.clone(),
            attributes: cookie
                .attributes
                .iter()
                .map(|attribute| CookieAttribute {
                    name: attribute.name.clone(),
                    value: attribute.value.clone(),
                })
                .collect(),
        }),
        HashKey::UseSourceIp(source_ip) => {
            PolicySpecifier::ConnectionProperties(ConnectionProperties { source_ip: *source_ip })
        }
        HashKey::HttpQueryParameterName(name) => {
            PolicySpecifier::QueryParameter(QueryParameter { name: name.clone() })
        }
    };
    Some(HashPolicy { policy_specifier: Some(specifier), ..HashPolicy::default() })
}

#[cfg(test)]
mod tests {
    use super::{HashPolicy, has_hash, of_destination, of_service};
    use mizzen_proto::{
        envoy::config::route::v3::route_action::hash_policy::PolicySpecifier,
        istio::networking::v1alpha3::DestinationRule,
    };
    use serde_json::{Value, json};

    fn rule() -> DestinationRule {
        let by = |name: &str| json!({"consistentHash": {"httpHeaderName": name}});
        let ports = |name: &str| json!([{"port": {"number": 80}, "loadBalancer": by(name)}]);
        serde_json::from_value(json!({
            "host": "a",
            "trafficPolicy": {"loadBalancer": by("whole"), "portLevelSettings": ports("port")},
            "subsets": [
                {"name": "v1", "trafficPolicy": {"loadBalancer": by("v1"), "portLevelSettings": ports("v1-port")}},
                {"name": "v2"},
            ],
        }))
        .unwrap()
    }

    fn header(policy: Option<HashPolicy>) -> String {
        match policy.and_then(|policy| policy.policy_specifier) {
            Some(PolicySpecifier::Header(header)) => header.header_name,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_nearest_setting_holds() {
        for (destination, name) in [
            (json!({"host": "a"}), "whole"),
            (json!({"host": "a", "port": {"number": 80}}), "port"),
            (json!({"host": "a", "port": {"number": 81}}), "whole"),
            (json!({"host": "a", "subset": "v1"}), "v1"),
            (json!({"host": "a", "subset": "v1", "port": {"number": 80}}), "v1-port"),
            (json!({"host": "a", "subset": "v2", "port": {"number": 80}}), "port"),
            (json!({"host": "a", "subset": "v3"}), "whole"),
        ] {
            let read = serde_json::from_value(destination.clone()).unwrap();
            assert_eq!(header(of_destination(&rule(), &read).unwrap()), name, "{destination}");
        }
        assert_eq!(header(of_service(&rule(), 80)), "port");
        assert_eq!(header(of_service(&rule(), 81)), "whole");
    }

    #[test]
    fn a_rule_without_a_hash_is_known_as_such() {
        let ask = |value: Value| has_hash(&serde_json::from_value(value).unwrap());
        assert!(has_hash(&rule()));
        assert!(!ask(json!({"host": "a", "trafficPolicy": {"loadBalancer": {"simple": "RANDOM"}}})));
        assert!(ask(
            json!({"subsets": [{"name": "v", "trafficPolicy": {"loadBalancer": {"consistentHash": {"useSourceIp": true}}}}]})
        ));
    }
}
