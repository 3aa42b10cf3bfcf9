//! What upstream's manifest-generate test asserts beside its goldens, on the same inputs and the module's charts.
#![allow(clippy::unwrap_used, reason = "a test may end at a surprise")]

mod upstream;

use std::collections::BTreeMap;

use mizzen_install::{Generated, Images, Input, Manifest, generate, get_path, printed};
use mizzen_testkit::needs;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::{Value, json};
use upstream::{Snapshot, documents, input, live, module, run, selected, try_run};

fn all(generated: &Generated) -> Vec<&Manifest> {
    generated.components.iter().flat_map(|set| &set.objects).collect()
}

fn find<'g>(generated: &'g Generated, kind: &str, name: &str) -> Option<&'g Value> {
    all(generated).into_iter().find(|it| it.kind() == kind && it.name() == name).map(|it| it.object())
}

fn get<'g>(generated: &'g Generated, kind: &str, name: &str) -> &'g Value {
    find(generated, kind, name).unwrap_or_else(|| panic!("no {kind} {name}"))
}

fn at(object: &Value, path: &str) -> Value {
    get_path(object, path).cloned().unwrap_or_default()
}

fn container(generated: &Generated, kind: &str, name: &str, container: &str) -> Value {
    at(get(generated, kind, name), &format!("spec.template.spec.containers.[name:{container}]"))
}

fn count(generated: &Generated, kind: &str, name_part: &str) -> usize {
    all(generated).iter().filter(|it| it.kind() == kind && it.name().contains(name_part)).count()
}

#[test]
fn a_component_has_its_own_hub_and_tag() {
    needs!(upstream::NEEDS);
    let generated = run(&["component_hub_tag"], &[]);
    for (kind, name, within, image) in [
        (
            "Deployment",
            "istio-ingressgateway",
            "istio-proxy",
            "istio-spec.hub/proxyv2:istio-spec.tag-global.variant",
        ),
        ("Deployment", "istiod", "discovery", "component.pilot.hub/pilot:2-global.variant"),
        ("DaemonSet", "istio-cni-node", "install-cni", "component.cni.hub/install-cni:v3.3.3-global.variant"),
        ("DaemonSet", "ztunnel", "istio-proxy", "component.ztunnel.hub/ztunnel:4-global.variant"),
    ] {
        assert_eq!(container(&generated, kind, name, within)["image"], image);
    }
}

#[test]
fn gateways_have_their_own_tags() {
    needs!(upstream::NEEDS);
    let generated = run(&["gateways-with-custom-tags-and-no-labels"], &[]);
    for (name, tag) in [("istio-ingressgateway", ":special-tag"), ("istio-egressgateway", ":special-tag2")] {
        let image = container(&generated, "Deployment", name, "istio-proxy")["image"].to_string();
        assert!(image.ends_with(&format!("{tag}\"")), "{image}");
    }
}

#[test]
fn three_gateways_have_what_each_was_told() {
    needs!(upstream::NEEDS);
    let generated = run(
        &["gateways"],
        &[
            "components.ingressGateways.[0].k8s.resources.requests.memory=999Mi",
            "components.ingressGateways.[name:user-ingressgateway].k8s.resources.requests.cpu=555m",
            "values.gateways.istio-ingressgateway.autoscaleMin=2",
        ],
    );
    for (kind, name) in [
        ("HorizontalPodAutoscaler", ""),
        ("PodDisruptionBudget", ""),
        ("Role", "gateway"),
        ("RoleBinding", "gateway"),
        ("ServiceAccount", "gateway"),
    ] {
        assert_eq!(count(&generated, kind, name), 3, "{kind}");
    }
    let services = all(&generated).into_iter().filter(|it| it.kind() == "Service");
    assert_eq!(services.filter(|it| at(it.object(), "metadata.labels.istio") == "ingressgateway").count(), 3);
    let requests = |name: &str| {
        container(&generated, "Deployment", name, "istio-proxy")["resources"]["requests"].clone()
    };
    let label =
        |name: &str, label: &str| at(get(&generated, "Deployment", name), "metadata.labels")[label].clone();
    assert_eq!(requests("istio-ingressgateway"), json!({"cpu": "111m", "memory": "999Mi"}));
    assert_eq!(requests("user-ingressgateway"), json!({"cpu": "555m", "memory": "888Mi"}));
    assert_eq!(requests("ilb-gateway")["cpu"], "333m");
    let pod = at(get(&generated, "Deployment", "istio-ingressgateway"), "spec.template.metadata.labels");
    assert_eq!(pod["service.istio.io/canonical-revision"], "21");
    for (name, key, value) in [
        ("istio-ingressgateway", "aaa", "aaa-val"),
        ("istio-ingressgateway", "bbb", "bbb-val"),
        ("user-ingressgateway", "ccc", "ccc-val"),
        ("user-ingressgateway", "ddd", "ddd-val"),
        ("ilb-gateway", "app", "istio-ingressgateway"),
        ("ilb-gateway", "istio", "ingressgateway"),
        ("ilb-gateway", "release", "istio"),
    ] {
        assert_eq!(label(name, key), value, "{name} {key}");
    }
    let ilb = container(&generated, "Deployment", "ilb-gateway", "istio-proxy");
    assert_eq!(at(&ilb, "env.[name:PILOT_CERT_PROVIDER].value"), "foobar");
    let service = get(&generated, "Service", "ilb-gateway");
    assert_eq!(at(service, "metadata.annotations")["cloud.google.com/load-balancer-type"], "internal");
    let ports: Vec<_> = (0..3).map(|index| at(service, &format!("spec.ports[{index}]"))).collect();
    assert_eq!((&ports[0]["name"], &ports[0]["port"]), (&json!("grpc-pilot-mtls"), &json!(15011)));
    assert_eq!(ports[1]["name"], "tcp-citadel-grpc-tls");
    assert_eq!((&ports[1]["port"], &ports[1]["targetPort"]), (&json!(8060), &json!(8060)));
    assert_eq!((&ports[2]["name"], &ports[2]["port"]), (&json!("tcp-dns"), &json!(5353)));
    for scaler in all(&generated).into_iter().filter(|it| it.kind() == "HorizontalPodAutoscaler") {
        assert_eq!(
            (at(scaler.object(), "spec.minReplicas"), at(scaler.object(), "spec.maxReplicas")),
            (json!(2), json!(5))
        );
    }
    bindings_have_their_roles(&generated);
}

fn bindings_have_their_roles(generated: &Generated) {
    for binding in
        all(generated).into_iter().filter(|it| matches!(it.kind(), "RoleBinding" | "ClusterRoleBinding"))
    {
        let (kind, name) = (at(binding.object(), "roleRef.kind"), at(binding.object(), "roleRef.name"));
        assert!(
            find(generated, kind.as_str().unwrap(), name.as_str().unwrap()).is_some(),
            "{}",
            binding.key()
        );
    }
}

#[test]
fn the_objects_of_three_gateways_are_one_set() {
    needs!(upstream::NEEDS);
    let generated = run(&["gateways"], &[]);
    assert_eq!(generated.components.len(), 1);
    assert_eq!(generated.components[0].objects.len(), 18);
}

#[test]
fn a_remote_cluster_finds_its_control_plane() {
    needs!(upstream::NEEDS);
    for (file, slice, address, injection) in [
        ("istiod_remote", "istiod", "169.10.112.88", json!({"url": "https://xxx:15017/inject"})),
        ("istiod_remote_ipv6", "istiod", "2001:db8::1", json!({"url": "https://xxx:15017/inject"})),
        ("istiod_remote_config", "istiod", "169.10.112.88", json!({"service": "istiod"})),
        ("istiod_remote_local", "istiod-remote", "169.10.112.88", json!({"service": "istiod"})),
    ] {
        let generated = run(&[file], &[]);
        for crd in ["destinationrules.networking", "gateways.networking", "authorizationpolicies.security"] {
            get(&generated, "CustomResourceDefinition", &format!("{crd}.istio.io"));
        }
        get(&generated, "Service", "istiod");
        get(&generated, "Service", slice);
        get(&generated, "ServiceAccount", "istio-reader-service-account");
        let slice = get(&generated, "EndpointSlice", slice);
        assert_eq!(at(slice, "endpoints[0].addresses[0]"), address, "{file}");
        assert_eq!(at(slice, "ports[0].name"), "tcp-istiod", "{file}");
        assert_eq!(at(slice, "ports[0].port"), 15012, "{file}");
        let client = at(
            get(&generated, "MutatingWebhookConfiguration", "istio-sidecar-injector"),
            "webhooks[0].clientConfig",
        );
        assert_eq!(client.get("url"), injection.get("url"), "{file}");
        if injection.get("service").is_some() {
            assert_eq!(at(&client, "service.name"), injection["service"], "{file}");
        }
        bindings_have_their_roles(&generated);
    }
}

#[test]
fn the_validation_webhook_of_a_remote_cluster_is_where_its_injection_is() {
    needs!(upstream::NEEDS);
    let client = |file: &str| {
        let generated = run(&[file], &[]);
        at(
            get(&generated, "ValidatingWebhookConfiguration", "istio-validator-istio-system"),
            "webhooks[0].clientConfig",
        )
    };
    assert_eq!(client("istiod_remote_config")["url"], "https://xxx:15017/validate");
    let local = client("istiod_remote_local");
    assert_eq!(at(&local, "service.name"), "istiod");
    get(&run(&["istiod_remote_local"], &[]), "Deployment", "istiod");
}

#[test]
fn an_address_of_six_is_no_external_name() {
    needs!(upstream::NEEDS);
    let generated = run(&["istiod_remote_ipv6"], &[]);
    let spec = &get(&generated, "Service", "istiod")["spec"];
    assert!(spec.get("externalName").is_none() && spec.get("type").is_none(), "{spec}");
    assert_eq!(get(&generated, "EndpointSlice", "istiod")["addressType"], "IPv6");
}

#[test]
fn the_reader_is_there_unless_it_is_switched_off_or_replaced() {
    needs!(upstream::NEEDS);
    const OFF: &str = "values.global.enableReaderRBAC=false";
    const OWN: [&str; 2] = [
        "values.global.readerServiceAccount.name=custom-reader",
        "values.global.readerServiceAccount.namespace=custom-ns",
    ];
    for (file, sets, account, roles, own) in [
        ("default", vec![], true, 1, false),
        ("default", vec!["revision=canary"], true, 1, false),
        ("default", vec![OFF, "revision=canary"], false, 0, false),
        ("default", vec![OFF], false, 0, false),
        ("minimal", vec![OFF], false, 0, false),
        ("default", [&[OFF], &OWN[..]].concat(), false, 0, false),
        ("default", OWN.to_vec(), false, 1, true),
    ] {
        let sets = [&["values.global.resourceScope=all"], &sets[..]].concat();
        let generated = run(&[file], &sets);
        assert_eq!(
            find(&generated, "ServiceAccount", "istio-reader-service-account").is_some(),
            account,
            "{sets:?}"
        );
        for kind in ["ClusterRole", "ClusterRoleBinding"] {
            assert_eq!(count(&generated, kind, "istio-reader-clusterrole"), roles, "{sets:?}");
        }
        assert_eq!(printed(&generated).contains("namespace: custom-ns"), own, "{sets:?}");
    }
}

#[test]
fn with_everything_off_there_is_nothing() {
    needs!(upstream::NEEDS);
    assert_eq!(printed(&run(&["all_off"], &[])), "");
}

#[test]
fn flags_beat_files() {
    needs!(upstream::NEEDS);
    get(&run(&["empty"], &["profile=minimal"]), "Deployment", "istiod");
    let generated = run(&["minimal"], &["hub=foo", "tag=bar"]);
    assert_eq!(container(&generated, "Deployment", "istiod", "discovery")["image"], "foo/pilot:bar");
}

#[test]
fn a_value_may_have_commas() {
    needs!(upstream::NEEDS);
    let ranges = "values.global.proxy.includeIPRanges=172.30.0.0/16,172.21.0.0/16";
    let generated = run(&["default"], &["values.global.proxy.image=myproxy", ranges]);
    let image = container(&generated, "Deployment", "istio-ingressgateway", "istio-proxy")["image"].clone();
    assert_eq!(image, "registry.istio.io/testing/myproxy:latest");
    let values = at(get(&generated, "ConfigMap", "istio-sidecar-injector"), "data.values");
    assert!(values.as_str().unwrap().contains(r#""includeIPRanges": "172.30.0.0/16,172.21.0.0/16""#));
}

#[test]
fn the_images_of_the_program_stand_between_profile_and_user() {
    needs!(upstream::NEEDS);
    let images = Images { hub: "testHub".to_owned(), tag: "testTag".to_owned() };
    // Forced, as upstream's test does it: no hub has large letters.
    let mut input = Input { images: Some(images), force: true, ..Input::default() };
    let merged = generate(&input, &live()).unwrap().merged.tree;
    assert_eq!((at(&merged, "spec.hub"), at(&merged, "spec.tag")), (json!("testHub"), json!("testTag")));
    input.sets.push("tag=mine".to_owned());
    let merged = generate(&input, &live()).unwrap().merged.tree;
    assert_eq!(at(&merged, "spec.values.global.tag"), "mine");
}

#[test]
fn the_same_input_gives_the_same_text() {
    needs!(upstream::NEEDS);
    let charts = Snapshot::open();
    let text = || printed(&generate(&input(&["all_on"], &[]), &charts).unwrap());
    assert_eq!(text(), text());
}

#[test]
fn revision_is_an_alias() {
    needs!(upstream::NEEDS);
    let charts = Snapshot::open();
    let set = generate(&input(&["all_on"], &["revision=foo"]), &charts).unwrap();
    let alias = Input { revision: Some("foo".to_owned()), ..input(&["all_on"], &[]) };
    assert_eq!(printed(&set), printed(&generate(&alias, &charts).unwrap()));
}

#[test]
fn the_second_file_is_laid_on_the_first() {
    needs!(upstream::NEEDS);
    let charts = Snapshot::open();
    let text = printed(&generate(&input(&["all_off", "helm_values_enablement"], &[]), &charts).unwrap());
    let golden = "operator/cmd/mesh/testdata/manifest-generate/output/helm_values_enablement.golden.yaml";
    let selector = "Deployment:*:istio-egressgateway, Service:*:istio-egressgateway";
    assert_eq!(selected(&text, selector).0, std::fs::read_to_string(module(golden)).unwrap());
}

#[test]
fn a_key_with_nothing_behind_it_says_nothing() {
    needs!(upstream::NEEDS);
    let plain = printed(&run(&["default"], &[]));
    for file in ["bare_spec", "bare_values"] {
        assert_eq!(printed(&run(&[file], &[])), plain, "{file}");
    }
    run(&["bogus_cps"], &[]);
}

#[test]
fn a_file_holds_one_operator() {
    needs!(upstream::NEEDS);
    let refused = try_run(&["multiple_iops"], &[]).unwrap_err().to_string();
    assert!(
        refused.contains("contains multiple IstioOperator CRs, only one per file is supported"),
        "{refused}"
    );
    assert!(refused.starts_with("multiple_iops.yaml:7:1: "), "{refused}");
}

#[test]
fn a_wrong_kubernetes_setting_is_refused_where_it_stands() {
    needs!(upstream::NEEDS);
    for file in ["invalid-k8s", "invalid-k8s-values"] {
        let refused = try_run(&[file], &[]).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{file}.yaml:")), "{refused}");
    }
}

#[test]
fn no_line_ends_in_a_blank() {
    needs!(upstream::NEEDS);
    let text = printed(&run(&[], &["values.gateways.istio-egressgateway.enabled=true"]));
    let blank = text.lines().position(|line| line.ends_with(' '));
    assert_eq!(blank, None);
    assert_eq!(documents(&text).len(), 45);
}

type Labels = BTreeMap<String, String>;

fn labels(object: &Value, path: &str) -> Labels {
    let map = at(object, path);
    map.as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()))
        .collect()
}

fn selects(selector: &Labels, labels: &Labels) -> bool {
    selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

const TWO_REPLICAS: [&str; 4] = [
    "values.gateways.istio-egressgateway.enabled=true",
    "values.gateways.istio-ingressgateway.autoscaleMin=2",
    "values.gateways.istio-egressgateway.autoscaleMin=2",
    "values.pilot.autoscaleMin=2",
];

#[test]
fn what_refers_to_a_deployment_finds_it() {
    needs!(upstream::NEEDS);
    let plain = run(&[], &TWO_REPLICAS);
    let canary = run(&[], &[&TWO_REPLICAS[..], &["revision=canary"]].concat());
    for (generated, name, immutable) in [
        (&plain, "istiod", json!({"istio": "pilot"})),
        (&plain, "istio-ingressgateway", json!({"app": "istio-ingressgateway", "istio": "ingressgateway"})),
        (&plain, "istio-egressgateway", json!({"app": "istio-egressgateway", "istio": "egressgateway"})),
        (&canary, "istiod-canary", json!({"app": "istiod", "istio.io/rev": "canary"})),
    ] {
        let deployment = get(generated, "Deployment", name);
        let pod = labels(deployment, "spec.template.metadata.labels");
        assert!(selects(
            &labels(get(generated, "PodDisruptionBudget", name), "spec.selector.matchLabels"),
            &pod
        ));
        assert!(selects(&labels(get(generated, "Service", name), "spec.selector"), &pod));
        assert!(selects(&labels(deployment, "spec.selector.matchLabels"), &pod));
        assert_eq!(at(get(generated, "HorizontalPodAutoscaler", name), "spec.scaleTargetRef.name"), name);
        let account = at(deployment, "spec.template.spec.serviceAccountName");
        get(generated, "ServiceAccount", account.as_str().unwrap());
        assert_eq!(at(deployment, "spec.selector.matchLabels"), immutable, "{name}");
    }
}

#[test]
fn revisions_do_not_select_each_other() {
    needs!(upstream::NEEDS);
    let plain = run(&[], &TWO_REPLICAS);
    let canary = run(&[], &[&TWO_REPLICAS[..], &["revision=canary"]].concat());
    let selectors = |generated: &Generated, name: &str| {
        [
            labels(get(generated, "Service", name), "spec.selector"),
            labels(get(generated, "PodDisruptionBudget", name), "spec.selector.matchLabels"),
        ]
    };
    let pod = |generated: &Generated, name: &str| {
        labels(get(generated, "Deployment", name), "spec.template.metadata.labels")
    };
    let old: Labels =
        [("app", "istiod"), ("istio", "pilot")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    for selector in selectors(&plain, "istiod") {
        assert!(!selects(&selector, &pod(&canary, "istiod-canary")));
        assert!(selects(&selector, &old));
    }
    for selector in selectors(&canary, "istiod-canary") {
        assert!(!selects(&selector, &pod(&plain, "istiod")));
        assert!(!selects(&selector, &old));
    }
}

fn webhooks(sets: &[&str], name: &str) -> Vec<Value> {
    at(get(&run(&[], sets), "MutatingWebhookConfiguration", name), "webhooks").as_array().unwrap().clone()
}

/// A selector as Kubernetes reads it.
fn matches(selector: &Value, labels: &[(&str, &str)]) -> bool {
    let label = |key: &Value| labels.iter().find(|(name, _)| key == *name).map(|(_, value)| *value);
    let exact = at(selector, "matchLabels");
    let exact =
        exact.as_object().into_iter().flatten().all(|(key, value)| label(&json!(key)) == value.as_str());
    let expressions = at(selector, "matchExpressions");
    exact
        && expressions.as_array().into_iter().flatten().all(|expression| {
            let found = label(&expression["key"]);
            let values = expression["values"].as_array().cloned().unwrap_or_default();
            let listed = found.is_some_and(|value| values.contains(&json!(value)));
            match expression["operator"].as_str().unwrap() {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                other => panic!("{other}"),
            }
        })
}

#[test]
fn every_pod_is_injected_by_the_one_revision_that_it_means() {
    needs!(upstream::NEEDS);
    const REVISION: (&str, &str) = ("istio.io/rev", "canary");
    const ON: (&str, &str) = ("istio-injection", "enabled");
    const OFF: (&str, &str) = ("istio-injection", "disabled");
    const POD_ON: (&str, &str) = ("sidecar.istio.io/inject", "true");
    const POD_OFF: (&str, &str) = ("sidecar.istio.io/inject", "false");
    let namespaces: [&[(&str, &str)]; 6] =
        [&[], &[REVISION], &[ON], &[OFF], &[ON, REVISION], &[OFF, REVISION]];
    let pods: [&[(&str, &str)]; 6] =
        [&[], &[REVISION], &[POD_ON], &[POD_OFF], &[POD_ON, REVISION], &[POD_OFF, REVISION]];
    let canary = webhooks(&["revision=canary"], "istio-sidecar-injector-canary");
    let auto = "values.sidecarInjectorWebhook.enableNamespacesByDefault=true";
    let mut checked = 0;
    for (sets, unlabelled) in [(&[][..], ""), (&[auto][..], "istiod")] {
        let all = [webhooks(sets, "istio-sidecar-injector"), canary.clone()].concat();
        for namespace in namespaces {
            for pod in pods {
                let has = |label| namespace.contains(&label) || pod.contains(&label);
                let expected = match () {
                    () if has(OFF) || has(POD_OFF) => "",
                    // The namespace's older label decides, whatever a revision says.
                    () if namespace.contains(&ON) => "istiod",
                    () if has(REVISION) => "istiod-canary",
                    () if has(POD_ON) => "istiod",
                    () => unlabelled,
                };
                let found: Vec<String> = all
                    .iter()
                    .filter(|hook| {
                        matches(&hook["namespaceSelector"], namespace)
                            && matches(&hook["objectSelector"], pod)
                    })
                    .map(|hook| at(hook, "clientConfig.service.name").as_str().unwrap().to_owned())
                    .collect();
                assert_eq!(found.concat(), expected, "namespace {namespace:?}, pod {pod:?}: {found:?}");
                assert!(found.len() <= 1);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 72);
}

/// JSON with the fields of every map turned round.
fn turned(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(map) => {
            let fields = map.iter().rev().map(|(key, value)| format!("{}:{}", json!(key), turned(value)));
            format!("{{{}}}", joined(fields.collect()))
        }
        Value::Array(items) => format!("[{}]", joined(items.iter().map(turned).collect())),
        plain => plain.to_string(),
    }
}

#[test]
fn the_order_of_fields_in_a_file_does_not_matter() {
    needs!(upstream::NEEDS);
    for name in ["pilot_merge_meshconfig", "gateways", "ingressgateway_k8s_settings"] {
        let source = upstream::input_file(name);
        let value = yaml::load_all(&source, &Options::KUBERNETES).next().unwrap().unwrap().value;
        let other = Source::new("turned", turned(&value));
        assert_ne!(other.bytes(), value.to_string().as_bytes());
        let other = Input { files: vec![other], ..Input::default() };
        assert_eq!(printed(&generate(&other, &live()).unwrap()), printed(&run(&[name], &[])), "{name}");
    }
}
