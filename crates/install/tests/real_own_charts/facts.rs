//! What others rely on in an object, as a list of facts: labels, selectors, ports, rules, webhooks. Order does not matter
//! in any of them, and how a chart writes it neither.

use std::collections::BTreeMap;

use mizzen_install::Manifest;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::{Value, json};

/// Facts of one object by name.
pub(crate) type Facts = BTreeMap<String, String>;

/// One for each that Kubernetes would call another object.
pub(crate) fn key(manifest: &Manifest) -> String {
    format!("{}/{}/{}", manifest.kind(), manifest.namespace(), manifest.name())
}

pub(crate) fn facts(manifest: &Manifest) -> Facts {
    let object = manifest.object();
    let mut facts = Facts::new();
    put_map(&mut facts, "label ", &object["metadata"]["labels"]);
    match manifest.kind() {
        "Service" => service(&mut facts, &object["spec"]),
        "Deployment" => deployment(&mut facts, &object["spec"]),
        "ClusterRole" | "Role" => object["rules"].items().for_each(|rule| rights(&mut facts, rule)),
        "ClusterRoleBinding" | "RoleBinding" => {
            facts.insert("role".to_owned(), object["roleRef"].to_string());
            object["subjects"].items().for_each(|subject| said(&mut facts, format!("subject {subject}")));
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            object["webhooks"].items().for_each(|webhook| hook(&mut facts, webhook));
        }
        "ValidatingAdmissionPolicy" => {
            facts.insert("match".to_owned(), matched(&object["spec"]["matchConstraints"]).to_string());
        }
        "ValidatingAdmissionPolicyBinding" => {
            facts.insert("policy".to_owned(), object["spec"]["policyName"].to_string());
            facts.insert("actions".to_owned(), sorted(&object["spec"]["validationActions"]).to_string());
        }
        "HorizontalPodAutoscaler" => {
            for field in ["minReplicas", "maxReplicas", "scaleTargetRef", "metrics"] {
                facts.insert(field.to_owned(), object["spec"][field].to_string());
            }
        }
        "PodDisruptionBudget" => {
            facts.insert("spec".to_owned(), object["spec"].to_string());
        }
        "NetworkPolicy" => policy(&mut facts, &object["spec"]),
        "EndpointSlice" => {
            facts.insert("type".to_owned(), object["addressType"].to_string());
            facts.insert("addresses".to_owned(), object["endpoints"].to_string());
            object["ports"].items().for_each(|port| said(&mut facts, format!("port {}", port_of(port))));
        }
        "CustomResourceDefinition" => {
            let spec = &object["spec"];
            facts
                .insert("names".to_owned(), format!("{} {} {}", spec["group"], spec["names"], spec["scope"]));
            spec["versions"].items().for_each(|version| {
                said(
                    &mut facts,
                    format!("version {} {} {}", version["name"], version["served"], version["storage"]),
                );
            });
        }
        "ConfigMap" => {
            let names = object["data"].as_object().into_iter().flat_map(|data| data.keys());
            names.for_each(|name| said(&mut facts, format!("data {name}")));
            for name in ["mesh", "meshNetworks"] {
                put_map(&mut facts, &format!("{name} "), &read(&object["data"][name]));
            }
        }
        "ServiceAccount" => {}
        other => panic!("nothing is said about a {other}"),
    }
    facts
}

fn service(facts: &mut Facts, spec: &Value) {
    put_map(facts, "selects ", &spec["selector"]);
    let kind = spec["type"].as_str().unwrap_or("ClusterIP");
    facts.insert("type".to_owned(), kind.to_owned());
    facts.insert("external name".to_owned(), spec["externalName"].to_string());
    spec["ports"].items().for_each(|port| said(facts, format!("port {}", port_of(port))));
}

fn deployment(facts: &mut Facts, spec: &Value) {
    let (template, pod) = (&spec["template"]["metadata"], &spec["template"]["spec"]);
    put_map(facts, "selects ", &spec["selector"]["matchLabels"]);
    put_map(facts, "pod label ", &template["labels"]);
    put_map(facts, "pod annotation ", &template["annotations"]);
    facts.insert("account".to_owned(), pod["serviceAccountName"].to_string());
    facts.insert("replicas".to_owned(), spec["replicas"].to_string());
    facts.insert("security".to_owned(), pod["securityContext"].to_string());
    pod["volumes"].items().for_each(|volume| said(facts, format!("volume {}", volume["name"])));
    for container in pod["containers"].items() {
        let name = container["name"].as_str().unwrap_or_default();
        container["ports"].items().for_each(|port| {
            let number = port["containerPort"].clone();
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            said(facts, format!("{name} port {number}/{protocol} {}", port["name"]));
        });
        facts.insert(format!("{name} probe"), container["readinessProbe"]["httpGet"].to_string());
        facts.insert(format!("{name} resources"), container["resources"].to_string());
        arguments(&container["args"])
            .into_iter()
            .for_each(|one| said(facts, format!("{name} argument {one}")));
        container["env"].items().for_each(|variable| {
            facts.insert(format!("{name} variable {}", variable["name"]), value_of(variable));
        });
        container["volumeMounts"]
            .items()
            .for_each(|mount| said(facts, format!("{name} mount {} {}", mount["name"], mount["mountPath"])));
    }
}

/// Flags with what belongs to them, and words: flags may stand in any order.
fn arguments(list: &Value) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for item in list.items().map(|item| item.as_str().unwrap_or_default()) {
        match all.last_mut() {
            Some(flag) if flag.starts_with("--") && !flag.contains(['=', ' ']) && !item.starts_with("--") => {
                *flag += &format!(" {item}");
            }
            _ => all.push(item.to_owned()),
        }
    }
    all
}

/// `apiVersion: v1` of a field's reference is Kubernetes' default.
fn value_of(variable: &Value) -> String {
    let mut variable = variable.clone();
    if let Some(Value::Object(field)) = variable.pointer_mut("/valueFrom/fieldRef")
        && field.get("apiVersion") == Some(&json!("v1"))
    {
        field.remove("apiVersion");
    }
    format!("{} {}", variable["value"], variable["valueFrom"])
}

/// One fact for each verb on each resource of each group.
fn rights(facts: &mut Facts, rule: &Value) {
    for group in rule["apiGroups"].items() {
        for resource in rule["resources"].items() {
            for verb in rule["verbs"].items() {
                let only = sorted(&rule["resourceNames"]);
                said(facts, format!("may {verb} {group} {resource} {only}"));
            }
        }
    }
}

fn hook(facts: &mut Facts, webhook: &Value) {
    let name = webhook["name"].as_str().unwrap_or_default();
    let mut put = |what: &str, value: String| facts.insert(format!("{name} {what}"), value);
    put("rules", matched(&webhook["rules"]).to_string());
    put("namespaces", matched(&webhook["namespaceSelector"]).to_string());
    put("objects", matched(&webhook["objectSelector"]).to_string());
    put("failure", webhook["failurePolicy"].to_string());
    put("versions", sorted(&webhook["admissionReviewVersions"]).to_string());
    put("side effects", webhook["sideEffects"].to_string());
    put("again", webhook["reinvocationPolicy"].as_str().unwrap_or("Never").to_owned());
    let client = &webhook["clientConfig"];
    let port = client["service"]["port"].as_u64().unwrap_or(443);
    put(
        "served",
        format!(
            "{} {} {} {port} {}",
            client["url"],
            client["service"]["name"],
            client["service"]["namespace"],
            client["service"]["path"]
        ),
    );
}

fn policy(facts: &mut Facts, spec: &Value) {
    facts.insert("pods".to_owned(), spec["podSelector"].to_string());
    facts.insert("types".to_owned(), sorted(&spec["policyTypes"]).to_string());
    facts.insert("out".to_owned(), spec["egress"].to_string());
    for rule in spec["ingress"].items() {
        let from = &rule["from"];
        rule["ports"].items().for_each(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            said(facts, format!("in {}/{protocol} {from}", port["port"]));
        });
    }
}

fn port_of(port: &Value) -> String {
    let target = if port["targetPort"].is_null() { &port["port"] } else { &port["targetPort"] };
    let protocol = port["protocol"].as_str().unwrap_or("TCP");
    format!("{} {}/{protocol} to {target}", port["name"], port["port"])
}

/// Lists sorted, everywhere: rules and selectors are sets.
fn matched(value: &Value) -> Value {
    match value {
        Value::Array(_) => sorted(value),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), matched(value))).collect(),
        other => other.clone(),
    }
}

fn sorted(value: &Value) -> Value {
    let mut items: Vec<Value> = value.items().map(matched).collect();
    items.sort_by_key(Value::to_string);
    json!(items)
}

fn put_map(facts: &mut Facts, what: &str, map: &Value) {
    for (key, value) in map.as_object().into_iter().flatten() {
        // A chart's name and its version are two facts.
        if let ("helm.sh/chart", Some((name, version))) =
            (key.as_str(), value.as_str().and_then(|text| text.rsplit_once('-')))
        {
            facts.insert(format!("{what}{key}, name"), name.to_owned());
            facts.insert(format!("{what}{key}, version"), version.to_owned());
            continue;
        }
        facts.insert(format!("{what}{key}"), value.to_string());
    }
}

fn read(text: &Value) -> Value {
    let source = Source::new("data", text.as_str().unwrap_or_default());
    yaml::load_first(&source, &Options::KUBERNETES).unwrap().unwrap_or_default()
}

/// What is a fact by being there.
fn said(facts: &mut Facts, fact: String) {
    facts.insert(fact, String::new());
}

trait Items {
    fn items(&self) -> std::slice::Iter<'_, Value>;
}

impl Items for Value {
    fn items(&self) -> std::slice::Iter<'_, Value> {
        self.as_array().map(Vec::as_slice).unwrap_or_default().iter()
    }
}
