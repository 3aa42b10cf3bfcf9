//! Whether an Envoy has what was sent to it: the comparison sees what it must see.

#![allow(clippy::unwrap_used, reason = "tests")]

use mizzen_parity::envoys::{Fault, Sent, Taken};
use mizzen_testkit::{envoy::Stats, proxy::Kind};
use serde_json::{Value, json};

const CART: &str = "outbound|80||cart";

fn sent() -> Sent {
    let one = |kind, name: &str, message| (kind, [(name.to_owned(), message)].into());
    Sent(
        [
            one(Kind::Clusters, CART, json!({ "name": CART, "type": "EDS", "connectTimeout": "10s" })),
            one(Kind::Endpoints, CART, json!(2)),
            one(
                Kind::Listeners,
                "virtualOutbound",
                json!({ "name": "virtualOutbound", "statPrefix": "out" }),
            ),
            one(Kind::Routes, "80", json!({ "name": "80", "maxDirectResponseBodySizeBytes": 1048576 })),
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
    let cluster = json!({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "name": CART, "type": "EDS", "connect_timeout": "10s" });
    json!({ "configs": [
        { "static_clusters": [{ "cluster": { "name": "xds-grpc" } }],
          "dynamic_active_clusters": [{ "version_info": "1", "cluster": cluster }] },
        { "dynamic_endpoint_configs": [endpoints(CART, 1), endpoints("PassthroughCluster", 0)] },
        { "dynamic_listeners": [
            { "name": "virtualOutbound",
              "active_state": { "listener": { "name": "virtualOutbound", "stat_prefix": "out" } } },
            { "name": "10.0.0.1_80", "draining_state": { "listener": { "name": "10.0.0.1_80" } } }] },
        { "dynamic_route_configs": [
            { "route_config": { "name": "80", "max_direct_response_body_size_bytes": 1048576 } }] },
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
    let left = || json!({ "name": "left" });
    for (section, list, entry, kind) in [
        (0, "dynamic_active_clusters", json!({ "cluster": left() }), Kind::Clusters),
        (
            2,
            "dynamic_listeners",
            json!({ "name": "left", "active_state": { "listener": left() } }),
            Kind::Listeners,
        ),
        (3, "dynamic_route_configs", json!({ "route_config": left() }), Kind::Routes),
    ] {
        let mut dump = dump();
        dump["configs"][section][list].as_array_mut().unwrap().push(entry);
        assert_eq!(faults(&dump, &[]), [Fault::Extra(kind, "left".to_owned())]);
    }
}

#[test]
fn another_content_is_seen_whatever_the_kind() {
    for (path, other, told) in [
        (
            "/configs/0/dynamic_active_clusters/0/cluster/connect_timeout",
            json!("1s"),
            r#"clusters: outbound|80||cart in use is another: .connectTimeout is "1s", sent was "10s""#,
        ),
        (
            "/configs/1/dynamic_endpoint_configs/0/endpoint_config/endpoints",
            json!([]),
            "endpoints: outbound|80||cart in use is another:  is 0, sent was 2",
        ),
        (
            "/configs/2/dynamic_listeners/0/active_state/listener/stat_prefix",
            json!(""),
            r#"listeners: virtualOutbound in use is another: .statPrefix is null, sent was "out""#,
        ),
        (
            "/configs/3/dynamic_route_configs/0/route_config",
            json!({ "name": "80", "max_direct_response_body_size_bytes": 1048576, "virtual_hosts": [{ "name": "a" }] }),
            r#"routes: 80 in use is another: .virtualHosts is [{"name":"a"}], sent was null"#,
        ),
    ] {
        let mut dump = dump();
        *dump.pointer_mut(path).unwrap() = other;
        let seen: Vec<String> = faults(&dump, &[]).iter().map(Fault::to_string).collect();
        assert_eq!(seen, [told]);
    }
}

#[test]
fn what_cannot_be_read_in_a_dump_is_not_taken_for_equal() {
    let mut dump = dump();
    dump["configs"][0]["dynamic_active_clusters"][0]["cluster"]["newer_than_we_are"] = json!(true);
    let seen = faults(&dump, &[]);
    assert_eq!(seen.len(), 1);
    assert!(seen[0].to_string().contains("newer_than_we_are"), "{}", seen[0]);
}

#[test]
fn what_is_warming_is_seen_also_where_an_older_one_is_in_use() {
    let waiting = |what: &str| [Fault::Waiting(what.to_owned())];
    let mut warming = dump();
    warming["configs"][0]["dynamic_warming_clusters"] = json!([{ "cluster": { "name": CART } }]);
    assert_eq!(faults(&warming, &[]), waiting("cluster outbound|80||cart"));
    let mut warming = dump();
    warming["configs"][2]["dynamic_listeners"][0]["warming_state"] = json!({ "listener": {} });
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
