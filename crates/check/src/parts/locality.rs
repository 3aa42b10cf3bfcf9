//! Which places traffic prefers, and where it goes when they fail.

use crate::{Findings, value::Verdict};
use mizzen_api::proto::istio::networking::v1alpha3::{
    LocalityLoadBalancerSetting, ZoneAwareLoadBalancerSetting, locality_load_balancer_setting::Distribute,
};
use mizzen_text::At;
use std::collections::{BTreeMap, BTreeSet};

const TOPOLOGY: &[&str] =
    &["topology.kubernetes.io/region", "topology.kubernetes.io/zone", "topology.istio.io/subzone"];

pub(crate) fn check(setting: &LocalityLoadBalancerSetting, outlier: bool, at: &At<'_>, found: &mut Findings) {
    if !setting.distribute.is_empty() && !setting.failover.is_empty() {
        found.error(at, "can not simultaneously specify 'distribute' and 'failover'");
    }
    if !setting.failover.is_empty() {
        let at = at.field("failoverPriority");
        for (index, label) in topology(&setting.failover_priority) {
            found.error(
                &at.index(index),
                format!(
                    "can not simultaneously set 'failover' and topology label '{label}' in 'failoverPriority'"
                ),
            );
        }
    }
    let mut sources = Places::default();
    let list = at.field("distribute");
    for (index, distribute) in setting.distribute.iter().enumerate() {
        let at = list.index(index);
        destinations(distribute, &at, found);
        found.verdict(&at.field("from"), sources.add(&distribute.from));
    }
    if (!setting.failover.is_empty() || !setting.failover_priority.is_empty()) && !outlier {
        found.warning(at, "outlier detection policy must be provided for failover");
    }
    let list = at.field("failover");
    for (index, failover) in setting.failover.iter().enumerate() {
        regions("locality lb", &failover.from, &failover.to, &list.index(index), found);
    }
}

pub(crate) fn zone_aware(
    setting: &ZoneAwareLoadBalancerSetting,
    outlier: bool,
    at: &At<'_>,
    found: &mut Findings,
) {
    let list = at.field("failoverPriority");
    for (index, label) in topology(&setting.failover_priority) {
        found.error(
            &list.index(index),
            format!(
                "'failoverPriority' for zone aware lb must not use topology label '{label}'; region- and zone-level routing are handled automatically"
            ),
        );
    }
    if (!setting.failover.is_empty() || !setting.failover_priority.is_empty()) && !outlier {
        found.warning(at, "outlier detection policy must be provided for failover");
    }
    let list = at.field("failover");
    for (index, failover) in setting.failover.iter().enumerate() {
        regions("zone aware lb", &failover.from, &failover.to, &list.index(index), found);
    }
}

fn topology(labels: &[String]) -> impl Iterator<Item = (usize, &String)> {
    labels.iter().enumerate().filter(|(_, label)| TOPOLOGY.contains(&label.as_str()))
}

fn destinations(distribute: &Distribute, at: &At<'_>, found: &mut Findings) {
    let at = at.field("to");
    let mut total: u32 = 0;
    for (place, weight) in &distribute.to {
        if !(1..=100).contains(weight) {
            found.error(&at.field(place), format!("locality weight must be in range [1, 100], not {weight}"));
        }
        total = total.saturating_add(*weight);
    }
    if total != 100 {
        found.error(&at, format!("total locality weight {total} != 100"));
    }
    // A map has no order: with the wildcards first, what overlaps is found whichever way it was written.
    let mut names: Vec<_> = distribute.to.keys().collect();
    names.sort_by_key(|place| (!place.ends_with('*'), place.len()));
    let mut places = Places::default();
    for place in names {
        found.verdict(&at.field(place), places.add(place));
    }
}

fn regions(what: &str, from: &str, to: &str, at: &At<'_>, found: &mut Findings) {
    if from == to {
        found.error(&at.field("to"), format!("{what} failover settings must specify different regions"));
    }
    for (field, region) in [("from", from), ("to", to)] {
        if region.contains('/') {
            found.error(
                &at.field(field),
                format!("{what} failover only specifies a region, no zone: {region:?}"),
            );
        }
        if region.contains('*') {
            found.error(&at.field(field), format!("{what} failover region should not contain '*' wildcard"));
        }
    }
}

/// `region/zone/subzone` as they come, each of which may end with `*`; none may overlap with one before it.
#[derive(Default)]
struct Places<'a>(BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<&'a str>>>);

impl<'a> Places<'a> {
    fn add(&mut self, place: &'a str) -> Verdict {
        let wildcards = place.matches('*').count();
        if wildcards > 1 || (wildcards == 1 && !place.ends_with('*')) {
            return Err(format!(
                "locality {place} wildcard '*' number can not exceed 1 and must be in the end"
            ));
        }
        let mut parts = place.splitn(3, '/');
        let region = parts.next().unwrap_or_default();
        let (zone, subzone) = (parts.next(), parts.next());
        if region.is_empty() || zone == Some("") || subzone == Some("") {
            return Err(format!("locality {place} must not contain empty region/zone/subzone info"));
        }
        if self.overlaps(region, zone, subzone) {
            return Err(format!("locality {place} overlap with previous specified ones"));
        }
        let zones = self.0.entry(region).or_default();
        zones.entry(zone.unwrap_or("*")).or_default().insert(subzone.unwrap_or("*"));
        Ok(())
    }

    fn overlaps(&self, region: &str, zone: Option<&str>, subzone: Option<&str>) -> bool {
        if self.0.contains_key("*") {
            return true;
        }
        let Some(zones) = self.0.get(region) else { return false };
        let Some(zone) = zone else { return true };
        if zones.contains_key("*") {
            return true;
        }
        let Some(subzones) = zones.get(zone) else { return false };
        let Some(subzone) = subzone else { return true };
        subzones.contains("*") || subzones.contains(subzone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_must_not_overlap_with_those_before() {
        for (places, good) in [
            (&["a/b/c", "a/b/d", "b/*"][..], true),
            (&["a", "a/b"], false),
            (&["a/b", "a"], false),
            (&["a/*", "a/b"], false),
            (&["a/b/*", "a/b/c"], false),
            (&["a/b", "a/b/c"], false),
            (&["*", "a"], false),
            (&["a", "a"], false),
            // Istio sees what is covered by an earlier wildcard only.
            (&["a/b", "a/*"], true),
            (&["a/*/c"], false),
            (&["a//c"], false),
            (&[""], false),
        ] {
            let mut known = Places::default();
            assert_eq!(places.iter().all(|place| known.add(place).is_ok()), good, "{places:?}");
        }
    }
}
