use super::{World, istio, names, proxy, service, sidecar, virtual_service};
use serde_json::json;

#[test]
fn names_that_mean_nothing_have_an_answer() {
    let mut world = World::new(&service("a", "ns", "10.1.0.1", &[("http", 80)]));
    for name in [
        "",
        ":",
        "::",
        "a:",
        ":80",
        "a:b:80",
        "x",
        "-1",
        "0",
        "99999999999999999999",
        "65536",
        "unix://",
        "a:99999999999",
        "é",
    ] {
        for kind in ["sidecar", "router"] {
            let seen = world.ask(&proxy(kind, "ns", &json!({})), name);
            assert_eq!(seen.name, name);
        }
    }
    let empty = world.memo.routes.configurations.len();
    for port in 1000..1100 {
        assert_eq!(names(&world.ask(&sidecar("ns"), &port.to_string())), ["allow_any"]);
    }
    world.memo.sweep();
    assert!(world.memo.routes.configurations.len() <= empty, "names that nobody has any more are forgotten");
}

#[test]
fn objects_that_nobody_checked_do_no_harm() {
    let odd = json!({"hosts": ["a", "", "*", "*.", "É.com", "a"], "http": [
        {},
        {"match": [{}, {"headers": {"": {}}, "queryParams": {"": {}}, "uri": {}}]},
        {"route": [{}, {"weight": -1}, {"weight": 2147483647}]},
        {"route": [{"destination": {"host": "", "port": {"number": 4294967295u32}}}]},
        {"mirrors": [{}, {"destination": {"host": "x"}, "percentage": {"value": -5.0}}], "mirror": {}, "mirrorPercent": 4294967295u32},
        {"redirect": {"redirectCode": 7}, "directResponse": {"status": 99999}},
        {"fault": {"delay": {}, "abort": {}}, "corsPolicy": {}, "retries": {"attempts": -7, "retryOn": ",,,"}},
        {"timeout": "-5s", "rewrite": {"uriRegexRewrite": {}}, "headers": {"request": {"set": {"": ""}}}},
    ]});
    // Each route of its own, because one for everything ends the list.
    let mut objects = service("a", "ns", "10.1.0.1", &[("http", 80)]);
    for (number, route) in odd["http"].as_array().unwrap().iter().enumerate() {
        let spec = json!({"hosts": odd["hosts"], "http": [route]});
        objects += &virtual_service(&format!("v{number}"), "ns", &spec);
        let host = format!("only{number}.com");
        objects += &virtual_service(&format!("w{number}"), "ns", &json!({"hosts": [host], "http": [route]}));
    }
    objects += &istio(
        "Gateway",
        "g",
        "ns",
        &json!({"selector": {}, "servers": [{}, {"port": {}}, {"hosts": ["a/b/c", "/"]}]}),
    );
    let mut world = World::new(&objects);
    for name in ["80", "0", "a.ns.svc.cluster.local:80", "http_proxy", "http.0", "http.80"] {
        for kind in ["sidecar", "router"] {
            assert_eq!(world.ask(&proxy(kind, "ns", &json!({})), name).name, name);
        }
    }
    let seen = world.ask(&sidecar("ns"), "80");
    let mut domains: Vec<&String> = seen.virtual_hosts.iter().flat_map(|host| &host.domains).collect();
    let all = domains.len();
    domains.sort();
    domains.dedup();
    assert_eq!(all, domains.len(), "Envoy refuses a domain that stands twice: {domains:?}");
}
