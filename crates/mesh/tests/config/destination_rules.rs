use crate::mesh::{Mesh, destination_rule, proxy, service, settings, sidecar};
use mizzen_mesh::Snapshot;
use serde_json::json;
use std::sync::Arc;

/// The rules for clients in `namespace` of a service of `b`: `name+merged, next`.
fn rules(snapshot: &Snapshot, namespace: &str, name: &str) -> String {
    let scope = sidecar(snapshot, namespace);
    let visible = scope.service(&format!("{name}.b.svc.cluster.local")).unwrap();
    let from = |rule: &Arc<mizzen_mesh::config::DestinationRule>| {
        rule.from.iter().map(|key| &*key.name).collect::<Vec<_>>().join("+")
    };
    visible.rules.iter().map(from).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_clients_namespace_goes_before_the_services_and_that_before_the_root() {
    let s = "s.b.svc.cluster.local";
    for (objects, clients) in [
        (vec![("istio-system", "root", s, "")], [("a", "root"), ("b", "root"), ("istio-system", "root")]),
        (
            vec![("istio-system", "root", s, ""), ("b", "own", "s", "")],
            [("a", "own"), ("b", "own"), ("istio-system", "own")],
        ),
        (
            vec![("istio-system", "root", s, ""), ("b", "own", "s", ""), ("a", "client", s, "")],
            [("a", "client"), ("b", "own"), ("istio-system", "own")],
        ),
        // A wildcard of the client's goes before the very name elsewhere.
        (
            vec![("b", "own", "s", ""), ("a", "client", "'*.b.svc.cluster.local'", "")],
            [("a", "client"), ("b", "own"), ("istio-system", "own")],
        ),
        // In one namespace the most specific name counts.
        (
            vec![("b", "all", "'*'", ""), ("b", "wide", "'*.local'", ""), ("b", "name", "s", "")],
            [("a", "name"), ("b", "name"), ("istio-system", "name")],
        ),
        (
            vec![("b", "all", "'*'", ""), ("b", "wide", "'*.local'", "")],
            [("a", "wide"), ("b", "wide"), ("istio-system", "wide")],
        ),
        // Exported to its own namespace, or to some.
        (
            vec![("b", "own", "s", "exportTo: [.]"), ("istio-system", "root", s, "")],
            [("a", "root"), ("b", "own"), ("istio-system", "root")],
        ),
        (vec![("b", "own", "s", "exportTo: [a]")], [("a", "own"), ("b", ""), ("istio-system", "")]),
        (vec![("b", "own", "s", "exportTo: [., a]")], [("a", "own"), ("b", "own"), ("istio-system", "")]),
        // A more specific one that a client may not see hides a wider one in the same namespace.
        (
            vec![("b", "wide", "'*.local'", ""), ("b", "name", "s", "exportTo: [b, c]")],
            [("a", ""), ("b", "name"), ("istio-system", "")],
        ),
        (
            vec![("istio-system", "private", s, "exportTo: [.]"), ("b", "own", "s", "")],
            [("a", "own"), ("b", "own"), ("istio-system", "private")],
        ),
    ] {
        let yaml: String = objects
            .iter()
            .map(|(namespace, name, host, more)| {
                destination_rule(namespace, name, 1, &format!("{{host: {host}, {more}}}"))
            })
            .collect();
        let snapshot = Mesh::new(&(service("b", "s") + &yaml)).snapshot();
        for (client, found) in clients {
            assert_eq!(rules(&snapshot, client, "s"), found, "from {client}: {objects:?}");
        }
    }
}

#[test]
fn the_meshs_default_export_may_keep_rules_to_their_namespace() {
    let yaml = service("b", "s") + &destination_rule("b", "own", 1, "{host: s}");
    let snapshot = Mesh::with(settings("defaultDestinationRuleExportTo: [.]"), &yaml).snapshot();
    assert_eq!((rules(&snapshot, "a", "s"), rules(&snapshot, "b", "s")), (String::new(), "own".into()));
}

#[test]
fn rules_for_one_host_are_merged_and_what_does_not_count_is_told() {
    let yaml = service("b", "s")
        + &destination_rule(
            "b",
            "young",
            9,
            "{host: s, subsets: [{name: v1}, {name: v3}],
            trafficPolicy: {tls: {mode: DISABLE}}}",
        )
        + &destination_rule("b", "old", 1, "{host: s, subsets: [{name: v1, labels: {of: old}}]}")
        + &destination_rule(
            "b",
            "middle",
            5,
            "{host: s.b.svc.cluster.local, subsets: [{name: v2}],
            trafficPolicy: {tls: {mode: ISTIO_MUTUAL}}}",
        );
    let mut mesh = Mesh::new(&yaml);
    let snapshot = mesh.snapshot();
    assert_eq!(rules(&snapshot, "a", "s"), "old+middle+young");
    let scope = sidecar(&snapshot, "a");
    let rule = Arc::clone(&scope.services()[0].rules[0]);
    let subsets: Vec<&str> = rule.spec.subsets.iter().map(|subset| subset.name.as_str()).collect();
    assert_eq!(subsets, ["v1", "v2", "v3"]);
    assert_eq!(rule.spec.subsets[0].labels.get("of").map(String::as_str), Some("old"));
    assert_eq!(rule.spec.host, "s.b.svc.cluster.local");
    let tls = rule.spec.traffic_policy.as_ref().unwrap().tls.as_ref().unwrap();
    assert_eq!(tls.mode().as_str_name(), "ISTIO_MUTUAL");
    // The same for clients here and elsewhere.
    assert!(Arc::ptr_eq(&rule, &sidecar(&snapshot, "b").services()[0].rules[0]));
    assert_eq!(
        mesh.problems(),
        [
            "DestinationRule b/young: its subset v1 does not count: DestinationRule b/old has one of that name",
            "DestinationRule b/young: its traffic policy does not count: DestinationRule b/old has one for the same host",
        ]
    );
}

#[test]
fn rules_with_different_exports_stand_apart() {
    let yaml = service("b", "s")
        + &destination_rule("b", "all", 1, "{host: s}")
        + &destination_rule("b", "here", 2, "{host: s, exportTo: [.]}")
        + &destination_rule("b", "some", 3, "{host: s, exportTo: [a]}");
    let snapshot = Mesh::new(&yaml).snapshot();
    // Of several for all workloads the last one counts.
    assert_eq!(rules(&snapshot, "b", "s"), "here");
    assert_eq!(rules(&snapshot, "a", "s"), "some");
    assert_eq!(rules(&snapshot, "c", "s"), "all");
}

#[test]
fn a_rule_for_some_workloads_holds_for_these_and_in_its_namespace_only() {
    let v1 = "workloadSelector: {matchLabels: {version: v1}}";
    let yaml = service("b", "s")
        + &destination_rule("b", "all", 1, "{host: s, subsets: [{name: all}]}")
        + &destination_rule("b", "some", 2, &format!("{{host: s, subsets: [{{name: some}}], {v1}}}"))
        + &destination_rule("b", "more", 3, &format!("{{host: s, subsets: [{{name: more}}], {v1}}}"));
    let snapshot = Mesh::new(&yaml).snapshot();
    assert_eq!(rules(&snapshot, "b", "s"), "some+more, all");
    assert_eq!(rules(&snapshot, "a", "s"), "all");
    let scope = sidecar(&snapshot, "b");
    let rule = |labels| {
        let rule = scope.services()[0].rule(&proxy(&snapshot, "sidecar", "b", &labels)).unwrap();
        rule.from[0].name.to_string()
    };
    assert_eq!(rule(json!({"version": "v1", "app": "x"})), "some");
    assert_eq!(rule(json!({"version": "v2"})), "all");
}

#[test]
fn a_rule_for_some_workloads_has_what_one_of_the_namespace_says() {
    let select = "workloadSelector: {matchLabels: {version: v1}}";
    for (export, found, told) in
        [("[.]", "some+all", 1), ("[., a]", "some+all, all", 0), ("['*']", "some, all", 0)]
    {
        let yaml = service("b", "s")
            + &destination_rule("b", "some", 2, &format!("{{host: s, {select}}}"))
            + &destination_rule(
                "b",
                "all",
                1,
                &format!("{{host: s, exportTo: {export}, subsets: [{{name: v1}}]}}"),
            );
        let mut mesh = Mesh::new(&yaml);
        assert_eq!(rules(&mesh.snapshot(), "b", "s"), found, "{export}");
        assert_eq!(mesh.problems().len(), told, "{:?}", mesh.problems());
    }
}

#[test]
fn what_did_not_change_is_the_same_rule() {
    let rule = |name: &str, connections: u32| {
        let spec = format!(
            "{{host: {name}, trafficPolicy: {{connectionPool: {{tcp: {{maxConnections: {connections}}}}}}}}}"
        );
        destination_rule("b", name, 1, &spec)
    };
    let mut mesh = Mesh::new(&(service("b", "s") + &service("b", "t") + &rule("s", 1) + &rule("t", 1)));
    let rule_of = |mesh: &mut Mesh, name: &str| {
        let snapshot = mesh.snapshot();
        Arc::clone(&sidecar(&snapshot, "a").service(&format!("{name}.b.svc.cluster.local")).unwrap().rules[0])
    };
    let (s, t) = (rule_of(&mut mesh, "s"), rule_of(&mut mesh, "t"));
    mesh.apply(&rule("s", 2));
    assert!(!Arc::ptr_eq(&s, &rule_of(&mut mesh, "s")));
    assert!(Arc::ptr_eq(&t, &rule_of(&mut mesh, "t")));
    let before = mesh.snapshot();
    mesh.apply(&rule("s", 2));
    assert!(Arc::ptr_eq(&before, &mesh.snapshot()));
}
