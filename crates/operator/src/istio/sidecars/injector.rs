//! Who injects: the webhooks that are served, whom they select, and what the injector behind them makes of a pod.
//!
//! Where nobody injects, a restarted pod would come back with no sidecar at all, and be cut off from the mesh.

use super::selector::{Labels, labels, matches};
use crate::istio::MESH;
use mizzen_cluster::{Cluster, ObjectId, Refused};
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::Value;

/// Label or annotation of a pod, by which somebody says whether it is injected.
const INJECT: &str = "sidecar.istio.io/inject";
/// Namespaces of the cluster's own, which an injector leaves alone, and the mesh's.
const SPARED: [&str; 5] = ["kube-system", "kube-public", "kube-node-lease", "local-path-storage", MESH];

#[derive(Debug, Default)]
pub(super) struct Injector {
    /// Whom each of its webhooks selects: namespaces and pods.
    webhooks: Vec<[Value; 2]>,
    /// Of the configurations that it serves: another one when they were made anew.
    pub(super) identity: String,
    /// Whom it does not inject though a webhook selects it.
    policy: Policy,
}

#[derive(Debug, Default)]
struct Policy {
    /// Only who asks for it is injected.
    on_demand: bool,
    never: Vec<Value>,
    always: Vec<Value>,
}

impl Injector {
    pub(super) async fn read(cluster: &Cluster) -> Result<Self, Refused> {
        let all = cluster
            .list("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "app=sidecar-injector")
            .await?;
        let served = Self::of(&all);
        if !served.injects() {
            return Ok(served);
        }
        let id = ObjectId::new("", "ConfigMap", MESH, "istio-sidecar-injector");
        let map = cluster.get(&id, None).await?.unwrap_or_default();
        Ok(Self { policy: Policy::of(map["data"]["config"].as_str().unwrap_or_default()), ..served })
    }

    fn of(configurations: &[Value]) -> Self {
        let mut served = Self::default();
        let mut names = Vec::new();
        for configuration in configurations {
            let webhooks = configuration["webhooks"].as_array().into_iter().flatten();
            let before = served.webhooks.len();
            served.webhooks.extend(
                webhooks
                    .filter(|webhook| is_served(webhook))
                    .map(|webhook| ["namespaceSelector", "objectSelector"].map(|key| webhook[key].clone())),
            );
            if served.webhooks.len() > before {
                names.push(configuration["metadata"]["uid"].as_str().unwrap_or_default());
            }
        }
        names.sort();
        served.identity = names.join(" ");
        served
    }

    pub(super) fn injects(&self) -> bool {
        !self.webhooks.is_empty()
    }

    /// Whether a pod of a namespace with these labels would get a sidecar if it were made now.
    pub(super) fn would_inject(&self, pod: &Value, namespace: &Labels) -> bool {
        let metadata = &pod["metadata"];
        let is_spared = SPARED.iter().any(|name| metadata["namespace"] == *name);
        if is_spared || pod["spec"]["hostNetwork"] == true {
            return false;
        }
        let own = labels(pod);
        let selects = |[namespaces, pods]: &[Value; 2]| matches(namespaces, namespace) && matches(pods, &own);
        // The label counts more than the annotation.
        let annotation = || metadata["annotations"].get(INJECT).and_then(Value::as_str);
        let said = own.get(INJECT).map(String::as_str).or_else(annotation);
        self.webhooks.iter().any(selects) && self.policy.allows(said, &own)
    }
}

/// The control plane writes its certificate into a webhook when it serves it.
fn is_served(webhook: &Value) -> bool {
    let bundle = webhook.pointer("/clientConfig/caBundle").and_then(Value::as_str).unwrap_or_default();
    let selects = |key: &str| webhook[key]["matchLabels"].get("istio.io/deactivated").is_none();
    !bundle.is_empty() && selects("namespaceSelector") && selects("objectSelector")
}

impl Policy {
    /// What cannot be read restricts nothing.
    fn of(text: &str) -> Self {
        let read = yaml::load_first(&Source::new("istio-sidecar-injector", text), &Options::KUBERNETES);
        let config: Value = read.ok().flatten().unwrap_or_default();
        let list = |key: &str| config[key].as_array().cloned().unwrap_or_default();
        Self {
            on_demand: config["policy"] == "disabled",
            never: list("neverInjectSelector"),
            always: list("alwaysInjectSelector"),
        }
    }

    fn allows(&self, said: Option<&str>, labels: &Labels) -> bool {
        // An empty selector means nobody here.
        let any = |selectors: &[Value]| {
            let selects = |one: &&Value| {
                let is_empty = |key: &str| one[key].as_object().is_none_or(serde_json::Map::is_empty);
                let no_expressions = one["matchExpressions"].as_array().is_none_or(Vec::is_empty);
                !(is_empty("matchLabels") && no_expressions) && matches(one, labels)
            };
            selectors.iter().any(|one| selects(&one))
        };
        match said {
            Some("true") => true,
            Some("false") => false,
            _ if any(&self.never) => false,
            _ => any(&self.always) || !self.on_demand,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Configurations as Istio's chart makes them for the default revision; `by_default` is whether namespaces without a label are
    /// injected.
    fn configuration(by_default: bool) -> Value {
        let is = |key: &str, operator: &str, values: &[&str]| json!({ "key": key, "operator": operator, "values": values });
        let none = |key: &str| is(key, "DoesNotExist", &[]);
        let (rev, label) = ("istio.io/rev", "istio-injection");
        let not_refused = || is(INJECT, "NotIn", &["false"]);
        let mut all = vec![
            (vec![is(rev, "In", &["default"]), none(label)], vec![not_refused()]),
            (vec![none(rev), none(label)], vec![not_refused(), is(rev, "In", &["default"])]),
            (vec![is(label, "In", &["enabled"])], vec![not_refused()]),
            (vec![none(label), none(rev)], vec![is(INJECT, "In", &["true"]), none(rev)]),
        ];
        if by_default {
            all.push((vec![none(label), none(rev)], vec![none(INJECT), none(rev)]));
        }
        let webhooks = all.into_iter().map(|(namespaces, pods)| {
            json!({
                "clientConfig": { "caBundle": "Q0E=" },
                "namespaceSelector": { "matchExpressions": namespaces },
                "objectSelector": { "matchExpressions": pods },
            })
        });
        json!({
            "metadata": { "uid": "u" },
            "webhooks": webhooks.collect::<Vec<_>>(),
        })
    }

    fn pod(labels: &Value, annotations: &Value) -> Value {
        json!({ "metadata": { "name": "p", "namespace": "n", "labels": labels, "annotations": annotations }, "spec": {} })
    }

    /// The rows of the rule, in its order: whether a pod would be injected where namespaces are not by default, and where they are.
    #[test]
    fn who_would_be_injected_is_what_the_rule_says_row_by_row() {
        let (none, yes, no) = (json!({}), json!({ INJECT: "true" }), json!({ INJECT: "false" }));
        let (enabled, disabled) =
            (json!({ "istio-injection": "enabled" }), json!({ "istio-injection": "disabled" }));
        let rev = |revision: &str| json!({ "istio.io/rev": revision });
        let rows = [
            ("the namespace asks for it", &enabled, &none, &none, [true, true]),
            ("the namespace refuses", &disabled, &none, &none, [false, false]),
            ("the namespace refuses, whatever the pod says", &disabled, &yes, &none, [false, false]),
            ("the pod's label refuses", &enabled, &no, &none, [false, false]),
            ("the pod's label refuses, whatever its annotation says", &enabled, &no, &yes, [false, false]),
            ("the pod's annotation refuses", &enabled, &none, &no, [false, false]),
            ("the pod's label counts more than its annotation", &enabled, &yes, &no, [true, true]),
            ("an annotation asks for it, the namespace says nothing", &none, &none, &yes, [false, true]),
            ("nobody says anything", &none, &none, &none, [false, true]),
            ("a label asks for it, the namespace says nothing", &none, &yes, &none, [true, true]),
            ("an annotation refuses, the namespace says nothing", &none, &none, &no, [false, false]),
            ("the namespace names the revision", &rev("default"), &none, &none, [true, true]),
            ("the namespace names another revision", &rev("canary"), &none, &none, [false, false]),
            ("the pod names the revision", &none, &rev("default"), &none, [true, true]),
            ("the pod names another revision", &none, &rev("canary"), &none, [false, false]),
        ];
        for (row, namespace, labelled, annotated, expected) in rows {
            let namespace = labels(&json!({ "metadata": { "labels": namespace } }));
            let found = [false, true].map(|by_default| {
                Injector::of(&[configuration(by_default)]).would_inject(&pod(labelled, annotated), &namespace)
            });
            assert_eq!(found, expected, "{row}");
        }
        let (injector, enabled) =
            (Injector::of(&[configuration(false)]), labels(&json!({ "metadata": { "labels": enabled } })));
        let mut host = pod(&none, &none);
        host["spec"]["hostNetwork"] = true.into();
        assert!(!injector.would_inject(&host, &enabled), "the host's network");
        for namespace in ["kube-system", "kube-public", "istio-system"] {
            let mut of_cluster = pod(&none, &none);
            of_cluster["metadata"]["namespace"] = namespace.into();
            assert!(!injector.would_inject(&of_cluster, &enabled), "{namespace}");
        }
    }

    #[test]
    fn what_the_injector_itself_refuses_is_not_expected_of_it() {
        let enabled: Labels = [("istio-injection".to_owned(), "enabled".to_owned())].into();
        let of = |config: &str, labels: &Value| {
            let injector = Injector { policy: Policy::of(config), ..Injector::of(&[configuration(false)]) };
            injector.would_inject(&pod(labels, &json!({})), &enabled)
        };
        let (none, mine) = (json!({}), json!({ "app": "mine" }));
        let never = "{ policy: enabled, neverInjectSelector: [{ matchLabels: { app: mine } }] }";
        let always = "{ policy: disabled, alwaysInjectSelector: [{ matchLabels: { app: mine } }] }";
        assert!(of("{ policy: enabled }", &none) && !of("{ policy: disabled }", &none));
        assert!(of("{ policy: disabled }", &json!({ INJECT: "true" })));
        assert!(!of(never, &mine) && of(never, &none));
        assert!(of(always, &mine) && !of(always, &none));
        assert!(of("{ policy: enabled, neverInjectSelector: [{}] }", &none), "an empty one means nobody");
        assert!(of("no: [configuration", &none));
    }

    #[test]
    fn a_webhook_is_served_when_it_has_a_certificate_and_is_not_switched_off() {
        let of = |bundle: &str, labels: Value| {
            Injector::of(&[json!({ "metadata": { "uid": "u" }, "webhooks": [
                { "clientConfig": {} },
                { "clientConfig": { "caBundle": bundle }, "namespaceSelector": { "matchLabels": labels } },
            ] })])
        };
        assert!(of("Q0E=", json!({})).injects() && of("Q0E=", json!({})).identity == "u");
        assert!(!of("", json!({})).injects() && of("", json!({})).identity.is_empty());
        assert!(!of("Q0E=", json!({ "istio.io/deactivated": "never-match" })).injects());
        assert!(!Injector::of(&[]).injects());
    }
}
