//! Which localities get how much, and in which order they stand in for each other. All of it is relative to the
//! client's own place.

use super::{
    Client,
    assignment::{Gathered, Group, weight},
    client::endpoint_value,
};
use crate::{
    message::number,
    policy::{Balance, Wishes},
};
use mizzen_mesh::{Endpoint, Locality};
use mizzen_proto::istio::networking::v1alpha3::locality_load_balancer_setting::Distribute;
use std::{collections::BTreeMap, sync::Arc};

pub(super) fn over(
    gathered: Vec<Gathered<'_>>,
    balance: &Balance<'_>,
    client: &Client,
    ejects: bool,
) -> Vec<Group> {
    match balance {
        Balance::Even => plain(gathered),
        Balance::Locality(wishes) => match (&client.locality, ejects || wishes.always) {
            (Some(own), _) if !wishes.distribute.is_empty() => distribute(gathered, own, wishes.distribute),
            (_, false) => plain(gathered),
            (own, true) => {
                let mut placed = by_labels(gathered, client, wishes);
                if let Some(own) = own {
                    rank(&mut placed, |locality| distance(own, locality, &wishes.failover));
                }
                finish(placed)
            }
        },
        Balance::ZoneAware { on: false, .. } => plain(gathered),
        Balance::ZoneAware { wishes, .. } => {
            let own = client.locality.clone().unwrap_or_default();
            let mut placed = by_labels(gathered, client, wishes);
            rank(&mut placed, |locality| region_distance(&own, locality, &wishes.failover));
            finish(placed)
        }
    }
}

struct Placed<'a> {
    locality: &'a Locality,
    group: Group,
    priority: u32,
}

fn plain(gathered: Vec<Gathered<'_>>) -> Vec<Group> {
    gathered.into_iter().map(|gathered| gathered.group).collect()
}

/// Splits each group by how many of the wanted labels its endpoints share with the client.
fn by_labels<'a>(gathered: Vec<Gathered<'a>>, client: &Client, wishes: &Wishes<'_>) -> Vec<Placed<'a>> {
    if wishes.priorities.is_empty() {
        let place = |gathered: Gathered<'a>| Placed {
            locality: gathered.locality,
            group: gathered.group,
            priority: 0,
        };
        return gathered.into_iter().map(place).collect();
    }
    let mut placed = Vec::new();
    for Gathered { locality, from, group } in gathered {
        let mut parts: BTreeMap<u32, Group> = BTreeMap::new();
        for (endpoint, message) in from.into_iter().zip(group.endpoints) {
            let priority = label_priority(endpoint, client, wishes);
            let part = parts
                .entry(priority)
                .or_insert_with(|| Group { locality: group.locality.clone(), ..Group::default() });
            part.endpoints.push(message);
        }
        for (priority, mut group) in parts {
            let sum =
                group.endpoints.iter().fold(0, |sum: u32, endpoint| sum.saturating_add(weight(endpoint)));
            group.load_balancing_weight = Some(number(sum));
            placed.push(Placed { locality, group, priority });
        }
    }
    compact(&mut placed);
    placed
}

/// The number of labels from the first one that differs on. Another network is further away than anything else, and the other labels still
/// count there.
fn label_priority(endpoint: &Arc<Endpoint>, client: &Client, wishes: &Wishes<'_>) -> u32 {
    let count = u32::try_from(wishes.priorities.len()).unwrap_or(u32::MAX);
    let mut further = 0;
    for (index, (label, own)) in wishes.priorities.iter().zip(&client.values).enumerate() {
        if endpoint_value(endpoint, label) == *own {
            continue;
        }
        if index == 0 && *label == crate::policy::NETWORK {
            further = count;
            continue;
        }
        let shared = u32::try_from(index).unwrap_or(u32::MAX);
        return (count - shared).saturating_add(further);
    }
    further
}

/// Orders by a distance within the order that is there already.
fn rank(placed: &mut [Placed<'_>], distance: impl Fn(&Locality) -> u32) {
    for place in placed.iter_mut() {
        // More than any distance.
        place.priority = place.priority.saturating_mul(5).saturating_add(distance(place.locality));
    }
    compact(placed);
}

/// Priorities must not have gaps.
fn compact(placed: &mut [Placed<'_>]) {
    let mut used: Vec<u32> = placed.iter().map(|place| place.priority).collect();
    used.sort_unstable();
    used.dedup();
    for place in placed {
        let rank = used.partition_point(|priority| *priority < place.priority);
        place.priority = u32::try_from(rank).unwrap_or(u32::MAX);
    }
}

fn finish(placed: Vec<Placed<'_>>) -> Vec<Group> {
    placed.into_iter().map(|place| Group { priority: place.priority, ..place.group }).collect()
}

/// 0: the same subzone, 1: zone, 2: region, 3: where the region fails over to (or any, if nothing is said), 4: elsewhere.
fn distance(own: &Locality, other: &Locality, failover: &[(&str, &str)]) -> u32 {
    if own.region == other.region {
        return match (own.zone == other.zone, own.subzone == other.subzone) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
    }
    match failover.iter().find(|(from, _)| *from == &*own.region) {
        Some((_, to)) if *to != &*other.region => 4,
        _ => 3,
    }
}

fn region_distance(own: &Locality, other: &Locality, failover: &[(&str, &str)]) -> u32 {
    if own.region == other.region {
        return 0;
    }
    match failover.iter().find(|(from, _)| *from == &*own.region) {
        Some((_, to)) if *to == &*other.region => 1,
        _ => 2,
    }
}

/// Gives localities the shares that are written for the client's; those without a share are left empty.
fn distribute(gathered: Vec<Gathered<'_>>, own: &Locality, shares: &[Distribute]) -> Vec<Group> {
    let Some(setting) = shares.iter().find(|setting| covers(&setting.from, own)) else {
        return plain(gathered);
    };
    let mut left: Vec<bool> = vec![true; gathered.len()];
    let mut groups: Vec<(&Locality, Group)> =
        gathered.into_iter().map(|one| (one.locality, one.group)).collect();
    for (pattern, share) in &setting.to {
        let chosen: Vec<usize> =
            (0..groups.len()).filter(|&index| left[index] && covers(pattern, groups[index].0)).collect();
        let weights =
            |group: &Group| group.load_balancing_weight.as_ref().map_or(1, |weight| u64::from(weight.value));
        let total: u64 = chosen.iter().map(|&index| weights(&groups[index].1)).sum();
        for index in chosen {
            left[index] = false;
            let group = &mut groups[index].1;
            let part = (weights(group) * u64::from(*share)).div_ceil(total.max(1));
            if part > 0 {
                group.load_balancing_weight = Some(number(u32::try_from(part).unwrap_or(u32::MAX)));
            }
        }
    }
    for ((_, group), left) in groups.iter_mut().zip(left) {
        if left {
            group.endpoints.clear();
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// `region/zone/subzone`, each `*` or missing for any.
fn covers(pattern: &str, locality: &Locality) -> bool {
    let mut parts = pattern.split('/');
    let region = parts.next().unwrap_or_default();
    let any = |part: Option<&str>, own: &str| matches!(part, None | Some("" | "*")) || part == Some(own);
    (region == "*" || region == &*locality.region)
        && any(parts.next(), &locality.zone)
        && any(parts.next(), &locality.subzone)
}

#[cfg(test)]
mod tests {
    use super::{Placed, compact, covers, distance, region_distance};
    use crate::endpoints::Group;
    use mizzen_mesh::Locality;

    #[test]
    fn nearer_localities_go_first() {
        let own = Locality::parse("r1/z1/s1");
        for (other, failover, expected) in [
            ("r1/z1/s1", &[][..], 0),
            ("r1/z1/s2", &[], 1),
            ("r1/z1", &[], 1),
            ("r1/z2/s1", &[], 2),
            ("r2/z1/s1", &[], 3),
            ("", &[], 3),
            ("r2/z1", &[("r1", "r2")], 3),
            ("r3/z1", &[("r1", "r2")], 4),
            ("r3/z1", &[("r2", "r1")], 3),
            // The first that is about the client's region counts.
            ("r3/z1", &[("r1", "r2"), ("r1", "r3")], 4),
        ] {
            assert_eq!(distance(&own, &Locality::parse(other), failover), expected, "{other} {failover:?}");
        }
    }

    #[test]
    fn zone_aware_routing_looks_at_regions_only() {
        let own = Locality::parse("r1/z1");
        for (other, expected) in [("r1/z9", 0), ("r2/z1", 1), ("r3/z1", 2)] {
            assert_eq!(region_distance(&own, &Locality::parse(other), &[("r1", "r2")]), expected, "{other}");
        }
    }

    #[test]
    fn a_pattern_covers_what_it_names_or_leaves_open() {
        for (pattern, locality, expected) in [
            ("*", "r1/z1/s1", true),
            ("r1", "r1/z1/s1", true),
            ("r1/*", "r1/z1", true),
            ("r1/z1/*", "r1/z1/s1", true),
            ("r1/z1/s1", "r1/z1/s1", true),
            ("r1/z1/s2", "r1/z1/s1", false),
            ("r1/z2", "r1/z1", false),
            ("r2", "r1", false),
            ("", "", true),
            ("*/z1", "r7/z1", true),
        ] {
            assert_eq!(covers(pattern, &Locality::parse(locality)), expected, "{pattern} {locality}");
        }
    }

    #[test]
    fn priorities_have_no_gaps() {
        let locality = Locality::default();
        let place = |priority| Placed { locality: &locality, group: Group::default(), priority };
        let mut placed = vec![place(9), place(2), place(9), place(4)];
        compact(&mut placed);
        assert_eq!(placed.iter().map(|place| place.priority).collect::<Vec<_>>(), [2, 0, 2, 1]);
    }
}
