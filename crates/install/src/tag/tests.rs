//! What is decided about tags, on states that are written down.

use serde_json::{Value, json};

use super::{Change, Listed, NoTag, Request, State, Tag, conflicts, deactivated, name};
use crate::{Input, generate, source::BuiltIn};

/// Webhooks and Services of these revisions, out of the charts that are built in.
fn state(revisions: &[&str]) -> State {
    let mut state = State { namespace: "istio-system".to_owned(), ..State::default() };
    for revision in revisions {
        let sets = vec!["profile=minimal".to_owned(), "hub=images.example.com/mesh".to_owned()];
        let input = Input { sets, revision: Some((*revision).to_owned()), ..Input::default() };
        let generated = generate(&input, &BuiltIn).unwrap();
        for object in generated.components.iter().flat_map(|component| &component.objects) {
            match object.kind() {
                "MutatingWebhookConfiguration" => state.webhooks.push(object.object().clone()),
                "Service" => state.services.push(object.object().clone()),
                _ => {}
            }
        }
    }
    state
}

fn request(tag: &str, revision: &str) -> Request {
    let tag = Tag { name: tag.to_owned(), user_managed: true, ..Tag::default() };
    Request { tag, revision: revision.to_owned(), ..Request::default() }
}

/// As a cluster is after it.
fn after(mut state: State, change: Change) -> State {
    for object in change.objects.into_iter().chain(change.deactivated) {
        let list = match object["kind"].as_str() {
            Some("MutatingWebhookConfiguration") => &mut state.webhooks,
            Some("ValidatingWebhookConfiguration") => &mut state.validators,
            _ => &mut state.services,
        };
        list.retain(|there| name(there) != name(&object));
        list.push(object);
    }
    state
}

fn listed(state: &State) -> Vec<(String, String)> {
    state.tags().into_iter().map(|row| (row.tag, row.revision)).collect()
}

#[test]
fn each_refusal_has_the_sentence_of_istioctl() {
    let mut state = state(&["default", "canary"]);
    let prod = state.change(request("prod", "canary"), &BuiltIn).unwrap();
    state = after(state, prod);
    let told = |request: Request| state.change(request, &BuiltIn).unwrap_err().to_string();
    for (tag, revision, wanted) in [
        ("prod", "default", r#"revision tag "prod" already exists, and --overwrite is false"#),
        (
            "canary",
            "default",
            r#"cannot create revision tag "canary": found existing control plane revision with same name"#,
        ),
        (
            "test",
            "none",
            r#"cannot modify tag: cannot find MutatingWebhookConfiguration or Service with revision "none""#,
        ),
    ] {
        assert_eq!(told(request(tag, revision)), wanted);
    }
    let mut two = state.clone();
    two.webhooks.push(two.webhooks[0].clone());
    let refused = two.change(request("test", "default"), &BuiltIn).unwrap_err();
    assert!(matches!(refused, NoTag::Ambiguous(_)), "{refused}");
    two.webhooks.clear();
    let refused = two.change(request("test", "default"), &BuiltIn).unwrap_err();
    assert!(matches!(refused, NoTag::NoWebhook(_)), "{refused}");
    assert!(matches!(state.removal("test"), Err(NoTag::NoSuchTag(_))));
}

#[test]
fn a_tag_is_made_moved_listed_and_removed() {
    let before = state(&["default", "canary"]);
    let pair = |tag: &str, revision: &str| (tag.to_owned(), revision.to_owned());
    assert_eq!(listed(&before), [pair("", "canary"), pair("", "default")]);
    let set = before.change(request("prod", "canary"), &BuiltIn).unwrap();
    assert!(!set.force, "nobody has said that it may be taken over");
    let mut set = after(before, set);
    assert_eq!(listed(&set), [pair("prod", "canary"), pair("", "default")]);
    let moved = set.change(Request { overwrite: true, ..request("prod", "default") }, &BuiltIn).unwrap();
    assert!(moved.force);
    let moved = after(set.clone(), moved);
    assert_eq!(listed(&moved), [pair("", "canary"), pair("prod", "default")]);

    let namespace =
        |name: &str, rev: &str| json!({ "metadata": { "name": name, "labels": { "istio.io/rev": rev } } });
    set.namespaces = vec![namespace("a", "prod"), namespace("b", "canary"), namespace("c", "prod")];
    let wanted =
        Listed { tag: "prod".into(), revision: "canary".into(), namespaces: vec!["a".into(), "c".into()] };
    assert_eq!(set.tags()[0], wanted);
    let removal = set.removal("prod").unwrap();
    assert_eq!(removal.namespaces, ["a", "c"]);
    let objects: Vec<String> = removal.objects.iter().map(ToString::to_string).collect();
    assert_eq!(
        objects,
        [
            "MutatingWebhookConfiguration istio-revision-tag-prod",
            "Service istio-system/istiod-revision-tag-prod"
        ]
    );
}

#[test]
fn the_default_tag_takes_the_place_of_the_older_webhook() {
    let before = state(&["default"]);
    let change = before.change(request("default", "default"), &BuiltIn).unwrap();
    assert_eq!(change.conflicts, []);
    assert!(change.force);
    let older = change.deactivated.clone().unwrap();
    assert_eq!(name(&older), "istio-sidecar-injector");
    let now = after(before, change);
    let again = now.change(Request { overwrite: true, ..request("default", "default") }, &BuiltIn).unwrap();
    assert_eq!(again.deactivated, None, "it is so already");
    let kinds: Vec<_> = now.removal("default").unwrap().objects.into_iter().map(|id| id.kind).collect();
    assert_eq!(kinds, ["MutatingWebhookConfiguration", "Service", "ValidatingWebhookConfiguration"]);
}

#[test]
fn webhooks_that_take_the_same_pods_are_told() {
    let before = state(&["default", "canary"]);
    let taken = Request { overwrite: true, ..request("canary", "default") };
    let conflicts_of = before.change(taken, &BuiltIn).unwrap().conflicts;
    let told: Vec<String> = conflicts_of.iter().map(ToString::to_string).collect();
    assert!(
        told.contains(
            &"Error [IST0139] (MutatingWebhookConfiguration istio-revision-tag-canary) Webhook overlaps with others: \
              [istio-sidecar-injector-canary/rev.namespace.sidecar-injector.istio.io]. This may cause injection to occur \
              twice."
                .to_owned()
        ),
        "{told:#?}"
    );
    assert!(conflicts_of.iter().all(|conflict| conflict.name == "istio-revision-tag-canary"));
    let free = before.change(request("prod", "default"), &BuiltIn).unwrap();
    assert_eq!(free.conflicts, []);
}

#[test]
fn selectors_are_matched_as_kubernetes_does() {
    let webhook = |name: &str, namespaces: Value, pods: Value| {
        json!({ "metadata": { "name": name }, "webhooks": [
            { "name": "a.istio.io", "namespaceSelector": namespaces, "objectSelector": pods }] })
    };
    let rule = |operator: &str, values: &[&str]| json!({ "matchExpressions": [{ "key": "istio-injection", "operator": operator, "values": values }] });
    let enabled = webhook("a", rule("In", &["enabled"]), Value::Null);
    for (other, overlaps) in [
        (rule("In", &["enabled"]), true),
        (rule("In", &["disabled"]), false),
        (rule("NotIn", &["enabled"]), false),
        (rule("NotIn", &["disabled"]), true),
        (rule("Exists", &[]), true),
        (rule("DoesNotExist", &[]), false),
        (rule("Unknown", &[]), false),
        (json!({ "matchLabels": { "istio-injection": "enabled" } }), true),
        (json!({ "matchLabels": { "istio-injection": "no" } }), false),
        (Value::Null, true),
    ] {
        let other = webhook("b", other, Value::Null);
        assert_eq!(!conflicts(&[&enabled, &other]).is_empty(), overlaps, "{other}");
    }
    let mut all = webhook("b", Value::Null, Value::Null);
    deactivated(&mut all);
    assert_eq!(conflicts(&[&enabled, &all]), []);
    all["webhooks"][0] = json!({ "name": "other.example.com" });
    assert_eq!(conflicts(&[&enabled, &all]), [], "it is not Istio's");
}
