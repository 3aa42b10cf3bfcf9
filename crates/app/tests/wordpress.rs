//! The design document's example, and what follows from it.

mod common;

use common::{Texts, app, errors, line, marked, told};
use mizzen_app::Spec;
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};

const APP: &str = include_str!("../../../examples/wordpress-example/app.yaml");
const PLATFORM: &str = include_str!("../../../examples/wordpress-example/platform.yaml");

/// The resource of the design document, but for its indentation under `resources`.
const EXPECTED: &str = "\
resources:
- id: networking.istio.io/v1alpha3:DestinationRule:wordpress-example:wordpress-example_destination_rule
  type: Kubernetes
  attributes:
    apiVersion: networking.istio.io/v1alpha3
    kind: DestinationRule
    metadata:
      annotations:
        traffic.sidecar.istio.io/testAnnotation1: test1
        traffic.sidecar.istio.io/testAnnotation2: test2
      labels:
        app.kubernetes.io/component: wordpress-example
        app.kubernetes.io/env: dev
        app.kubernetes.io/instance: wordpress-example-dev
        app.kubernetes.io/name: wordpress-example
        cluster.x-k8s.io/cluster-name: default
      name: wordpress-example_destination_rule
      namespace: wordpress-example
    spec:
      exportTo:
      - default
      - my-namespace
      host: sample-service
      subsets:
      - labels:
          version: v1
        name: v1
      - labels:
          version: v2
        name: v2
      - labels:
          version: v3
        name: v3
      trafficPolicy:
        loadBalancer:
          simple: ROUND_ROBIN
";

fn example() -> Texts {
    app(APP).file("platform.yaml", PLATFORM)
}

/// The example without the design document's names.
fn plain() -> Texts {
    app(APP)
}

/// The block's lines replaced by others.
fn with_block(block: &str) -> Texts {
    app(&format!("name: wordpress-example\nistio:\n  destinationRules:\n    destination_rule:\n{block}"))
}

#[test]
fn the_example_gives_exactly_the_resource_of_the_design_document() {
    let built = example().build();
    assert_eq!(built.spec.to_yaml(), EXPECTED);
    let expected = Spec::read(&Source::new("expected", EXPECTED)).unwrap();
    assert_eq!(built.spec, expected);
    let resource = serde_json::to_value(&built.spec.resources[0]).unwrap();
    assert_eq!(resource.as_object().unwrap().keys().collect::<Vec<_>>(), ["attributes", "id", "type"]);
    assert_eq!(built.diagnostics.len(), 1, "{}", told(&built));
    assert!(line(&built.diagnostics[0]).starts_with("warning app.yaml:7:5: Kubernetes refuses the name"));
    assert!(built.accepted());
}

#[test]
fn by_default_names_have_dashes_and_kinds_their_newest_version() {
    let built = plain().build();
    assert!(built.diagnostics.is_empty(), "{}", told(&built));
    let resource = &built.spec.resources[0];
    assert_eq!(
        resource.id,
        "networking.istio.io/v1:DestinationRule:wordpress-example:wordpress-example-destination-rule"
    );
    let expected = &example().build().spec.resources[0];
    assert_eq!(resource.attributes["spec"], expected.attributes["spec"]);
    assert_eq!(resource.attributes["metadata"]["labels"], expected.attributes["metadata"]["labels"]);
}

#[test]
fn a_name_that_kubernetes_refuses_is_not_for_apply_and_the_template_is_blamed() {
    let refused = example().build().not_for_apply;
    assert_eq!(refused.len(), 1);
    assert!(
        line(&refused[0]).starts_with("error platform.yaml:3:1: Kubernetes refuses"),
        "{}",
        line(&refused[0])
    );
    assert!(plain().build().not_for_apply.is_empty());
}

#[test]
fn without_a_cluster_there_are_four_labels() {
    let object = &app(&APP.replace("{ cluster: default }", "{}")).objects()[0];
    let labels = object["metadata"]["labels"].as_object().unwrap();
    assert_eq!(labels.len(), 4);
    assert!(!labels.contains_key("cluster.x-k8s.io/cluster-name"));
}

#[test]
fn only_the_instance_is_in_lower_case() {
    let text = APP.replace("name: wordpress-example", "name: Word").replace("dev:", "Dev:");
    let labels = app(&text).objects()[0]["metadata"]["labels"].clone();
    for (label, value) in [("name", "Word"), ("env", "Dev"), ("instance", "word-dev"), ("component", "Word")]
    {
        assert_eq!(labels[format!("app.kubernetes.io/{label}")], value);
    }
    assert_eq!(app(&text).build().not_for_apply.len(), 2);
}

#[test]
fn what_the_user_says_wins_over_what_is_made() {
    let own = "      labels: { app.kubernetes.io/env: mine, team: a }\n      annotations:\n        \
               traffic.sidecar.istio.io/testAnnotation1: mine\n      subsets:";
    let objects = app(&APP.replace("      subsets:", own)).file("platform.yaml", PLATFORM).objects();
    let metadata = &objects[0]["metadata"];
    assert_eq!(metadata["labels"]["app.kubernetes.io/env"], "mine");
    assert_eq!(metadata["labels"]["team"], "a");
    assert_eq!(metadata["annotations"]["traffic.sidecar.istio.io/testAnnotation1"], "mine");
    assert_eq!(metadata["annotations"]["traffic.sidecar.istio.io/testAnnotation2"], "test2");
}

#[test]
fn a_namespace_in_the_same_spec_comes_first() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: wordpress-example}\n";
    let text = format!("{APP}manifests: [objects]\n");
    let built = app(&text).file("objects/namespace.yaml", namespace).build();
    assert_eq!(built.spec.resources[1].depends_on, ["v1:Namespace:wordpress-example"]);
    assert!(built.spec.resources[0].depends_on.is_empty());
}

#[test]
fn two_keys_are_two_objects_and_two_equal_names_an_error_that_names_both_lines() {
    let two = |second: &str| app(&format!("{APP}    {second}: {{host: other}}\n"));
    let ids: Vec<String> =
        two("other").build().spec.resources.into_iter().map(|resource| resource.id).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    let built = two("destination-rule").build();
    let errors = errors(&built);
    assert_eq!(errors.len(), 1, "{}", told(&built));
    let places = [errors[0].place.as_ref(), errors[0].related.first().map(|related| &related.place)];
    let places = places.map(|place| place.unwrap().to_string());
    assert_eq!(places, ["app.yaml:16:5", "app.yaml:7:5"]);
}

#[test]
fn three_mistakes_are_told_in_one_run() {
    let built = with_block(
        "      namespace: [default]\n      trafficPolicy:\n        loadBalancerSettings: { strategy: ROUND_ROBN }\n",
    )
    .build();
    let found: Vec<_> = errors(&built).into_iter().map(|error| (marked(error), line(error))).collect();
    assert_eq!(found.len(), 3, "{}", told(&built));
    let expected = [
        ("destination_rule", "app.yaml:4:5: `host` is missing", ""),
        ("namespace", "app.yaml:5:7: ", "(did you mean `namespaces`?)"),
        (
            "ROUND_ROBN",
            "app.yaml:7:43: `strategy` must be one of ROUND_ROBIN",
            "(did you mean `ROUND_ROBIN`?)",
        ),
    ];
    for ((mark, line), (expected, place, hint)) in found.iter().zip(expected) {
        assert_eq!(mark, expected);
        assert!(line.contains(place) && line.ends_with(hint) || hint.is_empty(), "{line}");
    }
}

#[test]
fn a_rule_for_some_workloads_cannot_be_exported() {
    let built =
        with_block("      host: a\n      workloadSelector: {app: a}\n      namespaces: [default]\n").build();
    assert_eq!(errors(&built).len(), 1, "{}", told(&built));
    assert_eq!(marked(errors(&built)[0]), "[default]");
    assert!(
        with_block("      host: a\n      workloadSelector: {app: a}\n      namespaces: [.]\n")
            .build()
            .accepted()
    );
}

#[test]
fn an_empty_ejection_block_is_kept_and_http_limits_are_written_out() {
    let policy = |text: &str| {
        with_block(&format!("      host: a\n      trafficPolicy: {text}\n")).objects()[0]["spec"]["trafficPolicy"].clone()
    };
    assert_eq!(policy("{ejectionSettings: {}}"), json!({"outlierDetection": {}}));
    let http = policy("{connectionPoolSettings: {httpSettings: {maxActiveHttpConnections: 5}}}");
    assert_eq!(
        http["connectionPool"]["http"],
        json!({"http1MaxPendingRequests": 1024, "http2MaxRequests": 5})
    );
}

#[test]
fn the_object_passes_the_rules_of_every_version() {
    for version in ["v1", "v1alpha3", "v1beta1"] {
        let built =
            plain().file("platform.yaml", &format!("apiVersions: {{DestinationRule: {version}}}")).build();
        assert!(built.diagnostics.is_empty(), "{version}: {}", told(&built));
        let object = &built.spec.resources[0].attributes;
        assert_eq!(object["apiVersion"], format!("networking.istio.io/{version}"));
    }
}

#[test]
fn the_same_application_gives_the_same_bytes_in_whatever_order_it_is_written() {
    let first = example().build().spec.to_yaml();
    assert_eq!(example().build().spec.to_yaml(), first);
    let value: Value = yaml::load_first(&Source::new("app", APP), &yaml::Options::OWN).unwrap().unwrap();
    let shuffled = reversed(&value);
    assert_ne!(shuffled, yaml::to_string(&value));
    assert_eq!(app(&shuffled).file("platform.yaml", PLATFORM).build().spec.to_yaml(), first);
}

/// As JSON, which is YAML, with the keys of every map the other way round.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<_> =
                fields.iter().rev().map(|(key, value)| format!("{key:?}: {}", reversed(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(reversed).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
