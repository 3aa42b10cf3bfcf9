//! Several files and several objects: overlays, defaults, workload, plain objects, what refers to what.

mod common;

use common::{Texts, app, told};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SHOP: &str = "\
name: shop
workload:
  image: shop:1
  replicas: 2
  ports: [{ port: 80, targetPort: 8080 }, { port: 9090, protocol: GRPC, name: grpc-api }]
  env: { LOG: debug, ADDRESS: shop }
  labels: { version: v1 }
manifests: [objects]
istio:
  serviceEntries:
    payments: { hosts: [pay.example.com], ports: [{ number: 443, protocol: TLS }], resolution: DNS }
  destinationRules:
    shop: { host: shop, subsets: [{ name: v1, labels: { version: v1 } }] }
    payments: { host: pay.example.com, trafficPolicy: { tlsSettings: { mode: SIMPLE } } }
  gateways:
    public: { listeners: [{ port: 80, hosts: [shop.example.com] }] }
  virtualServices:
    shop:
      hosts: [shop.example.com]
      gateways: [public]
      httpRoutes:
        - { matches: [{ path: { prefix: /pay } }], delegateTo: { name: pay } }
        - { destinations: [{ host: shop, subset: v1 }] }
    pay: { delegate: true, httpRoutes: [{ destinations: [{ host: pay.example.com }] }] }
  requestAuthentications:
    users: { workloadSelector: self, jwt: [{ issuer: me }], required: true }
  authorizationPolicies:
    staff: { workloadSelector: self, rules: [{ conditions: [{ key: 'request.auth.claims[group]', values: [staff] }] }] }
    outside: { attachTo: [ServiceEntry/payments], rules: [{ to: [{ methods: [GET] }] }] }
";

const OBJECTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
---
apiVersion: v1
kind: List
items:
- { apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: { name: shop } }
- { apiVersion: v1, kind: Secret, metadata: { name: key, namespace: other } }
";

fn shop() -> Texts {
    app(SHOP).file("objects/all.yaml", OBJECTS)
}

fn edges(texts: &Texts) -> BTreeMap<String, Vec<String>> {
    let built = texts.build();
    assert!(built.diagnostics.is_empty(), "{}", told(&built));
    let short = |id: &String| {
        let parts: Vec<&str> = id.split(':').collect();
        format!("{}/{}", parts[1], parts[parts.len() - 1])
    };
    let edge = |resource: &mizzen_app::Resource| {
        (short(&resource.id), resource.depends_on.iter().map(short).collect())
    };
    built.spec.resources.iter().map(edge).collect()
}

#[test]
fn each_object_waits_for_what_it_names_and_for_nothing_else() {
    let edges = edges(&shop());
    let expected: &[(&str, &[&str])] = &[
        ("Namespace/shop", &[]),
        ("Deployment/shop", &["Namespace/shop"]),
        ("Service/shop", &["Namespace/shop"]),
        ("ConfigMap/settings", &["Namespace/shop"]),
        ("ClusterRole/shop", &[]),
        ("Secret/key", &[]),
        ("ServiceEntry/shop-payments", &["Namespace/shop"]),
        ("DestinationRule/shop-shop", &["Namespace/shop"]),
        ("DestinationRule/shop-payments", &["ServiceEntry/shop-payments", "Namespace/shop"]),
        ("Gateway/shop-public", &["Namespace/shop"]),
        (
            "VirtualService/shop-shop",
            &[
                "DestinationRule/shop-shop",
                "Gateway/shop-public",
                "VirtualService/shop-pay",
                "Namespace/shop",
            ],
        ),
        ("VirtualService/shop-pay", &["ServiceEntry/shop-payments", "Namespace/shop"]),
        ("RequestAuthentication/shop-users", &["Namespace/shop"]),
        ("AuthorizationPolicy/shop-users-required", &["RequestAuthentication/shop-users", "Namespace/shop"]),
        ("AuthorizationPolicy/shop-staff", &["RequestAuthentication/shop-users", "Namespace/shop"]),
        ("AuthorizationPolicy/shop-outside", &["ServiceEntry/shop-payments", "Namespace/shop"]),
    ];
    let expected: BTreeMap<String, Vec<String>> = expected
        .iter()
        .map(|(one, needs)| ((*one).to_owned(), needs.iter().map(|need| (*need).to_owned()).collect()))
        .collect();
    assert_eq!(edges, expected);
}

#[test]
fn nothing_waits_for_a_service_so_that_it_can_be_deleted() {
    assert!(edges(&shop()).values().flatten().all(|need| !need.starts_with("Service/")));
}

#[test]
fn nothing_waits_in_a_circle() {
    let edges = edges(&shop());
    let mut done = BTreeSet::new();
    while done.len() < edges.len() {
        let ready: Vec<&String> = edges
            .iter()
            .filter(|(one, needs)| !done.contains(*one) && needs.iter().all(|need| done.contains(need)))
            .map(|(one, _)| one)
            .collect();
        assert!(!ready.is_empty(), "of {edges:?} only {done:?} can be applied");
        done.extend(ready);
    }
}

#[test]
fn an_object_waits_for_the_definition_of_its_kind() {
    let definition = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: toys.example.com }
spec: { group: example.com, names: { kind: Toy } }
---
{ apiVersion: example.com/v1, kind: Toy, metadata: { name: a } }
";
    let texts = app("name: shop\nmanifests: [objects]\n").file("objects/a.yaml", definition);
    assert_eq!(edges(&texts)["Toy/a"], ["CustomResourceDefinition/toys.example.com"]);
}

#[test]
fn a_workload_becomes_namespace_deployment_and_service() {
    let objects = shop().objects();
    let [namespace, deployment, service] = &objects[..3] else { panic!("{objects:?}") };
    assert_eq!(namespace["metadata"]["labels"]["istio-injection"], "enabled");
    let spec = &deployment["spec"];
    assert_eq!(spec["replicas"], 2);
    let container = &spec["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "shop:1");
    assert_eq!(
        container["env"],
        json!([{"name": "ADDRESS", "value": "shop"}, {"name": "LOG", "value": "debug"}])
    );
    assert_eq!(container["ports"][0], json!({"containerPort": 8080, "protocol": "TCP"}));
    assert_eq!(spec["template"]["metadata"]["labels"]["version"], "v1");
    for (key, value) in spec["selector"]["matchLabels"].as_object().unwrap() {
        assert_eq!(&spec["template"]["metadata"]["labels"][key], value);
    }
    assert_eq!(service["spec"]["selector"], spec["selector"]["matchLabels"]);
    assert_eq!(
        service["spec"]["ports"],
        json!([
            {"name": "http-80", "port": 80, "targetPort": 8080, "protocol": "TCP", "appProtocol": "http"},
            {"name": "grpc-api", "port": 9090, "targetPort": 9090, "protocol": "TCP", "appProtocol": "grpc"},
        ])
    );
    let rule = objects.iter().find(|object| object["kind"] == "RequestAuthentication").unwrap();
    assert_eq!(rule["spec"]["selector"], spec["selector"]);
}

#[test]
fn a_namespace_that_is_everybodys_is_not_made_and_none_if_nobody_wants_it() {
    let kinds = |head: &str| -> Vec<Value> {
        let text = format!("name: shop\n{head}workload: {{ image: a }}\n");
        app(&text).objects().into_iter().map(|object| object["kind"].clone()).collect()
    };
    assert_eq!(kinds(""), ["Namespace", "Deployment"]);
    assert_eq!(kinds("namespace: default\n"), ["Deployment"]);
    assert_eq!(kinds("createNamespace: false\n"), ["Deployment"]);
}

#[test]
fn a_name_that_its_objects_cannot_have_is_not_for_apply() {
    let told = |name: &str, head: &str| {
        let built = app(&format!("name: {name}\n{head}")).build();
        let refused: Vec<String> = built.not_for_apply.iter().map(common::line).collect();
        (built.accepted(), refused.len(), refused.join("\n"))
    };
    let long = "a".repeat(60);
    assert_eq!(told("shop", "workload: { image: a }\n").1, 0);
    assert!(
        told("\"2048\"", "workload: { image: a }\n")
            .2
            .contains("the Service `2048`: it must begin with a letter")
    );
    assert_eq!(told("Shop", "").1, 1);
    assert_eq!(told("Shop", "namespace: shop\n").1, 0);
    assert_eq!(told("Shop", "namespace: shop\nworkload: { image: a }\n").1, 1);
    assert!(!told(&long, "").0, "with its stack it is too long for a label");
}

#[test]
fn a_stack_lies_over_the_application_and_the_platform_below_it() {
    let texts = app("\
name: shop
stacks: { dev: {}, prod: { cluster: big, extends: dev } }
istio:
  destinationRules:
    a: { host: a, namespaces: [., b], trafficPolicy: { ejectionSettings: { interval: 1s } } }
    b: { host: b }
")
    .file(
        "app.dev.yaml",
        "istio: { destinationRules: { a: { trafficPolicy: { ejectionSettings: { interval: 2s, consecutiveErrors: 1 } } } } }",
    )
    .file(
        "app.prod.yaml",
        "istio: { destinationRules: { a: { namespaces: [.], trafficPolicy: { ejectionSettings: { interval: 3s } } }, b: null, c: { host: c } } }",
    )
    .file("platform.yaml", "defaults: { destinationRules: { trafficPolicy: { ejectionSettings: { minimumEjectionTime: 9s } } } }");
    let specs: Vec<Value> =
        texts.stack("prod").objects().into_iter().map(|object| object["spec"].clone()).collect();
    let ejection = json!({"interval": "3s", "consecutive5xxErrors": 1, "baseEjectionTime": "9s"});
    assert_eq!(
        specs,
        [
            json!({"host": "a", "exportTo": ["."], "trafficPolicy": {"outlierDetection": ejection}}),
            json!({"host": "c", "trafficPolicy": {"outlierDetection": {"baseEjectionTime": "9s"}}}),
        ]
    );
}

#[test]
fn a_mistake_is_told_in_the_file_that_made_it() {
    let texts = app("name: shop\nistio: { destinationRules: { a: { host: a } } }\nstacks: { dev: {} }\n")
        .file("app.dev.yaml", "istio:\n  destinationRules:\n    a:\n      hosts: b\n      namespaces: [A_b]\n")
        .file(
            "platform.yaml",
            "defaults:\n  destinationRules:\n    trafficPolicy: { loadBalancerSettings: { strategy: FAST } }\n",
        );
    let problems = texts.problems();
    let places: Vec<&str> = problems.iter().map(|problem| problem.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        ["error app.dev.yaml:4:7", "error app.dev.yaml:5:20", "error platform.yaml:3:56"],
        "{problems:#?}"
    );
}

#[test]
fn the_platform_forbids_kinds_and_chooses_the_pods_of_gateways() {
    let text = "\
name: shop
istio:
  gateways: { a: { listeners: [{ port: 80, hosts: ['*'] }] } }
  envoyFilters: { a: { patches: [] } }
";
    let texts =
        app(text).file("platform.yaml", "allowedKinds: [Gateway]\ngatewaySelector: { edge: 'yes' }\n");
    let problems = texts.problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(
        problems[0].starts_with("error app.yaml:4:3: the platform does not allow EnvoyFilter"),
        "{problems:?}"
    );
    assert_eq!(texts.build().spec.resources[0].attributes["spec"]["selector"], json!({"edge": "yes"}));
}

#[test]
fn what_the_platform_forbids_is_forbidden_in_plain_objects_too() {
    let filter =
        "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: { name: a }\nspec: {}\n";
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n";
    let texts = app("name: shop\nmanifests: [objects]\n")
        .file("platform.yaml", "allowedKinds: [Gateway]\n")
        .file("objects/a.yaml", &format!("{filter}{map}"));
    let mut problems = texts.problems();
    problems.retain(|problem| problem.starts_with("error "));
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(
        problems[0].starts_with("error objects/a.yaml:1:1: the platform does not allow EnvoyFilter"),
        "{problems:?}"
    );
}

#[test]
fn a_key_is_the_word_that_was_written() {
    let built = app("name: x\nworkload: { image: i, env: { Y: 'a', on: 'b', no: 'c' } }\nistio: { destinationRules: { n: { host: q } } }\n").build();
    let named = |kind: &str| {
        let mut all = built.spec.resources.iter().map(|resource| &resource.attributes);
        all.find(|object| object["kind"] == kind).unwrap().clone()
    };
    assert_eq!(named("DestinationRule")["metadata"]["name"], "x-n");
    let deployment = named("Deployment");
    let env = deployment.pointer("/spec/template/spec/containers/0/env").unwrap().as_array().unwrap();
    let names: BTreeSet<&str> = env.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["Y", "no", "on"]));
}

#[test]
fn what_is_named_and_not_there_is_a_warning_with_the_nearest_name() {
    let change = |from: &str, to: &str| {
        let problems = shop().file("app.yaml", &SHOP.replace(from, to)).problems();
        assert!(problems.iter().all(|problem| problem.starts_with("warning ")), "{problems:#?}");
        problems.join("\n")
    };
    for (from, to, expected) in [
        (
            "subset: v1 }",
            "subset: v2 }",
            "app.yaml:23:50: no DestinationRule here defines the subset `v2` of `shop.shop.svc.cluster.local` (did you mean `v1`?)",
        ),
        ("gateways: [public]", "gateways: [pubic]", "app.yaml:20:18: there is no Gateway `pubic` here"),
        (
            "delegateTo: { name: pay }",
            "delegateTo: { name: shop }",
            "app.yaml:22:72: there is no VirtualService `shop-shop` without hosts here",
        ),
        (
            "        - { matches",
            "        - { destinations: [{ host: shop }] }\n        - { matches",
            "app.yaml:23:",
        ),
    ] {
        let told = change(from, to);
        assert!(told.contains(expected), "{told}");
    }
    assert!(shop().build().diagnostics.is_empty());
    assert_eq!(change("gateways: [public]", "gateways: [edge/public]"), "");
}

#[test]
fn a_key_is_the_name_that_it_gives_also_from_another_namespace() {
    let text = "\
name: shop
istio:
  gateways: { public: { listeners: [{ port: 80, hosts: ['*'] }] } }
  virtualServices:
    here: { hosts: [a.b], gateways: [public], httpRoutes: [{ destinations: [{ host: a }] }] }
    there: { namespace: other, hosts: [c.d], gateways: [public], httpRoutes: [{ destinations: [{ host: a }] }] }
";
    let objects = app(text).objects();
    let gateways: Vec<&Value> = objects[1..].iter().map(|object| &object["spec"]["gateways"][0]).collect();
    assert_eq!(gateways, ["shop-public", "shop/shop-public"]);
}

#[test]
fn weights_that_are_no_percents_are_worth_a_word() {
    let problems = |weights: [u32; 2]| {
        let [first, second] = weights;
        let text = format!(
            "name: shop\nistio:\n  virtualServices:\n    a:\n      hosts: [a]\n      httpRoutes:\n      - destinations: \
             [{{host: a, weight: {first}}}, {{host: b, weight: {second}}}]\n"
        );
        app(&text).problems()
    };
    assert_eq!(problems([40, 60]), Vec::<String>::new());
    assert_eq!(problems([1, 2]), ["info app.yaml:7:9: the weights come to 3, not to 100"]);
    let none = problems([0, 0]);
    assert!(none.len() == 1 && none[0].starts_with("error app.yaml:7:"), "{none:?}");
}

#[test]
fn a_second_sidecar_for_a_whole_namespace_is_a_warning_with_both_lines() {
    let built = app("name: shop\nistio:\n  sidecars:\n    a: { reachableHosts: [./*] }\n    b: { reachableHosts: [./*] }\n    c: { reachableHosts: [./*], workloadSelector: self }\n").build();
    assert_eq!(built.diagnostics.len(), 1, "{}", told(&built));
    let places =
        [built.diagnostics[0].place.as_ref(), built.diagnostics[0].related.first().map(|one| &one.place)];
    assert_eq!(places.map(|place| place.unwrap().to_string()), ["app.yaml:5:5", "app.yaml:4:5"]);
}

#[test]
fn without_a_name_only_that_is_told() {
    let problems =
        app("istio: { destinationRules: { a: { host: a } } }\nworkload: { image: a }\n").problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].starts_with("error app.yaml:1:1: `name` is missing"), "{problems:#?}");
}

#[test]
fn a_namespace_that_is_made_and_written_is_told_with_the_way_out() {
    let text = "name: shop\nworkload: { image: a }\nmanifests: [objects]\n";
    let namespace = "{ apiVersion: v1, kind: Namespace, metadata: { name: shop } }\n";
    let problems = app(text).file("objects/a.yaml", namespace).problems();
    let expected = "error objects/a.yaml:1:1: there are two objects Namespace shop (`createNamespace: false` leaves it to the other)";
    assert_eq!(problems, [expected]);
}

#[test]
fn plain_objects_are_checked_too_at_their_own_lines() {
    let text = "name: shop\nmanifests: [objects]\nistio: { destinationRules: { a: { host: a } } }\n";
    let objects = "\
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: shop-a }
spec: { host: a..b }
---
kind: Secret
---
a: [
";
    let problems = app(text).file("objects/a.yaml", objects).problems();
    for expected in [
        "error objects/a.yaml:4:15: domain name \"a..b\" invalid",
        "error objects/a.yaml:6:1: this is no Kubernetes object: it has no apiVersion, no metadata.name",
        "error objects/a.yaml:8:4: ",
        "error app.yaml:3:30: there are two objects DestinationRule shop/shop-a",
    ] {
        assert!(
            problems.iter().any(|problem| problem.starts_with(expected)),
            "no {expected} in {problems:#?}"
        );
    }
}

#[test]
fn a_key_that_stands_twice_and_a_stack_that_nobody_chose_hide_nothing_else() {
    let text = "\
name: shop
name: other
stacks: { dev: {}, prod: {}, round: { extends: trip }, trip: { extends: round } }
istio:
  destinationRules:
    a: { hos: a }
";
    let texts = app(text)
        .file("app.dev.yaml", "stacks: {}\nistio: { destinationRules: { a: { host: 1 } } }\n")
        .file("app.prod.yaml", "istio: { destinationRules: { a: { host: b, namespaces: x } } }\n");
    let all = texts.problems();
    for expected in [
        "error app.yaml:2:1: the key `name` is in this map already (remove one of them)",
        "error app.yaml:3:1: there are several stacks, and none is chosen (--stack dev|prod|round|trip)",
        "error app.yaml:3:73: stacks extend each other in a circle: round → trip → round",
        "error app.yaml:6:10: there is no attribute `hos` here",
        "error app.dev.yaml:1:1: `stacks` can only stand in app.yaml",
        "error app.dev.yaml:2:41: `host` must be",
        "error app.prod.yaml:1:56: `namespaces` must be a list",
    ] {
        let found = all.iter().filter(|problem| problem.starts_with(expected)).count();
        assert_eq!(found, 1, "{expected} in {all:#?}");
    }
    assert_eq!(all.len(), 7, "{all:#?}");
    // Of one that is chosen there is less to say, but nothing is silent.
    let one = texts.stack("prod").problems();
    assert_eq!(one.len(), 4, "{one:#?}");
}

#[test]
fn an_overlay_and_a_platform_that_say_nothing_change_nothing() {
    let text = "name: shop\nstacks: { dev: {} }\nistio: { destinationRules: { a: { host: a } } }\n";
    let alone = app(text).objects();
    let empty = app(text).file("app.dev.yaml", "# later\n").file("platform.yaml", "").objects();
    assert_eq!(alone, empty);
}

#[test]
fn how_a_plain_service_calls_its_ports_is_a_doubt_unless_kubernetes_refuses_it() {
    let told = |ports: &str| {
        let service =
            format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: a }}\nspec: {{ ports: {ports} }}\n");
        let texts = app("name: shop\nmanifests: [objects]\n").file("objects/a.yaml", &service);
        (texts.build().accepted(), texts.problems())
    };
    for (ports, accepted, sentence) in [
        ("[{ port: 80 }]", true, "warning objects/a.yaml:4:17: `ports[0]` has no name"),
        ("[{ port: 80, name: web }]", true, "warning objects/a.yaml:4:35: `name` is \"web\""),
        (
            "[{ port: 80 }, { port: 81, name: http }]",
            false,
            "error objects/a.yaml:4:17: `ports[0]` has no name",
        ),
    ] {
        let (is_accepted, problems) = told(ports);
        assert_eq!((is_accepted, problems.len()), (accepted, 1), "{problems:#?}");
        assert!(problems[0].starts_with(sentence), "{problems:#?}");
    }
}

#[test]
fn a_name_that_kubernetes_refuses_is_told_where_a_plain_object_has_it() {
    let object = |kind: &str, name: &str| {
        format!("---\napiVersion: {kind}\nmetadata:\n  name: \"{name}\"\n  namespace: \"shop\"\n")
    };
    let role = "rbac.authorization.k8s.io/v1\nkind: ClusterRole";
    for (kind, name, good) in [
        ("v1\nkind: ConfigMap", "a.b", true),
        ("v1\nkind: ConfigMap", "Bad_N", false),
        ("v1\nkind: Service", "9a", false),
        ("v1\nkind: Service", "a.b", false),
        ("v1\nkind: Namespace", "a.b", false),
        (role, "system:shop", true),
        (role, "a/b", false),
    ] {
        let texts = app("name: shop\nmanifests: [objects]\n").file("objects/a.yaml", &object(kind, name));
        let problems = texts.problems();
        assert_eq!(problems.is_empty(), good, "{problems:#?}");
        let expected = format!("error objects/a.yaml:5:9: Kubernetes refuses the name `{name}`: it must ");
        assert!(good || problems[0].starts_with(&expected), "{problems:#?}");
    }
    let elsewhere = object("v1\nkind: ConfigMap", "a").replace("\"shop\"", "\"A.b\"");
    let problems = app("name: shop\nmanifests: [objects]\n").file("objects/a.yaml", &elsewhere).problems();
    assert!(
        problems[0].starts_with("error objects/a.yaml:6:14: Kubernetes refuses the namespace `A.b`"),
        "{problems:?}"
    );
}

#[test]
fn the_platforms_defaults_are_checked_though_nobody_uses_them_and_told_once_if_many_do() {
    let platform = "defaults:\n  destinationRules:\n    trafficPolicy: { loadBalancerSettings: { strategy: FAST } }\n  gateways: { selector: 1 }\n";
    let expected = ["error platform.yaml:3:56: ", "error platform.yaml:4:25: "];
    for blocks in ["", "istio: { destinationRules: { a: { host: a }, b: { host: b } } }\n"] {
        let problems = app(&format!("name: shop\n{blocks}")).file("platform.yaml", platform).problems();
        assert_eq!(problems.len(), 2, "{problems:#?}");
        assert!(
            problems.iter().zip(expected).all(|(problem, start)| problem.starts_with(start)),
            "{problems:#?}"
        );
    }
}

#[test]
fn whether_a_kind_lives_in_a_namespace_is_what_its_definition_says() {
    let definition = |scope: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{ name: toys.example.com }}\n\
             spec: {{ group: example.com, scope: {scope}, names: {{ kind: Toy }} }}\n---\n"
        )
    };
    let toy = "{ apiVersion: example.com/v1, kind: Toy, metadata: { name: a } }\n";
    for (scope, namespace) in [("Cluster", Value::Null), ("Namespaced", json!("shop"))] {
        let texts = app("name: shop\nmanifests: [objects]\n")
            .file("objects/a.yaml", &format!("{}{toy}", definition(scope)));
        assert_eq!(texts.objects()[1]["metadata"]["namespace"], namespace);
        assert_eq!(texts.problems(), Vec::<String>::new());
    }
    let alone = app("name: shop\nmanifests: [objects]\n").file("objects/a.yaml", toy);
    assert!(
        alone.problems()[0]
            .starts_with("info objects/a.yaml:1:1: whether Toy of example.com/v1 lives in a namespace")
    );
    let binding = "{ apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: { name: a } }\n";
    let builtin = app("name: shop\nmanifests: [objects]\n").file("objects/a.yaml", binding);
    assert_eq!(builtin.objects()[0]["metadata"]["namespace"], Value::Null);
}

#[test]
fn of_two_objects_of_one_name_the_lower_line_is_the_second() {
    let text = "name: shop\nistio:\n  virtualServices:\n    z: { name: same, hosts: [a.b], httpRoutes: [{ destinations: [{ host: a }] }] }\n    a: { name: same, hosts: [c.d], httpRoutes: [{ destinations: [{ host: a }] }] }\n";
    let built = app(text).build();
    let twice = &built.diagnostics[0];
    let places = [twice.place.as_ref().unwrap(), &twice.related[0].place].map(ToString::to_string);
    assert_eq!(places, ["app.yaml:5:5", "app.yaml:4:5"], "{}", told(&built));
}

#[test]
fn what_denies_everything_is_said_in_so_many_words() {
    let policy =
        |block: &str| app(&format!("name: shop\nistio:\n  authorizationPolicies:\n    one: {block}\n"));
    let denies =
        "a policy without `rules` denies everything (`denyAll: true` says so; `rules` say what is allowed)";
    for block in [
        "{}",
        "{ workloadSelector: self }",
        "{ action: ALLOW }",
        "{ attachTo: [Gateway/a] }",
        "{ override: { action: ALLOW } }",
    ] {
        assert_eq!(policy(block).problems(), [format!("error app.yaml:4:5: {denies}")], "{block}");
    }
    assert_eq!(policy("{ rules: [] }").problems(), [format!("error app.yaml:4:12: {denies}")]);
    for (block, name) in [("{ denyAll: false }", "denyAll"), ("{ allowAll: false }", "allowAll")] {
        let column = 4 + block.find("false").unwrap() + 6;
        let hint = "remove the block with null, or say with `rules` what is allowed";
        let said = format!("error app.yaml:4:{column}: `{name}` must be true, the only value ({hint})");
        assert_eq!(policy(block).problems(), [said]);
    }
    assert_eq!(policy("{ denyAll: true }").objects()[0]["spec"], json!({}));
    assert_eq!(policy("{ override: { rules: [{}] } }").objects()[0]["spec"], json!({"rules": [{}]}));
    // An overlay takes it back.
    let base =
        "name: shop\nstacks: { dev: {} }\nistio: { authorizationPolicies: { one: { denyAll: true } } }\n";
    let over = "istio: { authorizationPolicies: { one: null } }\n";
    assert!(app(base).file("app.dev.yaml", over).objects().is_empty());
    // Whoever asks for a token, and takes none.
    let tokens =
        |block: &str| app(&format!("name: shop\nistio:\n  requestAuthentications:\n    one: {block}\n"));
    for block in ["{ required: true }", "{ jwt: [], required: true }"] {
        let told = tokens(block).problems();
        assert!(
            told.len() == 1 && told[0].contains("`required` without `jwt` refuses every request"),
            "{told:?}"
        );
    }
    assert!(tokens("{ required: false }").build().accepted());
}

#[test]
fn a_name_that_no_record_can_have_is_told_where_it_is_written() {
    let (fine, long) = ("a".repeat(50), "a".repeat(51));
    let app_of = |name: &str, stack: &str| {
        app(&format!(
            "name: {name}\nnamespace: place\nstacks: {{ {stack}: {{}} }}\nistio: {{ proxyConfigs: {{ a: {{}} }} }}\n"
        ))
    };
    assert_eq!(app_of(&fine, "dev").problems(), Vec::<String>::new());
    assert_eq!(app_of("a", &fine).problems(), Vec::<String>::new());
    let said = "must have at most 50 characters";
    assert_eq!(app_of(&long, "dev").problems(), [format!("error app.yaml:1:7: `name` {said}, not `{long}`")]);
    assert_eq!(app_of("a", &long).problems(), [format!("error app.yaml:3:11: the key `{long}` {said}")]);
}

#[test]
fn what_stands_below_a_bad_key_is_told_too() {
    let text = "name: shop\nlabels: { 'a b': 1 }\nistio:\n  destinationRules:\n    'a!': { hos: b }\n    'b!': { host: b, override: { hots: c } }\n    c: { host: c }\n";
    let built = app(text).build();
    let told: Vec<String> = built.diagnostics.iter().map(common::line).collect();
    let expected = [
        "error app.yaml:2:11: the key `a b` must be",
        "error app.yaml:2:18: `a b` must be text",
        "error app.yaml:5:5: the key `a!` must be",
        "error app.yaml:5:5: `host` is missing",
        "error app.yaml:5:13: there is no attribute `hos` here (did you mean `host`?)",
        "error app.yaml:6:5: the key `b!` must be",
        "error app.yaml:6:34: `hots` is an unknown field",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for expected in expected {
        assert!(told.iter().any(|told| told.starts_with(expected)), "no {expected} in {told:#?}");
    }
    let names: Vec<&str> =
        built.spec.resources.iter().map(|one| one.id.rsplit(':').next().unwrap()).collect();
    assert_eq!(names, ["shop-c"]);
}

#[test]
fn an_overlay_of_no_stack_is_told_and_one_that_looks_like_another_is_an_error() {
    let base = "name: shop\nstacks: { dev: {}, staging: {} }\n";
    let with = |file: &str| app(base).stack("dev").file(file, "labels: { a: b }\n").problems();
    assert_eq!(with("app.dev.yaml"), Vec::<String>::new());
    assert_eq!(with("app.staging.yaml"), Vec::<String>::new());
    let said = |stack: &str| format!("app.{stack}.yaml is read for no stack: there is no stack `{stack}`");
    assert_eq!(
        with("app.prod.yaml"),
        [format!(
            "warning app.prod.yaml: {} (`stacks: {{ prod: {{}} }}` in app.yaml makes it one)",
            said("prod")
        )]
    );
    assert_eq!(
        with("app.stagin.yaml"),
        [format!("error app.stagin.yaml: {} (did you mean app.staging.yaml?)", said("stagin"))]
    );
    let alone = app("name: shop\n").file("app.default.yaml", "labels: { a: b }\n").file("app.dev.yaml", "");
    let told = alone.problems();
    assert!(
        told.len() == 1 && told[0].starts_with("warning app.dev.yaml: app.dev.yaml is read for"),
        "{told:?}"
    );
}

#[test]
fn an_object_of_the_name_of_a_record_is_refused() {
    let secret = |name: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: {name} }}\n");
    let with = |name: &str| app("name: shop\nmanifests: [m]\n").file("m/a.yaml", &secret(name)).problems();
    for name in ["mizzen-app.shop.default", "mizzen-app.shop.default.r3", "mizzen-app.shop.default.r3.2"] {
        let said = format!("releases of shop/default are recorded under the name `{name}`");
        let hint = "records are written by `apply` alone: take the object out";
        assert_eq!(with(name), [format!("error m/a.yaml:3:19: {said} ({hint})")]);
    }
    assert_eq!(with("mizzen-app.other.default"), Vec::<String>::new());
}
