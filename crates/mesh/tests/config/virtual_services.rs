use crate::mesh::{Mesh, http, l4, settings, virtual_service};
use mizzen_api::Kind;
use mizzen_mesh::{
    Snapshot,
    config::{Routed, VirtualService},
};
use prost::Message;
use std::sync::Arc;

fn names(snapshot: &Snapshot, namespace: &str) -> Vec<String> {
    let routed = http(snapshot, namespace);
    routed.list.iter().map(|service| format!("{}/{}", service.key.namespace, service.key.name)).collect()
}

fn only(mesh: &mut Mesh) -> Arc<VirtualService> {
    let routed: Arc<Routed<VirtualService>> = http(&mesh.snapshot(), "default");
    assert_eq!(routed.list.len(), 1, "{:?}", routed.list);
    Arc::clone(&routed.list[0])
}

#[test]
fn every_short_name_is_made_whole() {
    let mut mesh = Mesh::new(&virtual_service(
        "default",
        "a",
        1,
        "{hosts: [reviews, 'b.com', '*'], gateways: [mesh, in, ./own, other/out], http: [{match: [{gateways: [in]}],
          route: [{destination: {host: ratings}}], mirror: {host: mirror}, mirrors: [{destination: {host: many}}]}],
          tls: [{match: [{sniHosts: [x], gateways: [in]}], route: [{destination: {host: tls}}]}],
          tcp: [{match: [{gateways: [in]}], route: [{destination: {host: tcp}}]}]}",
    ));
    let service = only(&mut mesh);
    let whole = |name: &str| format!("{name}.default.svc.cluster.local");
    assert_eq!(service.spec.hosts, [whole("reviews"), "b.com".into(), "*".into()]);
    assert_eq!(service.gateways, ["mesh", "default/in", "default/own", "other/out"]);
    let http = &service.spec.http[0];
    assert_eq!(http.r#match[0].gateways, ["default/in"]);
    assert_eq!(http.route[0].destination.as_ref().unwrap().host, whole("ratings"));
    assert_eq!(http.mirror.as_ref().unwrap().host, whole("mirror"));
    assert_eq!(http.mirrors[0].destination.as_ref().unwrap().host, whole("many"));
    let part = service.l4.as_ref().unwrap();
    assert_eq!(part.hosts, service.spec.hosts);
    assert_eq!(part.tls[0].match_gateways(), ["default/in"]);
    assert_eq!(part.tls[0].route[0].destination.as_ref().unwrap().host, whole("tls"));
    assert_eq!(part.tcp[0].route[0].destination.as_ref().unwrap().host, whole("tcp"));
}

trait Gateways {
    fn match_gateways(&self) -> &[String];
}

impl Gateways for mizzen_api::proto::istio::networking::v1alpha3::TlsRoute {
    fn match_gateways(&self) -> &[String] {
        &self.r#match[0].gateways
    }
}

#[test]
fn the_own_come_first_then_those_of_others_then_the_public_each_the_older_first() {
    let routes = "http: [{route: [{destination: {host: x}}]}]";
    let objects = [
        ("default", "public-young", 9, ""),
        ("default", "public-old", 1, "exportTo: ['*']"),
        ("default", "own", 5, "exportTo: [.]"),
        ("other", "given", 3, "exportTo: [default, third]"),
        ("other", "not-given", 3, "exportTo: [third]"),
        ("other", "for-nobody", 3, "exportTo: ['~']"),
        ("default", "of-a-gateway", 1, "gateways: [in]"),
        ("default", "of-both", 2, "gateways: [in, mesh]"),
        ("default", "b-same-age", 4, ""),
        ("other", "a-same-age", 4, ""),
        ("another", "a-same-age", 4, ""),
    ];
    let yaml: String = objects
        .iter()
        .map(|(namespace, name, day, more)| {
            virtual_service(namespace, name, *day, &format!("{{hosts: [{name}.com], {routes}, {more}}}"))
        })
        .collect();
    let mut mesh = Mesh::new(&yaml);
    let snapshot = mesh.snapshot();
    let public = [
        "default/public-old",
        "default/of-both",
        "another/a-same-age",
        "other/a-same-age",
        "default/b-same-age",
        "default/public-young",
    ];
    assert_eq!(names(&snapshot, "default"), [&["default/own", "other/given"][..], &public].concat());
    assert_eq!(names(&snapshot, "third"), [&["other/given", "other/not-given"][..], &public].concat());
    assert_eq!(names(&snapshot, "fourth"), public);
    let bound = snapshot.virtual_services.for_gateway("default/in", "fourth");
    assert_eq!(
        bound.iter().map(|service| &*service.key.name).collect::<Vec<_>>(),
        ["of-a-gateway", "of-both"]
    );
    // Namespaces that see the same share it.
    let shared = |namespace: &str| http(&snapshot, namespace);
    assert!(Arc::ptr_eq(&shared("fourth"), &shared("fifth")));
    assert!(!Arc::ptr_eq(&shared("fourth"), &shared("third")));
}

#[test]
fn the_meshs_default_export_holds_where_an_object_says_nothing() {
    let objects = virtual_service("a", "silent", 1, "{hosts: [x.com]}")
        + &virtual_service("a", "public", 1, "{hosts: [y.com], exportTo: ['*']}");
    let mut mesh = Mesh::with(settings("defaultVirtualServiceExportTo: [.]"), &objects);
    let snapshot = mesh.snapshot();
    assert_eq!(names(&snapshot, "a"), ["a/silent", "a/public"]);
    assert_eq!(names(&snapshot, "b"), ["a/public"]);
}

/// The root's route and the delegate's, both in flow style, and what becomes of them: each merged route's name, and
/// its conditions.
#[test]
fn a_delegates_route_is_narrowed_by_the_roots() {
    let prefix = |path: &str| format!("{{uri: {{prefix: {path}}}}}");
    for (root, delegate, merged) in [
        ("match: [{uri: {prefix: /a}}]", "match: [{uri: {prefix: /a/b}}]", Some("/a/b")),
        ("match: [{uri: {prefix: /a}}]", "match: [{uri: {exact: /a/b}}]", Some("/a/b")),
        ("match: [{uri: {prefix: /a}}]", "match: [{uri: {prefix: /b}}]", None),
        ("match: [{uri: {prefix: /a}}]", "match: [{uri: {regex: /a.*}}]", None),
        ("match: [{uri: {regex: /a}}]", "match: [{uri: {regex: /a}}]", None),
        ("match: [{uri: {exact: /a}}]", "match: [{uri: {exact: /a}}]", Some("/a")),
        ("match: [{uri: {exact: /a}}]", "match: [{uri: {prefix: /a}}]", None),
        ("match: [{uri: {prefix: /a}}]", "name: any", Some("/a")),
        ("name: any", "match: [{uri: {prefix: /b}}]", Some("/b")),
        ("match: [{uri: {prefix: /a}}]", "match: [{headers: {h: {exact: v}}}]", Some("/a h")),
        ("match: [{headers: {h: {exact: v}}}]", "match: [{headers: {h: {exact: w}}}]", None),
        ("match: [{headers: {h: {prefix: v}}}]", "match: [{headers: {h: {exact: vw}}}]", Some(" h")),
        ("match: [{withoutHeaders: {h: {exact: v}}}]", "match: [{withoutHeaders: {h: {exact: w}}}]", None),
        ("match: [{queryParams: {q: {exact: v}}}]", "match: [{queryParams: {q: {exact: w}}}]", None),
        ("match: [{port: 80}]", "match: [{port: 81}]", None),
        ("match: [{port: 80}]", "match: [{uri: {prefix: /b}}]", Some("/b:80")),
        ("match: [{sourceNamespace: a}]", "match: [{uri: {prefix: /b}}]", None),
        ("match: [{sourceNamespace: a}]", "match: [{sourceNamespace: a}]", Some("")),
        ("match: [{sourceLabels: {l: a}}]", "match: [{sourceLabels: {l: b}}]", None),
        ("match: [{sourceLabels: {l: a}}]", "match: [{sourceLabels: {m: b}}]", Some(" l m")),
        ("match: [{ignoreUriCase: true}]", "match: [{uri: {prefix: /b}}]", None),
        ("match: [{gateways: [mesh]}]", "match: [{gateways: [mesh, x]}]", None),
        ("match: [{gateways: [mesh, x]}]", "match: [{gateways: [mesh]}]", Some("")),
        (
            &format!("match: [{}, {}]", prefix("/a"), prefix("/b")),
            "match: [{uri: {prefix: /b/c}}]",
            Some("/b/c"),
        ),
        ("match: [{uri: {prefix: /a}}, {port: 80}]", "match: [{uri: {prefix: /a/b}}]", Some("/a/b, /a/b:80")),
        ("match: [{uri: {prefix: /a}}]", "match: [{uri: {prefix: /a/b}}, {uri: {prefix: /c}}]", None),
    ] {
        let objects = virtual_service(
            "default",
            "root",
            1,
            &format!("{{hosts: [x.com], http: [{{{root}, delegate: {{name: part}}}}]}}"),
        ) + &virtual_service(
            "default",
            "part",
            1,
            &format!("{{http: [{{{delegate}, route: [{{destination: {{host: to}}}}]}}]}}"),
        );
        let mut mesh = Mesh::new(&objects);
        let service = only(&mut mesh);
        let text = |route: &mizzen_api::proto::istio::networking::v1alpha3::HttpRoute| {
            use mizzen_api::proto::istio::networking::v1alpha3::string_match::MatchType;
            let one = |wanted: &mizzen_api::proto::istio::networking::v1alpha3::HttpMatchRequest| {
                let path = wanted.uri.as_ref().and_then(|uri| uri.match_type.clone());
                let path = match path {
                    Some(MatchType::Exact(path) | MatchType::Prefix(path) | MatchType::Regex(path)) => path,
                    None => String::new(),
                };
                let port = if wanted.port > 0 { format!(":{}", wanted.port) } else { String::new() };
                let more = wanted.headers.keys().chain(wanted.source_labels.keys());
                let more: String = more.map(|key| format!(" {key}")).collect();
                path + &port + &more
            };
            route.r#match.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let found: Vec<String> = service.spec.http.iter().map(text).collect();
        assert_eq!(found, merged.into_iter().collect::<Vec<_>>(), "{root} and {delegate}");
        assert_eq!(
            mesh.problems().len(),
            usize::from(merged.is_none()),
            "{root} and {delegate}: {:?}",
            mesh.problems()
        );
    }
}

#[test]
fn a_delegate_has_from_the_root_what_it_does_not_say_itself() {
    let objects = virtual_service(
        "default",
        "root",
        1,
        "{hosts: [x.com], http: [{name: r, timeout: 5s, retries: {attempts: 3}, rewrite: {uri: /r},
          headers: {request: {set: {a: b}}}, delegate: {name: part, namespace: parts}}, {name: last}]}",
    ) + &virtual_service(
        "parts",
        "part",
        1,
        "{http: [{name: p, timeout: 1s, route: [{destination: {host: to}}]}, {route: [{destination: {host: z}}]}]}",
    );
    let service = only(&mut Mesh::new(&objects));
    let routes: Vec<_> = service
        .spec
        .http
        .iter()
        .map(|route| {
            (route.name.as_str(), route.timeout.map(|timeout| timeout.to_string()), route.retries.is_some())
        })
        .collect();
    let seconds = |text: &str| Some(text.to_owned());
    assert_eq!(routes, [("r-p", seconds("1s"), true), ("r", seconds("5s"), true), ("last", None, false)]);
    // Names are whole as seen from the delegate's namespace.
    let to = service.spec.http[0].route[0].destination.as_ref().unwrap();
    assert_eq!(to.host, "to.parts.svc.cluster.local");
    assert!(service.spec.http.iter().all(|route| route.delegate.is_none()));
}

#[test]
fn a_delegate_may_come_change_and_go_after_its_root() {
    let root = virtual_service(
        "default",
        "root",
        1,
        "{hosts: [x.com], http: [{delegate: {name: part, namespace: parts}}, {name: own}]}",
    );
    let part = |name: &str, more: &str| {
        let spec = format!("{{http: [{{name: {name}, route: [{{destination: {{host: to}}}}]}}], {more}}}");
        virtual_service("parts", "part", 2, &spec)
    };
    let mut mesh = Mesh::new(&root);
    let routes = |mesh: &mut Mesh| -> Vec<String> {
        only(mesh).spec.http.iter().map(|route| route.name.clone()).collect()
    };
    assert_eq!(routes(&mut mesh), ["own"]);
    assert!(
        mesh.problems()[0]
            .contains("VirtualService default/root: the delegate VirtualService parts/part is not there")
    );
    mesh.apply(&part("first", ""));
    assert_eq!((routes(&mut mesh), mesh.problems()), (vec!["first".into(), "own".into()], vec![]));
    mesh.apply(&part("second", ""));
    assert_eq!(routes(&mut mesh), ["second", "own"]);
    mesh.apply(&part("second", "exportTo: [.]"));
    assert_eq!(routes(&mut mesh), ["own"]);
    assert!(mesh.problems()[0].contains("is not exported"));
    mesh.apply(&part("second", "exportTo: [default]"));
    assert_eq!(routes(&mut mesh), ["second", "own"]);
    mesh.delete(Kind::VirtualService, "parts", "part");
    assert_eq!(routes(&mut mesh), ["own"]);
    mesh.delete(Kind::VirtualService, "default", "root");
    assert!(http(&mesh.snapshot(), "default").is_empty());
    assert_eq!(mesh.problems(), Vec::<String>::new());
}

#[test]
fn many_delegates_of_many_routes_are_cut_off() {
    let many = |one: &str, count: usize| vec![one; count].join(", ");
    let big = "x".repeat(1 << 16);
    let objects =
        virtual_service(
            "default",
            "root",
            1,
            &format!(
                "{{hosts: [x.com], http: [{}]}}",
                many(&format!("{{name: {big}, delegate: {{name: part}}}}"), 8)
            ),
        ) + &virtual_service("default", "part", 1, &format!("{{http: [{}]}}", many("{name: a}", 2000)));
    let mut mesh = Mesh::new(&objects);
    let size = only(&mut mesh).spec.encoded_len();
    assert!(size < 20 << 20, "{size}");
    assert!(
        mesh.problems().iter().any(|problem| problem.contains("the rest is left out")),
        "{:?}",
        mesh.problems()
    );
}

#[test]
fn a_change_of_http_routes_leaves_what_listeners_read_the_same() {
    let tcp = "tcp: [{route: [{destination: {host: x}}]}]";
    let spec = |timeout: u32, tcp: &str| {
        format!(
            "{{hosts: [x.com], http: [{{timeout: {timeout}s, route: [{{destination: {{host: x}}}}]}}], {tcp}}}"
        )
    };
    let mut mesh = Mesh::new(
        &(virtual_service("default", "both", 1, &spec(1, tcp))
            + &virtual_service("default", "http", 1, &spec(1, ""))),
    );
    let first = mesh.snapshot();
    mesh.apply(&virtual_service("default", "both", 1, &spec(2, tcp)));
    mesh.apply(&virtual_service("default", "http", 1, &spec(2, "")));
    mesh.apply(&virtual_service("default", "new", 1, &spec(2, "")));
    let second = mesh.snapshot();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&first.virtual_services.l4, &second.virtual_services.l4));
    let (old, new) = (l4(&first, "a"), l4(&second, "a"));
    assert!(Arc::ptr_eq(&old, &new) && old.list.len() == 1);
    mesh.apply(&virtual_service(
        "default",
        "both",
        1,
        &spec(2, "tcp: [{route: [{destination: {host: to}}]}]"),
    ));
    assert!(!Arc::ptr_eq(&second.virtual_services.l4, &mesh.snapshot().virtual_services.l4));
}

#[test]
fn an_object_that_says_the_same_again_is_no_change() {
    let spec = "{hosts: [x.com], http: [{route: [{destination: {host: x}}]}]}";
    let mut mesh = Mesh::new(&virtual_service("default", "a", 1, spec));
    let first = mesh.snapshot();
    let object =
        virtual_service("default", "a", 1, spec).replace("name: a,", "name: a, labels: {new: 'true'},");
    mesh.apply(&object);
    assert!(Arc::ptr_eq(&first, &mesh.snapshot()));
}

#[test]
fn routes_are_found_by_host() {
    let hosts =
        [("a", "[a.com]"), ("b", "['*.com']"), ("c", "['*']"), ("d", "[a.com, b.org]"), ("e", "['*.b.org']")];
    let yaml: String = (1..)
        .zip(hosts)
        .map(|(day, (name, hosts))| virtual_service("default", name, day, &format!("{{hosts: {hosts}}}")))
        .collect();
    let routed = http(&Mesh::new(&yaml).snapshot(), "x");
    let text =
        |list: Vec<&Arc<VirtualService>>| list.iter().map(|service| &*service.key.name).collect::<String>();
    for (host, overlapping, most_specific) in [
        ("a.com", "abcd", "a"),
        ("x.com", "bc", "b"),
        ("b.org", "cd", "d"),
        ("x.b.org", "ce", "e"),
        ("*.org", "cde", "c"),
        ("*", "abcde", "c"),
        ("", "c", "c"),
    ] {
        assert_eq!(text(routed.overlapping(host)), overlapping, "{host}");
        assert_eq!(text(routed.most_specific(host).into_iter().collect()), most_specific, "{host}");
    }
}

#[test]
fn a_host_that_two_route_is_told() {
    let spec =
        |more: &str| format!("{{hosts: [x.com], http: [{{route: [{{destination: {{host: x}}}}]}}], {more}}}");
    let mut mesh = Mesh::new(
        &(virtual_service("a", "old", 1, &spec(""))
            + &virtual_service("b", "young", 2, &spec(""))
            + &virtual_service("b", "gateway", 3, &spec("gateways: [in]"))
            + &virtual_service("b", "hidden", 3, &spec("exportTo: ['~']"))),
    );
    let problems = mesh.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].starts_with("VirtualService b/young: its host x.com is routed by VirtualService a/old")
    );
}
