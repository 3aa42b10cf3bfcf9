//! Which pages of other sites may call.

use super::{matching::string_matcher, percent};
use mizzen_proto::{
    envoy::{
        extensions::filters::http::cors::v3 as envoy,
        r#type::matcher::v3::{StringMatcher, string_matcher::MatchPattern},
    },
    google::protobuf::BoolValue,
    istio::networking::v1alpha3::{CorsPolicy, cors_policy::UnmatchedPreflights},
};

pub(in crate::routes) fn cors(policy: &CorsPolicy) -> envoy::CorsPolicy {
    let exact = |origin: &String| StringMatcher {
        match_pattern: Some(MatchPattern::Exact(origin.clone())),
        ..StringMatcher::default()
    };
    let origins = if policy.allow_origins.is_empty() {
        policy.allow_origin.iter().map(exact).collect()
    } else {
        policy.allow_origins.iter().filter_map(string_matcher).collect()
    };
    let forward = policy.unmatched_preflights() != UnmatchedPreflights::Ignore;
    envoy::CorsPolicy {
        allow_origin_string_match: origins,
        allow_methods: policy.allow_methods.join(","),
        allow_headers: policy.allow_headers.join(","),
        expose_headers: policy.expose_headers.join(","),
        max_age: policy.max_age.map(|age| age.seconds.to_string()).unwrap_or_default(),
        allow_credentials: policy.allow_credentials.map(|value| BoolValue { value }),
        filter_enabled: Some(percent::fixed(percent::whole(100))),
        forward_not_matching_preflights: Some(BoolValue { value: forward }),
        ..envoy::CorsPolicy::default()
    }
}

#[cfg(test)]
mod tests {
    use super::cors;
    use serde_json::json;

    #[test]
    fn the_old_list_of_origins_counts_if_there_is_no_new_one() {
        for (policy, origins) in [
            (json!({"allowOrigin": ["a", "b"]}), 2),
            (json!({"allowOrigin": ["a", "b"], "allowOrigins": [{"regex": ".*"}]}), 1),
            (json!({}), 0),
        ] {
            let out = cors(&serde_json::from_value(policy.clone()).unwrap());
            assert_eq!(out.allow_origin_string_match.len(), origins, "{policy}");
        }
    }

    #[test]
    fn lists_become_one_header_and_preflights_go_on_unless_ignored() {
        let policy =
            json!({"allowMethods": ["GET", "PUT"], "maxAge": "24h", "unmatchedPreflights": "IGNORE"});
        let out = cors(&serde_json::from_value(policy).unwrap());
        assert_eq!((out.allow_methods.as_str(), out.max_age.as_str()), ("GET,PUT", "86400"));
        assert!(!out.forward_not_matching_preflights.unwrap().value);
        assert!(
            cors(&serde_json::from_value(json!({})).unwrap()).forward_not_matching_preflights.unwrap().value
        );
    }
}
