//! How one endpoint is chosen among several.

use super::locality;
use crate::{Findings, value::number::duration};
use mizzen_api::proto::istio::networking::v1alpha3::{
    LoadBalancerSettings, OutlierDetection, WarmupConfiguration,
    load_balancer_settings::{
        ConsistentHashLb, LbPolicy,
        consistent_hash_lb::{HashAlgorithm, HashKey, HttpCookie, MagLev},
    },
};
use mizzen_text::At;
use std::collections::BTreeSet;

/// Envoy's tables are smaller.
const MAGLEV: u64 = 5_000_011;

pub(crate) fn check(
    settings: &LoadBalancerSettings,
    outlier: Option<&OutlierDetection>,
    at: &At<'_>,
    found: &mut Findings,
) {
    if let Some(LbPolicy::ConsistentHash(hash)) = &settings.lb_policy {
        consistent_hash(hash, &at.field("consistentHash"), found);
    }
    if settings.locality_lb_setting.is_some() && settings.zone_aware_lb_setting.is_some() {
        found.error(at, "only one of localityLbSetting and zoneAwareLbSetting can be set");
    }
    if let Some(setting) = &settings.locality_lb_setting {
        locality::check(setting, outlier.is_some(), &at.field("localityLbSetting"), found);
    }
    if let Some(setting) = &settings.zone_aware_lb_setting {
        locality::zone_aware(setting, outlier.is_some(), &at.field("zoneAwareLbSetting"), found);
    }
    if let Some(settings) = &settings.warmup {
        warmup(settings, &at.field("warmup"), found);
    }
}

fn consistent_hash(hash: &ConsistentHashLb, at: &At<'_>, found: &mut Findings) {
    if let Some(HashKey::HttpCookie(settings)) = &hash.hash_key {
        cookie(settings, &at.field("httpCookie"), found);
    }
    if hash.minimum_ring_size != 0 {
        let at = at.field("minimumRingSize");
        found.warning(&at, "consistent hash minimumRingSize is deprecated, use ringHash instead");
        if hash.hash_algorithm.is_some() {
            found.error(&at, "only one of minimumRingSize or maglev/ringHash can be specified");
        }
    }
    if let Some(HashAlgorithm::Maglev(settings)) = &hash.hash_algorithm {
        maglev(settings, &at.field("maglev"), found);
    }
}

fn cookie(cookie: &HttpCookie, at: &At<'_>, found: &mut Findings) {
    if cookie.name.is_empty() {
        found.error(&at.field("name"), "name required for httpCookie");
    }
    let at = at.field("attributes");
    let mut seen = BTreeSet::new();
    for (index, attribute) in cookie.attributes.iter().enumerate() {
        let at = at.index(index);
        if attribute.name.is_empty() {
            found.error(&at.field("name"), "cookie attribute name cannot be empty");
        } else if !seen.insert(&attribute.name) {
            found.error(&at.field("name"), format!("duplicate cookie attribute name: {}", attribute.name));
        }
    }
}

fn maglev(maglev: &MagLev, at: &At<'_>, found: &mut Findings) {
    let at = at.field("tableSize");
    if maglev.table_size == 0 {
        found.error(&at, "tableSize must be set for maglev, to a prime number");
    } else if maglev.table_size >= MAGLEV {
        // Whether it is prime would take long to find out and change nothing.
        found.error(&at, format!("tableSize must be less than {MAGLEV} for maglev"));
    } else if !is_prime(maglev.table_size) {
        found.error(&at, "tableSize must be a prime number for maglev");
    }
}

/// In Envoy's sense, to which 1 is one.
fn is_prime(number: u64) -> bool {
    let odd_divisors = (3..).step_by(2).take_while(|divisor| divisor * divisor <= number);
    matches!(number, 1..=3)
        || (!number.is_multiple_of(2)
            && odd_divisors.into_iter().all(|divisor| !number.is_multiple_of(divisor)))
}

fn warmup(warmup: &WarmupConfiguration, at: &At<'_>, found: &mut Findings) {
    match &warmup.duration {
        Some(length) => found.verdict(&at.field("duration"), duration(length)),
        None => found.error(&at.field("duration"), "duration is required for warmup"),
    }
    if warmup.minimum_percent.is_some_and(|percent| percent > 100.0) {
        found.error(&at.field("minimumPercent"), "minimumPercent value should be less than or equal to 100");
    }
    if warmup.aggression.is_some_and(|aggression| aggression <= 0.0) {
        found.error(&at.field("aggression"), "aggression should be greater than 0");
    }
}

#[cfg(test)]
mod tests {
    use super::is_prime;

    #[test]
    fn primes_are_envoy_s() {
        let primes: Vec<_> = (0..30).filter(|number| is_prime(*number)).collect();
        assert_eq!(primes, [1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        assert!(is_prime(65_537) && !is_prime(4_999_999 * 3));
    }
}
