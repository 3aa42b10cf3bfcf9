use super::{World, clusters, host, istio, names, proxy, service, to, virtual_service};
use mizzen_proto::envoy::config::route::v3::virtual_host::TlsRequirementType;
use serde_json::{Value, json};

fn gateway(name: &str, servers: &Value) -> String {
    istio("Gateway", name, "ns", &json!({"selector": {"istio": "gate"}, "servers": servers}))
}

fn server(hosts: &Value) -> Value {
    json!({"port": {"number": 80, "name": "http", "protocol": "HTTP"}, "hosts": hosts})
}

fn ask(world: &mut World) -> mizzen_proto::envoy::config::route::v3::RouteConfiguration {
    world.ask(&proxy("router", "gates", &json!({"istio": "gate"})), "http.80")
}

fn bound(name: &str, hosts: &Value, target: &str) -> String {
    let spec = json!({"hosts": hosts, "gateways": ["g"], "http": [
        {"match": [{"uri": {"prefix": format!("/{name}")}}], "route": [{"destination": {"host": target}}]},
        {"route": [{"destination": {"host": format!("{target}-rest")}}]},
    ]});
    virtual_service(name, "ns", &spec)
}

#[test]
fn the_routes_of_all_virtual_services_of_a_host_are_there_and_catch_alls_last() {
    let objects = [
        gateway("g", &json!([server(&json!(["*.com"]))])),
        service("a", "ns", "10.1.0.1", &[("http", 8080)]),
        bound("v", &json!(["x.com", "y.com"]), "a"),
        bound("w", &json!(["x.com", "z.net"]), "b"),
    ];
    let seen = ask(&mut World::new(&objects.concat()));
    assert_eq!(names(&seen), ["x.com:80", "y.com:80"]);
    // The one port of a service is its own; that of an unknown one is the listener's.
    let (a, b) = (
        |name| format!("outbound|8080||{name}.ns.svc.cluster.local"),
        |name| format!("outbound|80||{name}.ns.svc.cluster.local"),
    );
    assert_eq!(clusters(host(&seen, "x.com:80")), [a("a"), b("b"), b("a-rest"), b("b-rest")]);
    assert_eq!(clusters(host(&seen, "y.com:80")), [a("a"), b("a-rest")]);
}

#[test]
fn hosts_with_the_same_routes_are_one_called_by_the_most_specific() {
    let objects = [
        gateway("g", &json!([server(&json!(["*"]))])),
        bound("v", &json!(["*.b.com", "a.com", "long.a.com"]), "a"),
    ];
    let seen = ask(&mut World::new(&objects.concat()));
    assert_eq!(names(&seen), ["long.a.com:80"]);
    assert_eq!(seen.virtual_hosts[0].domains, ["long.a.com", "a.com", "*.b.com"]);
}

#[test]
fn a_server_may_send_everybody_to_https() {
    let mut redirecting = server(&json!(["a.com", "b.com"]));
    redirecting["tls"] = json!({"httpsRedirect": true});
    let objects = [gateway("g", &json!([redirecting])), bound("v", &json!(["a.com"]), "a")];
    let seen = ask(&mut World::new(&objects.concat()));
    assert_eq!(names(&seen), ["a.com:80", "b.com:80"]);
    for host in &seen.virtual_hosts {
        assert_eq!(host.require_tls(), TlsRequirementType::All, "{}", host.name);
    }
    assert!(seen.virtual_hosts[1].routes.is_empty());
}

#[test]
fn a_server_without_routes_answers_that_there_is_nothing() {
    let mut world = World::new(&gateway("g", &json!([server(&json!(["a.com"]))])));
    let seen = ask(&mut world);
    assert_eq!(names(&seen), ["blackhole:80"]);
    assert_eq!(seen.virtual_hosts[0].domains, ["*"]);
    // A name that no server has gets an answer, too.
    let router = proxy("router", "gates", &json!({"istio": "gate"}));
    assert_eq!(names(&world.ask(&router, "http.81")), [""; 0]);
    assert_eq!(names(&world.ask(&proxy("router", "gates", &json!({})), "http.80")), [""; 0]);
}

#[test]
fn a_namespace_before_a_host_keeps_others_out() {
    let spec = json!({"hosts": ["a.com"], "gateways": ["ns/g"], "http": to("a")});
    let objects = [
        gateway("g", &json!([server(&json!(["./a.com", "*/b.com"]))])),
        virtual_service("v", "other", &spec),
    ];
    assert_eq!(names(&ask(&mut World::new(&objects.concat()))), ["blackhole:80"]);
}
