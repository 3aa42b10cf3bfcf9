use crate::mesh::{Mesh, object, proxy};
use mizzen_mesh::config::Merged;
use serde_json::json;

fn gateway(name: &str, day: u32, servers: &str) -> String {
    object("Gateway", "in", name, day, &format!("{{selector: {{istio: ingress}}, servers: [{servers}]}}"))
}

fn merged(objects: &str) -> Merged {
    let snapshot = Mesh::new(objects).snapshot();
    snapshot.gateways.for_router(&proxy(&snapshot, "router", "in", &json!({"istio": "ingress"})))
}

/// `port bind route: gateway hosts; …`
fn text(merged: &Merged) -> Vec<String> {
    let server = |server: &std::sync::Arc<mizzen_mesh::config::Server>| {
        format!("{} {}", server.gateway.name, server.spec.hosts.join(" "))
    };
    let listened = |listened: &mizzen_mesh::config::Listened| {
        let servers: Vec<String> = listened.servers.iter().map(server).collect();
        let at = format!("{} {} {}", listened.port, listened.bind, listened.route_name).replace("  ", " ");
        format!("{}: {}", at.trim_end(), servers.join("; "))
    };
    merged.ports.iter().map(listened).collect()
}

#[test]
fn plain_http_servers_of_one_port_become_one_listener() {
    let http = |port: u32, hosts: &str| {
        format!("{{port: {{number: {port}, name: http, protocol: HTTP}}, hosts: {hosts}}}")
    };
    let merged = merged(
        &(gateway("young", 9, &http(80, "[b.com]"))
            + &gateway("old", 1, &(http(80, "[./a.com, x/c.com, '*/d.com']") + ", " + &http(81, "[a.com]")))
            + &object("Gateway", "in", "other", 1, "{selector: {istio: egress}, servers: []}")
            + &gateway("all", 2, &http(82, "[a.com, '*/*']"))),
    );
    assert_eq!(
        text(&merged),
        ["80 http.80: old in/a.com x/c.com d.com; young b.com", "81 http.81: old a.com", "82 http.82: all *"]
    );
    let routes: Vec<(&str, usize)> =
        merged.by_route.iter().map(|(name, servers)| (&**name, servers.len())).collect();
    assert_eq!(routes, [("http.80", 2), ("http.81", 1), ("http.82", 1)]);
}

#[test]
fn a_server_that_cannot_share_its_port_is_left_out() {
    let server = |protocol: &str, more: &str| {
        format!("{{port: {{number: 80, name: p, protocol: {protocol}}}, hosts: ['*'], {more}}}")
    };
    for (first, second, found) in [
        (("HTTP", ""), ("TCP", ""), &["80 http.80: first *"][..]),
        (("TCP", ""), ("HTTP", ""), &["80: first *"]),
        (("TCP", ""), ("TCP", ""), &["80: first *"]),
        (("HTTP", ""), ("GRPC", ""), &["80 http.80: first *; second *"]),
        (("HTTP", ""), ("TCP", "bind: 1.1.1.1"), &["80 http.80: first *", "80 1.1.1.1: second *"]),
        (
            ("HTTP", ""),
            ("HTTP", "bind: 1.1.1.1"),
            &["80 http.80: first *", "80 1.1.1.1 http.80.1.1.1.1: second *"],
        ),
        (
            ("HTTPS", "tls: {mode: SIMPLE}"),
            ("HTTPS", "tls: {mode: SIMPLE}"),
            &["80 https.80.p.first.in: first *"],
        ),
        (("TLS", "tls: {mode: PASSTHROUGH}"), ("HTTP", ""), &["80: first *", "80 http.80: second *"]),
    ] {
        let merged = merged(
            &(gateway("first", 1, &server(first.0, first.1))
                + &gateway("second", 2, &server(second.0, second.1))),
        );
        assert_eq!(text(&merged), found, "{first:?} {second:?}");
    }
}

#[test]
fn tls_servers_share_a_port_by_name() {
    let https = |host: &str| {
        format!(
            "{{port: {{number: 443, name: {host}, protocol: HTTPS}}, hosts: [x/{host}.com], tls: {{mode: SIMPLE}}}}"
        )
    };
    let merged = merged(&gateway("g", 1, &(https("a") + ", " + &https("b"))));
    assert_eq!(text(&merged), ["443 https.443.a.g.in: g x/a.com; g x/b.com"]);
    let names: Vec<&str> = merged.by_route.keys().map(String::as_str).collect();
    assert_eq!(names, ["https.443.a.g.in", "https.443.b.g.in"]);
    let server = &merged.ports[0].servers[1];
    assert_eq!(server.sni_hosts().into_iter().collect::<Vec<_>>(), ["b.com"]);
    assert_eq!(server.route_name(8443), "https.443.b.g.in");
}

#[test]
fn a_port_of_the_routers_service_is_where_its_workload_listens() {
    let router = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: proxy, namespace: in, labels: {istio: ingress}}\n\
        status: {phase: Running, podIP: 10.9.9.9, podIPs: [{ip: 10.9.9.9}]}\n";
    let service = |labels: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: ingress, namespace: in, labels: {labels}}}\n\
         spec: {{clusterIP: 10.0.0.1, selector: {{istio: ingress}}, ports: [{{name: http, port: 80, targetPort: 8080}}]}}\n"
        )
    };
    let servers = "{port: {number: 80, name: a, protocol: HTTP}, hosts: ['*']}, {port: {number: 8081, name: b, protocol: HTTP}, hosts: ['*']}";
    let objects = |labels: &str| router.to_owned() + &service(labels) + &gateway("g", 1, servers);
    assert_eq!(text(&merged(&objects("{}"))), ["8080 http.8080: g *", "8081 http.8081: g *"]);
    let off = "{experimental.istio.io/disable-gateway-port-translation: 'true'}";
    assert_eq!(text(&merged(&objects(off))), ["80 http.80: g *", "8081 http.8081: g *"]);
}

#[test]
fn a_server_without_a_port_is_told() {
    let mut mesh = Mesh::new(&gateway("g", 1, "{hosts: ['*']}"));
    assert_eq!(mesh.problems(), ["Gateway in/g: a server without a port is left out"]);
}
