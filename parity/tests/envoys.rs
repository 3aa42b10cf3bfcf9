//! Whether an Envoy has what was sent to it: the comparison sees what it must see.

#![allow(clippy::unwrap_used, reason = "tests")]

use mizzen_parity::envoys::{Fault, Sent, Taken};
use mizzen_testkit::{envoy::Stats, proxy::Kind};
use serde_json::{Value, json};

const CART: &str = "outbound|80||cart";

fn sent() -> Sent {
    let one = |kind, name: &str, mark: &str| (kind, [(name.to_owned(), mark.to_owned())].into());
    Sent(
        [
            one(Kind::Clusters, CART, "c1"),
            one(Kind::Endpoints, CART, "2 endpoints"),
            one(Kind::Listeners, "virtualOutbound", "l1"),
            one(Kind::Routes, "80", "r1"),
        ]
        .into(),
    )
}

/// An Envoy that has just that, as it shows it.
fn dump() -> Value {
    let endpoints = |name: &str, of: usize| {
        json!({ "endpoint_config": { "cluster_name": name,
            "endpoints": [{ "lb_endpoints": [{}] }, { "lb_endpoints": vec![json!({}); of] }] } })
    };
    json!({ "configs": [
        { "static_clusters": [{ "cluster": { "name": "xds-grpc" } }],
          "dynamic_active_clusters": [{ "version_info": "c1", "cluster": { "name": CART, "type": "EDS" } }] },
        { "dynamic_endpoint_configs": [endpoints(CART, 1), endpoints("PassthroughCluster", 0)] },
        { "dynamic_listeners": [
            { "name": "virtualOutbound", "active_state": { "version_info": "l1" } },
            { "name": "10.0.0.1_80", "draining_state": { "version_info": "l0" } }] },
        { "dynamic_route_configs": [{ "version_info": "r1", "route_config": { "name": "80" } }] },
    ] })
}

fn stats(all: &[(&str, u64)]) -> Stats {
    all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn faults(dump: &Value, all: &[(&str, u64)]) -> Vec<Fault> {
    Taken::new(dump, &stats(all)).faults(&sent())
}

#[test]
fn an_envoy_that_has_what_was_sent_has_no_fault() {
    let quiet = [("cluster_manager.cds.update_rejected", 0), ("cluster_manager.cds.update_success", 3)];
    assert_eq!(faults(&dump(), &quiet), []);
    let taken = Taken::new(&dump(), &Stats::default());
    assert_eq!(Kind::ALL.map(|kind| taken.count(kind)), [1, 1, 1, 1]);
    assert_eq!(Kind::ALL.map(|kind| sent().count(kind)), [1, 1, 1, 1]);
}

#[test]
fn a_resource_that_is_missing_is_seen_whatever_its_kind() {
    for (kind, section, list, name) in [
        (Kind::Endpoints, 1, "dynamic_endpoint_configs", CART),
        (Kind::Listeners, 2, "dynamic_listeners", "virtualOutbound"),
        (Kind::Routes, 3, "dynamic_route_configs", "80"),
    ] {
        let mut dump = dump();
        dump["configs"][section][list].as_array_mut().unwrap().remove(0);
        assert_eq!(faults(&dump, &[]), [Fault::Missing(kind, name.to_owned())]);
    }
    let mut dump = dump();
    dump["configs"][0] = json!({});
    // Without its cluster nobody has asked for the endpoints.
    let gone = [Kind::Clusters, Kind::Endpoints].map(|kind| Fault::Missing(kind, CART.to_owned()));
    assert_eq!(faults(&dump, &[]), gone);
}

#[test]
fn a_resource_that_nobody_sent_is_seen_whatever_its_kind() {
    let extra = |kind, name: &str| [Fault::Extra(kind, name.to_owned())];
    for (section, list, entry, fault) in [
        (
            0,
            "dynamic_active_clusters",
            json!({ "cluster": { "name": "left" } }),
            extra(Kind::Clusters, "left"),
        ),
        (
            2,
            "dynamic_listeners",
            json!({ "name": "left", "active_state": {} }),
            extra(Kind::Listeners, "left"),
        ),
        (
            3,
            "dynamic_route_configs",
            json!({ "route_config": { "name": "left" } }),
            extra(Kind::Routes, "left"),
        ),
    ] {
        let mut dump = dump();
        dump["configs"][section][list].as_array_mut().unwrap().push(entry);
        assert_eq!(faults(&dump, &[]), fault);
    }
}

#[test]
fn another_version_and_another_number_of_endpoints_are_seen() {
    for (path, kind, name, mark, other) in [
        ("/configs/0/dynamic_active_clusters/0/version_info", Kind::Clusters, CART, "c1", json!("c0")),
        (
            "/configs/2/dynamic_listeners/0/active_state/version_info",
            Kind::Listeners,
            "virtualOutbound",
            "l1",
            json!("l0"),
        ),
        ("/configs/3/dynamic_route_configs/0/version_info", Kind::Routes, "80", "r1", json!("r0")),
    ] {
        let mut dump = dump();
        *dump.pointer_mut(path).unwrap() = other.clone();
        let taken = other.as_str().unwrap().to_owned();
        let fault = Fault::Other { kind, name: name.to_owned(), sent: mark.to_owned(), taken };
        assert_eq!(faults(&dump, &[]), [fault]);
    }
    let mut dump = dump();
    dump["configs"][1]["dynamic_endpoint_configs"][0]["endpoint_config"]["endpoints"] = json!([]);
    let seen: Vec<String> = faults(&dump, &[]).iter().map(Fault::to_string).collect();
    assert_eq!(seen, ["endpoints: outbound|80||cart in use is 0 endpoints, sent was 2 endpoints"]);
}

#[test]
fn what_is_warming_is_seen_also_where_an_older_one_is_in_use() {
    let waiting = |what: &str| [Fault::Waiting(what.to_owned())];
    let mut warming = dump();
    warming["configs"][0]["dynamic_warming_clusters"] = json!([{ "cluster": { "name": CART } }]);
    assert_eq!(faults(&warming, &[]), waiting("cluster outbound|80||cart"));
    let mut warming = dump();
    warming["configs"][2]["dynamic_listeners"][0]["warming_state"] = json!({ "version_info": "l2" });
    assert_eq!(faults(&warming, &[]), waiting("listener virtualOutbound"));
    let mut warming = dump();
    warming["configs"][3]["dynamic_warming_secrets"] = json!([{ "name": "ROOTCA" }]);
    assert_eq!(faults(&warming, &[]), waiting("secret ROOTCA"));
    let gauge = "listener_manager.total_listeners_warming";
    assert_eq!(faults(&dump(), &[(gauge, 1)]), waiting("listener_manager.total_listeners_warming is 1"));
}

#[test]
fn what_was_refused_is_seen_also_where_everything_is_in_use() {
    let refused = |what: &str| [Fault::Refused(what.to_owned())];
    for counter in [
        "cluster_manager.cds.update_rejected",
        "listener_manager.lds.update_rejected",
        "http.outbound_0.0.0.0_80;.rds.80.update_rejected",
        "cluster.outbound|80||cart;.update_rejected",
        "sds.ROOTCA.update_rejected",
        "listener_manager.listener_create_failure",
    ] {
        assert_eq!(faults(&dump(), &[(counter, 1)]), refused(&format!("{counter} is 1")));
    }
    let mut failed = dump();
    failed["configs"][2]["dynamic_listeners"][0]["error_state"] = json!({ "details": "no such filter" });
    assert_eq!(faults(&failed, &[]), refused("listener virtualOutbound: no such filter"));
    let mut twice = dump();
    let routes = twice["configs"][3]["dynamic_route_configs"].as_array_mut().unwrap();
    routes.push(routes[0].clone());
    assert_eq!(faults(&twice, &[]), refused("routes: 80 is there twice"));
}
