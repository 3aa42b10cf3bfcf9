//! When and how often a request is tried again.

use crate::{Findings, value::number::duration};
use mizzen_api::proto::istio::networking::v1alpha3::HttpRetry;
use mizzen_text::At;

/// What Envoy retries on, by HTTP and by gRPC.
const POLICIES: &[&str] = &[
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
    "connect-failure",
    "retriable-4xx",
    "refused-stream",
    "retriable-status-codes",
    "retriable-headers",
    "envoy-ratelimited",
    "http3-post-connect-failure",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
];

pub(super) fn check(retries: &HttpRetry, at: &At<'_>, found: &mut Findings) {
    if retries.attempts < 0 {
        found.error(&at.field("attempts"), "attempts cannot be negative");
    }
    if retries.attempts == 0
        && (retries.per_try_timeout.is_some()
            || !retries.retry_on.is_empty()
            || retries.retry_remote_localities.is_some())
    {
        found.error(
            &at.field("attempts"),
            "http retry policy configured when attempts are set to 0 (disabled)",
        );
    }
    for (field, length) in [("perTryTimeout", &retries.per_try_timeout), ("backoff", &retries.backoff)] {
        if let Some(length) = length {
            found.verdict(&at.field(field), duration(length));
        }
    }
    if !retries.retry_on.is_empty() {
        let at = at.field("retryOn");
        for policy in retries.retry_on.split(',').filter(|policy| !is_policy(policy)) {
            found.error(
                &at,
                format!(
                    "{policy:?} is not a valid retryOn policy: an HTTP status, or one of {}",
                    POLICIES.join(", ")
                ),
            );
        }
    }
}

fn is_policy(text: &str) -> bool {
    POLICIES.contains(&text) || text.parse().is_ok_and(is_status)
}

/// One that HTTP gives a name to.
fn is_status(number: u16) -> bool {
    matches!(number, 100..=103 | 200..=208 | 226 | 300..=305 | 307 | 308 | 400..=418 | 421..=426 | 428 | 429 | 431 | 451 | 500..=508 | 510 | 511)
}
