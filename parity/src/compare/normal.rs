//! What is put in order before a comparison: only what Envoy treats as a set, and only what stands here.
//!
//! Clusters, listeners, routes and load assignments are kept by name and have no order to begin with. Virtual hosts, domains,
//! routes, filter chains, filters, weighted clusters and headers stay as they came.

use mizzen_testkit::proxy::Kind;
use serde_json::Value;

use crate::dump::Dump;

pub fn normal(dump: &Dump) -> Dump {
    let mut dump = dump.clone();
    for configuration in dump.0.values_mut() {
        for (kind, messages) in &mut configuration.0 {
            for message in messages.values_mut() {
                match kind {
                    Kind::Endpoints => assignment(message),
                    Kind::Clusters => message.get_mut("loadAssignment").into_iter().for_each(assignment),
                    Kind::Routes => conditions(message),
                    Kind::Listeners => {}
                }
            }
        }
    }
    dump
}

/// Groups of endpoints by their place and priority, endpoints by their address.
fn assignment(assignment: &mut Value) {
    let Some(groups) = assignment.get_mut("endpoints").and_then(Value::as_array_mut) else { return };
    for group in groups.iter_mut() {
        if let Some(endpoints) = group.get_mut("lbEndpoints").and_then(Value::as_array_mut) {
            sort_by(endpoints, |endpoint| endpoint["endpoint"]["address"].to_string());
        }
    }
    sort_by(groups, |group| {
        let first = &group["lbEndpoints"][0]["endpoint"]["address"];
        format!("{:>3} {} {first}", group["priority"].as_u64().unwrap_or_default(), group["locality"])
    });
}

/// Conditions on the query all have to hold; istiod has them in the order of a Go map, another one each time.
fn conditions(routes: &mut Value) {
    let hosts = routes.get_mut("virtualHosts").and_then(Value::as_array_mut);
    let routes =
        hosts.into_iter().flatten().filter_map(|host| host.get_mut("routes")?.as_array_mut()).flatten();
    for route in routes {
        let found = route.get_mut("match").and_then(|found| found.get_mut("queryParameters"));
        if let Some(parameters) = found.and_then(Value::as_array_mut) {
            sort_by(parameters, |parameter| parameter["name"].to_string());
        }
    }
}

fn sort_by(items: &mut [Value], key: impl Fn(&Value) -> String) {
    items.sort_by_cached_key(|item| key(item));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mizzen_testkit::proxy::{Configuration, Kind};
    use serde_json::{Value, json};

    use super::{Dump, normal};

    fn dump(kind: Kind, message: Value) -> Dump {
        let messages = BTreeMap::from([("x".to_owned(), message)]);
        Dump(BTreeMap::from([("pod".to_owned(), Configuration(BTreeMap::from([(kind, messages)])))]))
    }

    fn same(kind: Kind, a: Value, b: Value) -> bool {
        normal(&dump(kind, a)) == normal(&dump(kind, b))
    }

    fn endpoint(address: &str) -> Value {
        json!({ "endpoint": { "address": { "socketAddress": { "address": address } } } })
    }

    #[test]
    fn endpoints_and_their_groups_have_no_order() {
        let groups = |first: &[&str], second: &[&str]| {
            let group = |zone: &str, addresses: &[&str]| {
                let endpoints: Vec<Value> = addresses.iter().map(|address| endpoint(address)).collect();
                json!({ "locality": { "zone": zone }, "lbEndpoints": endpoints })
            };
            (group("a", first), group("b", second))
        };
        let (a, b) = groups(&["1.1.1.1", "1.1.1.2"], &["1.1.1.3"]);
        let (c, d) = groups(&["1.1.1.2", "1.1.1.1"], &["1.1.1.3"]);
        let one = json!({ "endpoints": [a, b] });
        let other = json!({ "endpoints": [d, c] });
        assert!(same(Kind::Endpoints, one.clone(), other.clone()));
        let (_, moved) = groups(&[], &["1.1.1.1"]);
        assert!(!same(Kind::Endpoints, one.clone(), json!({ "endpoints": [moved] })));
        assert!(same(Kind::Clusters, json!({ "loadAssignment": one }), json!({ "loadAssignment": other })));
    }

    #[test]
    fn conditions_on_the_query_have_no_order() {
        let routes = |names: [&str; 2]| {
            let parameters = names.map(|name| json!({ "name": name }));
            json!({ "virtualHosts": [{ "routes": [{ "match": { "queryParameters": parameters } }] }] })
        };
        assert!(same(Kind::Routes, routes(["a", "b"]), routes(["b", "a"])));
    }

    #[test]
    fn everything_else_keeps_its_order() {
        let pairs = [
            (Kind::Routes, "virtualHosts"),
            (Kind::Listeners, "filterChains"),
            (Kind::Listeners, "listenerFilters"),
            (Kind::Clusters, "transportSocketMatches"),
        ];
        for (kind, list) in pairs {
            assert!(
                !same(
                    kind,
                    json!({ list: [{ "name": "a" }, { "name": "b" }] }),
                    json!({ list: [{ "name": "b" }, { "name": "a" }] })
                ),
                "{list}"
            );
        }
        let hosts = |list: &str, items: Value| json!({ "virtualHosts": [{ list: items }] });
        for list in ["routes", "domains"] {
            assert!(
                !same(Kind::Routes, hosts(list, json!(["a", "b"])), hosts(list, json!(["b", "a"]))),
                "{list}"
            );
        }
    }

    #[test]
    fn looking_for_something_to_put_in_order_adds_nothing() {
        for kind in Kind::ALL {
            assert_eq!(normal(&dump(kind, json!({ "name": "x" }))), dump(kind, json!({ "name": "x" })));
        }
    }
}
