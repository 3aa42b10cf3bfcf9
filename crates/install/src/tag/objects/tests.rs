use super::*;
use crate::{Input, generate, source::BuiltIn};

/// The webhook of a revision out of the charts that are built in, with what a cluster adds to it.
fn webhook(revision: &str) -> Value {
    let sets = vec!["profile=minimal".to_owned(), "hub=images.example.com/mesh".to_owned()];
    let input = Input { sets, revision: Some(revision.to_owned()), ..Input::default() };
    let generated = generate(&input, &BuiltIn).unwrap();
    let mut all = generated.components.iter().flat_map(|component| &component.objects);
    let mut webhook =
        all.find(|object| object.kind() == "MutatingWebhookConfiguration").unwrap().object().clone();
    for entry in webhook["webhooks"].as_array_mut().unwrap() {
        entry["clientConfig"]["caBundle"] = json!("Q0E=");
    }
    webhook
}

fn tag(name: &str) -> Tag {
    Tag { name: name.to_owned(), namespace: "istio-system".to_owned(), ..Tag::default() }
}

fn named(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    objects
        .iter()
        .map(|object| format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"])))
        .collect()
}

#[test]
fn a_tag_is_a_webhook_and_a_service_and_default_validates_too() {
    let webhook = webhook("canary");
    let prod = tag("prod").objects(&webhook, &BuiltIn).unwrap();
    assert_eq!(
        named(&prod),
        ["MutatingWebhookConfiguration istio-revision-tag-prod", "Service istiod-revision-tag-prod"]
    );
    let default = tag("default").objects(&webhook, &BuiltIn).unwrap();
    assert_eq!(
        named(&default),
        [
            "MutatingWebhookConfiguration istio-revision-tag-default",
            "ValidatingWebhookConfiguration istiod-default-validator",
            "Service istiod-revision-tag-default",
        ]
    );
    for object in prod.iter().chain(&default) {
        assert_eq!(label(object, "istio.io/rev"), Some("canary"), "{object}");
        assert_eq!(label(object, "operator.istio.io/component"), Some("Pilot"), "{object}");
        for entry in object["webhooks"].as_array().into_iter().flatten() {
            assert_eq!(entry["clientConfig"]["caBundle"], "Q0E=");
            assert_eq!(entry["clientConfig"]["service"]["name"], "istiod-canary");
        }
    }
    let validator = &default[1];
    assert_eq!(label(validator, TAG), Some("default"));
    assert_eq!(
        validator["webhooks"][0]["objectSelector"],
        json!({ "matchExpressions": [{ "key": "istio.io/rev", "operator": "DoesNotExist" }] })
    );
}

#[test]
fn what_the_user_asks_for_is_in_the_objects() {
    let webhook = webhook("default");
    let asked = Tag {
        auto_inject: true,
        labels: BTreeMap::from([
            ("team".to_owned(), "a".to_owned()),
            ("x.operator.istio.io/y".to_owned(), "b".to_owned()),
        ]),
        user_managed: true,
        webhook_name: Some("mine".to_owned()),
        validator: Some(json!({ "webhooks": [{ "name": "validation.istio.io", "failurePolicy": "Fail" }] })),
        ..tag("default")
    };
    let objects = asked.objects(&webhook, &BuiltIn).unwrap();
    assert_eq!(objects[0]["metadata"]["name"], "mine");
    let entries: Vec<_> =
        objects[0]["webhooks"].as_array().unwrap().iter().map(|entry| entry["name"].clone()).collect();
    assert!(entries.contains(&json!("auto.sidecar-injector.istio.io")), "{entries:?}");
    assert_eq!(objects[1]["webhooks"][0].get("failurePolicy"), None);
    for object in &objects {
        let labels = object["metadata"]["labels"].as_object().unwrap();
        assert_eq!(label(object, "team"), Some("a"));
        assert!(labels.keys().all(|name| !name.contains(INSTALLER)), "{labels:?}");
    }
}

#[test]
fn a_control_plane_elsewhere_is_named_by_its_address() {
    let mut webhook = webhook("default");
    for entry in webhook["webhooks"].as_array_mut().unwrap() {
        entry["clientConfig"] = json!({ "url": "https://mesh.example.com:15017/inject/net/n1" });
        entry["reinvocationPolicy"] = json!("IfNeeded");
    }
    let objects = tag("default").objects(&webhook, &BuiltIn).unwrap();
    let injection = &objects[0]["webhooks"][0];
    assert_eq!(injection["clientConfig"], json!({ "url": "https://mesh.example.com:15017/inject/net/n1" }));
    assert_eq!(injection["reinvocationPolicy"], "IfNeeded");
    assert_eq!(
        objects[1]["webhooks"][0]["clientConfig"],
        json!({ "url": "https://mesh.example.com:15017/validate" })
    );
}

#[test]
fn what_is_no_webhook_of_a_revision_is_refused() {
    let told = |webhook: &Value| tag("prod").objects(webhook, &BuiltIn).unwrap_err().to_string();
    let mut other = webhook("default");
    other["webhooks"] = json!([{ "name": "other.example.com" }]);
    assert!(told(&other).contains(
        r#"could not find sidecar-injector webhook in canonical webhook "istio-sidecar-injector""#
    ));
    other["metadata"]["labels"] = json!({});
    assert!(told(&other).contains("belongs to no revision"));
}

#[test]
fn nothing_goes_to_a_webhook_that_is_not_active() {
    let mut webhook = webhook("default");
    deactivated(&mut webhook);
    let never = json!({ "matchLabels": { "istio.io/deactivated": "never-match" } });
    for entry in webhook["webhooks"].as_array().unwrap() {
        assert_eq!((&entry["namespaceSelector"], &entry["objectSelector"]), (&never, &never));
    }
}
