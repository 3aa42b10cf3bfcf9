//! The comparison itself, on made-up dumps: no server needed.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use mizzen_parity::{
    Dump,
    compare::{Allowed, compare},
    proof::{places, plant},
};
use mizzen_testkit::proxy::{Configuration, Kind};
use serde_json::{Value, json};

fn dump(kinds: &[(Kind, Value)]) -> Dump {
    let kinds = kinds.iter().map(|(kind, messages)| {
        let messages = messages.as_object().unwrap().clone().into_iter().collect();
        (*kind, messages)
    });
    Dump(BTreeMap::from([("pod.default".to_owned(), Configuration(kinds.collect()))]))
}

fn sample() -> Dump {
    let endpoint = |address: &str, port: u32| json!({ "endpoint": { "address": { "socketAddress": { "address": address, "portValue": port } } } });
    dump(&[
        (
            Kind::Clusters,
            json!({
                "outbound|80||cart": {
                    "name": "outbound|80||cart", "type": "EDS", "connectTimeout": "10s", "respectDnsTtl": true,
                    "edsClusterConfig": { "edsConfig": { "ads": {} } },
                    "transportSocketMatches": [{ "name": "tls" }, { "name": "raw" }],
                },
            }),
        ),
        (
            Kind::Endpoints,
            json!({
                "outbound|80||cart": { "clusterName": "outbound|80||cart", "endpoints": [
                    { "lbEndpoints": [endpoint("10.0.0.1", 80), endpoint("10.0.0.2", 80)], "locality": { "zone": "b" } },
                    { "lbEndpoints": [endpoint("10.0.0.3", 80)], "locality": { "zone": "a" }, "priority": 1 },
                ] },
            }),
        ),
        (Kind::Listeners, json!({ "0.0.0.0_80": { "filterChains": [{ "filters": [] }] } })),
        (
            Kind::Routes,
            json!({
                "80": { "virtualHosts": [{ "name": "cart:80", "domains": ["cart", "cart.default"], "routes": [
                    { "match": { "prefix": "/", "queryParameters": [{ "name": "a" }, { "name": "b" }] } }] }] },
            }),
        ),
    ])
}

#[test]
fn a_dump_is_equal_to_itself() {
    let report = compare(&sample(), &sample(), &Allowed::default());
    assert!(report.equal());
    assert_eq!((report.theirs, report.ours), (places(&sample()), places(&sample())));
}

/// Every leaf, not one at random: a comparison that overlooks a single one is none.
#[test]
fn a_change_of_any_leaf_on_either_side_turns_it_red() {
    let good = sample();
    assert!(places(&good) > 20);
    for place in 0..places(&good) {
        let (changed, before) = plant(&good, place).unwrap();
        for (theirs, ours) in [(&good, &changed), (&changed, &good)] {
            let report = compare(theirs, ours, &Allowed::default());
            assert!(!report.equal(), "leaf {place}, which was {before}");
        }
    }
    assert!(plant(&good, places(&good)).is_none());
}

#[test]
fn what_one_side_does_not_have_is_a_difference() {
    let good = sample();
    let mut less = good.clone();
    less.0.get_mut("pod.default").unwrap().0.remove(&Kind::Routes);
    for (theirs, ours) in [(&good, &less), (&less, &good)] {
        let report = compare(theirs, ours, &Allowed::default());
        assert_eq!(report.different.len(), 6, "{:?}", report.different);
    }
    assert!(!compare(&good, &Dump::default(), &Allowed::default()).equal(), "a proxy that is not there");
    assert!(
        !compare(&Dump::default(), &good, &Allowed::default()).equal(),
        "a proxy that should not be there"
    );
}

#[test]
fn an_empty_message_is_not_the_same_as_none() {
    let with = dump(&[(Kind::Clusters, json!({ "a": { "name": "a", "http2": {} } }))]);
    let without = dump(&[(Kind::Clusters, json!({ "a": { "name": "a" } }))]);
    assert!(!compare(&with, &without, &Allowed::default()).equal());
    assert!(!compare(&without, &with, &Allowed::default()).equal());
}

#[test]
fn an_allowed_difference_excuses_these_two_values_and_no_others() {
    let with = |timeout: &str| {
        dump(&[(
            Kind::Clusters,
            json!({ "a": { "connectTimeout": timeout }, "b": { "connectTimeout": timeout } }),
        )])
    };
    let allowed =
        "- path: clusters[*].connectTimeout\n  istiod: 10s\n  ours: 5s\n  reason: ours is quicker\n";
    let allowed = Allowed::parse(allowed).unwrap();
    let report = compare(&with("10s"), &with("5s"), &allowed);
    assert!(report.equal());
    assert_eq!(report.excused, BTreeMap::from([(0, 2)]));
    assert!(!compare(&with("5s"), &with("10s"), &allowed).equal(), "the other way round");
    assert!(!compare(&with("10s"), &with("6s"), &allowed).equal(), "another value");
    assert!(compare(&with("10s"), &with("10s"), &allowed).excused.is_empty(), "nothing to excuse");
}

#[test]
fn a_missing_leaf_can_be_allowed_by_leaving_its_value_out() {
    let theirs = dump(&[(Kind::Clusters, json!({ "a": { "name": "a", "lrs": "x" } }))]);
    let ours = dump(&[(Kind::Clusters, json!({ "a": { "name": "a" } }))]);
    let allowed = Allowed::parse("- path: clusters[*].lrs\n  istiod: x\n  reason: not needed\n").unwrap();
    assert!(compare(&theirs, &ours, &allowed).equal());
    assert!(!compare(&ours, &theirs, &allowed).equal());
}
