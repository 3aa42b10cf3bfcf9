use crate::mesh::{Mesh, destination_rule, key, object, service, sidecar, virtual_service};
use mizzen_api::Kind;
use mizzen_mesh::{Event, ProxyKind, Seen, Snapshot, Visible};
use std::sync::Arc;

fn entry(namespace: &str, name: &str, day: u32, host: &str, more: &str) -> String {
    let spec = format!(
        "{{hosts: [{host}], resolution: DNS, ports: [{{number: 80, name: http, protocol: HTTP}}], {more}}}"
    );
    object("ServiceEntry", namespace, name, day, &spec)
}

fn seen(snapshot: &Snapshot, namespace: &str) -> Arc<Seen> {
    Arc::clone(&sidecar(snapshot, namespace).seen)
}

/// `namespace/host:ports`
fn text<'a>(services: impl IntoIterator<Item = &'a Visible>) -> Vec<String> {
    let one = |visible: &Visible| {
        let service = &visible.service;
        let ports: Vec<String> = service.ports.iter().map(|port| port.number.to_string()).collect();
        let host = service.key.host.trim_end_matches(".svc.cluster.local");
        format!("{}/{host}:{}", service.key.namespace, ports.join(","))
    };
    services.into_iter().map(one).collect()
}

#[test]
fn the_own_namespace_goes_before_others_and_the_oldest_before_the_rest() {
    let yaml =
        entry("b", "b", 2, "x.com", "") + &entry("a", "a", 3, "x.com", "") + &entry("c", "c", 1, "x.com", "");
    let snapshot = Mesh::new(&yaml).snapshot();
    for (namespace, seen) in
        [("a", "a/x.com:80"), ("b", "b/x.com:80"), ("c", "c/x.com:80"), ("d", "c/x.com:80")]
    {
        assert_eq!(text(sidecar(&snapshot, namespace).services()), [seen], "from {namespace}");
    }
    // A router takes the oldest wherever it is.
    assert_eq!(text(snapshot.scope(ProxyKind::Router, &"a".into()).services()), ["c/x.com:80"]);
}

#[test]
fn nobody_takes_the_name_of_a_service_of_kubernetes() {
    let yaml = entry("a", "squatter", 1, "s.b.svc.cluster.local", "") + &service("b", "s");
    let snapshot = Mesh::new(&yaml).snapshot();
    assert_eq!(text(sidecar(&snapshot, "c").services()), ["b/s.b:80"]);
    assert_eq!(text(sidecar(&snapshot, "b").services()), ["b/s.b:80"]);
    // But in its own namespace the entry is what is meant.
    assert_eq!(text(sidecar(&snapshot, "a").services()), ["a/s.b:80"]);
    assert_eq!(text(snapshot.scope(ProxyKind::Router, &"a".into()).services()), ["b/s.b:80"]);
}

#[test]
fn services_are_seen_by_whom_they_are_exported_to_and_these_come_first() {
    let yaml = entry("a", "public", 1, "public.com", "")
        + &entry("a", "own", 2, "own.com", "exportTo: [.]")
        + &entry("a", "given", 3, "given.com", "exportTo: [b]")
        + &entry("a", "nobody", 3, "nobody.com", "exportTo: ['~']");
    let snapshot = Mesh::new(&yaml).snapshot();
    assert_eq!(text(sidecar(&snapshot, "a").services()), ["a/own.com:80", "a/public.com:80"]);
    assert_eq!(text(sidecar(&snapshot, "b").services()), ["a/given.com:80", "a/public.com:80"]);
    assert_eq!(text(sidecar(&snapshot, "c").services()), ["a/public.com:80"]);
}

#[test]
fn entries_of_one_host_in_one_namespace_are_one_service_with_all_ports() {
    let second = "{hosts: [x.com], resolution: DNS, ports: [{number: 80, name: http, protocol: HTTP}, {number: 81, name: b, protocol: TCP}]}";
    let third = "{hosts: [x.com], resolution: STATIC, ports: [{number: 82, name: c, protocol: TCP}]}";
    let yaml = entry("a", "first", 1, "x.com", "")
        + &object("ServiceEntry", "a", "second", 2, second)
        + &object("ServiceEntry", "a", "third", 3, third);
    let mut mesh = Mesh::new(&yaml);
    let snapshot = mesh.snapshot();
    let scope = sidecar(&snapshot, "b");
    // Another resolution cannot be merged.
    assert_eq!(text(scope.services()), ["a/x.com:80,81"]);
    assert_eq!(text(scope.offered()), ["a/x.com:80", "a/x.com:80,81", "a/x.com:82"]);
    // What was merged is the same again after a change elsewhere.
    mesh.apply(&service("c", "s"));
    let next = sidecar(&mesh.snapshot(), "b");
    assert!(!Arc::ptr_eq(&scope, &next));
    assert!(Arc::ptr_eq(&scope.services()[0].service, &next.service("x.com").unwrap().service));
}

#[test]
fn a_hidden_service_is_there_for_the_routes_that_lead_to_it() {
    let ports = "ports: [{number: 80, name: http, protocol: HTTP}, {number: 81, name: b, protocol: HTTP}]";
    let hidden = format!("{{hosts: [hidden.com], resolution: DNS, {ports}, exportTo: ['~']}}");
    let route = |more: &str| {
        let spec =
            format!("{{hosts: [x.com], http: [{{route: [{{destination: {{host: hidden.com{more}}}}}]}}]}}");
        virtual_service("a", "v", 1, &spec)
    };
    let mut mesh = Mesh::new(&object("ServiceEntry", "a", "hidden", 1, &hidden));
    let sees = |mesh: &mut Mesh, namespace: &str| {
        let scope = sidecar(&mesh.snapshot(), namespace);
        (text(scope.services()), text(scope.offered()))
    };
    assert_eq!(sees(&mut mesh, "a"), (vec![], vec![]));
    mesh.apply(&route(", port: {number: 81}"));
    assert_eq!(sees(&mut mesh, "a"), (vec!["a/hidden.com:81".into()], vec![]));
    mesh.apply(&route(""));
    assert_eq!(sees(&mut mesh, "a"), (vec!["a/hidden.com:80,81".into()], vec![]));
    mesh.apply(&route(", port: {number: 99}"));
    assert_eq!(sees(&mut mesh, "a"), (vec![], vec![]));
    assert_eq!(sees(&mut mesh, "b"), (vec![], vec![]));
    mesh.delete(Kind::VirtualService, "a", "v");
    assert_eq!(sees(&mut mesh, "a"), (vec![], vec![]));
}

#[test]
fn namespaces_that_see_the_same_share_a_scope() {
    let yaml = service("a", "s")
        + &service("b", "t")
        + &destination_rule("b", "r", 1, "{host: t}")
        + &entry("b", "own", 1, "x.com", "exportTo: [c]");
    let snapshot = Mesh::new(&yaml).snapshot();
    let same = |one: &str, other: &str| Arc::ptr_eq(&seen(&snapshot, one), &seen(&snapshot, other));
    assert!(same("a", "d") && same("d", "e"));
    assert!(!same("a", "b"), "b has rules of its own");
    assert!(!same("a", "c"), "something is exported to c");
    assert!(!same("a", "istio-system"), "rules of the root namespace are looked for last");
}

#[test]
fn a_scope_stays_while_nothing_that_it_is_made_of_changes() {
    let mut mesh = Mesh::new(&(service("a", "s") + &destination_rule("a", "r", 1, "{host: s}")));
    let scopes = |mesh: &mut Mesh| -> [Arc<Seen>; 2] {
        let snapshot = mesh.snapshot();
        [seen(&snapshot, "a"), seen(&snapshot, "b")]
    };
    let same = |one: &[Arc<Seen>; 2], other: &[Arc<Seen>; 2]| {
        one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
    };
    let first = scopes(&mut mesh);
    for elsewhere in [
        virtual_service("a", "v", 1, "{hosts: [x.com], http: [{route: [{destination: {host: s}}]}]}"),
        destination_rule("a", "of-nothing", 1, "{host: not-there}"),
        "---\napiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: p, namespace: a}\nspec: {mtls: {mode: STRICT}}\n".into(),
        object("Gateway", "a", "g", 1, "{servers: []}"),
    ] {
        let before = mesh.snapshot();
        mesh.apply(&elsewhere);
        assert!(!Arc::ptr_eq(&before, &mesh.snapshot()), "{elsewhere}");
        assert!(same(&first, &scopes(&mut mesh)), "{elsewhere}");
    }
    mesh.apply(&destination_rule("a", "r", 1, "{host: s, subsets: [{name: v1}]}"));
    let changed = scopes(&mut mesh);
    assert!(!same(&first, &changed));
    // Also if nobody asked for a while.
    for round in 1..5 {
        mesh.apply(&destination_rule("a", "of-nothing", 1, &format!("{{host: not-there-{round}}}")));
        mesh.snapshot();
    }
    assert!(same(&changed, &scopes(&mut mesh)));
}

#[test]
fn what_breaks_goes_on_as_it_was_and_is_told_until_it_is_mended() {
    let mut mesh = Mesh::new(&(service("a", "s") + &destination_rule("a", "r", 1, "{host: s}")));
    let first = mesh.snapshot();
    let broken =
        |reason: &str| Event::Broken { key: key(Kind::DestinationRule, "a", "r"), reason: reason.into() };
    mesh.store.apply(broken("no such field"));
    assert_eq!(mesh.problems(), ["DestinationRule a/r: no such field"]);
    assert!(Arc::ptr_eq(&sidecar(&first, "a"), &sidecar(&mesh.snapshot(), "a")));
    let told = mesh.snapshot();
    mesh.store.apply(broken("no such field"));
    assert!(Arc::ptr_eq(&told, &mesh.snapshot()));
    mesh.apply(&destination_rule("a", "r", 1, "{host: s}"));
    assert_eq!(mesh.problems(), Vec::<String>::new());
    // Also of kinds that are services, and if it goes.
    let entry_key = key(Kind::ServiceEntry, "a", "e");
    for mend in [entry("a", "e", 1, "x.com", ""), String::new()] {
        mesh.store.apply(Event::Broken { key: entry_key.clone(), reason: "bad".into() });
        assert_eq!(mesh.problems(), ["ServiceEntry a/e: bad"]);
        if mend.is_empty() {
            mesh.store.apply(Event::Gone(entry_key.clone()));
        } else {
            mesh.apply(&mend);
        }
        assert_eq!(mesh.problems(), Vec::<String>::new());
    }
}
