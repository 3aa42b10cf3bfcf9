//! When a request is tried again.

use crate::message::{any, duration, number};
use mizzen_proto::{
    envoy::{
        config::route::v3::{
            RetryPolicy,
            retry_policy::{
                RetryBackOff, RetryHostPredicate, RetryPriority, retry_host_predicate, retry_priority,
            },
        },
        extensions::retry::{
            host::previous_hosts::v3::PreviousHostsPredicate,
            priority::previous_priorities::v3::PreviousPrioritiesConfig,
        },
    },
    istio::networking::v1alpha3::HttpRetry,
};

const DEFAULT_ON: &str = "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";
const STATUS_CODES: &str = "retriable-status-codes";

/// `sticky`: requests of one caller go to one host, so a retry must not look for another.
pub(super) fn policy(retries: Option<&HttpRetry>, sticky: bool) -> Option<RetryPolicy> {
    let mut out = RetryPolicy {
        retry_on: DEFAULT_ON.into(),
        num_retries: Some(number(2)),
        host_selection_retry_max_attempts: 5,
        retry_host_predicate: if sticky { Vec::new() } else { vec![another_host()] },
        ..RetryPolicy::default()
    };
    let Some(retries) = retries else { return Some(out) };
    let attempts = u32::try_from(retries.attempts).ok().filter(|attempts| *attempts > 0)?;
    out.num_retries = Some(number(attempts));
    if !retries.retry_on.is_empty() {
        (out.retry_on, out.retriable_status_codes) = conditions(&retries.retry_on);
    }
    out.per_try_timeout = retries.per_try_timeout.and_then(duration);
    if let Some(another) = retries.retry_ignore_previous_hosts {
        out.retry_host_predicate = if another { vec![another_host()] } else { Vec::new() };
    }
    if retries.retry_remote_localities == Some(true) {
        out.retry_priority = Some(another_locality());
    }
    out.retry_back_off = retries
        .backoff
        .map(|backoff| RetryBackOff { base_interval: duration(backoff), ..RetryBackOff::default() });
    Some(out)
}

/// Envoy's conditions, and HTTP status codes among them.
fn conditions(text: &str) -> (String, Vec<u32>) {
    let (mut names, mut codes) = (Vec::new(), Vec::new());
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.parse().ok().filter(|code| is_status(*code)) {
            Some(code) => codes.push(code),
            None => names.push(part),
        }
    }
    let mut on = names.join(",");
    if !codes.is_empty() && !on.contains(STATUS_CODES) {
        on = format!("{on},{STATUS_CODES}");
    }
    (on, codes)
}

/// Whether HTTP gives the number a meaning; anything else is left for Envoy to refuse.
fn is_status(code: u32) -> bool {
    matches!(code,
        100..=103 | 200..=208 | 226 | 300..=305 | 307 | 308 | 400..=418 | 421..=426 | 428 | 429 | 431 | 451
        | 500..=508 | 510 | 511)
}

fn another_host() -> RetryHostPredicate {
    RetryHostPredicate {
        name: "envoy.retry_host_predicates.previous_hosts".into(),
        config_type: Some(retry_host_predicate::ConfigType::TypedConfig(any(&PreviousHostsPredicate {}))),
    }
}

fn another_locality() -> RetryPriority {
    RetryPriority {
        name: "envoy.retry_priorities.previous_priorities".into(),
        config_type: Some(retry_priority::ConfigType::TypedConfig(any(&PreviousPrioritiesConfig {
            update_frequency: 2,
        }))),
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_ON, conditions, policy};
    use mizzen_proto::istio::networking::v1alpha3::HttpRetry;
    use serde_json::json;

    #[test]
    fn status_codes_are_taken_out_of_the_conditions() {
        for (text, on, codes) in [
            ("5xx, reset ,,", "5xx,reset", vec![]),
            ("gateway-error,retriable-status-codes,503", "gateway-error,retriable-status-codes", vec![503]),
            ("gateway-error,503,429", "gateway-error,retriable-status-codes", vec![503, 429]),
            ("503", ",retriable-status-codes", vec![503]),
            ("599,-1,99999999999", "599,-1,99999999999", vec![]),
        ] {
            assert_eq!(conditions(text), (on.to_owned(), codes), "{text}");
        }
    }

    #[test]
    fn no_attempts_are_no_policy() {
        for attempts in [0, -3] {
            assert_eq!(policy(Some(&HttpRetry { attempts, ..HttpRetry::default() }), false), None);
        }
    }

    #[test]
    fn retries_look_for_another_host_unless_told_otherwise() {
        let ask = |retries: serde_json::Value, sticky| {
            let retries: Option<HttpRetry> = serde_json::from_value(retries).unwrap();
            policy(retries.as_ref(), sticky).unwrap()
        };
        for (retries, sticky, predicates) in [
            (json!(null), false, 1),
            (json!(null), true, 0),
            (json!({"attempts": 3}), false, 1),
            (json!({"attempts": 3}), true, 0),
            (json!({"attempts": 3, "retryIgnorePreviousHosts": true}), true, 1),
            (json!({"attempts": 3, "retryIgnorePreviousHosts": false}), false, 0),
        ] {
            let policy = ask(retries.clone(), sticky);
            assert_eq!(policy.retry_host_predicate.len(), predicates, "{retries} {sticky}");
            assert_eq!(policy.retry_on, DEFAULT_ON);
        }
        let all = ask(
            json!({"attempts": 3, "perTryTimeout": "1.5s", "backoff": "20ms", "retryRemoteLocalities": true}),
            false,
        );
        assert_eq!(all.num_retries.unwrap().value, 3);
        assert_eq!(all.per_try_timeout.unwrap().nanos, 500_000_000);
        assert_eq!(all.retry_back_off.unwrap().base_interval.unwrap().nanos, 20_000_000);
        assert!(all.retry_priority.is_some());
    }
}
