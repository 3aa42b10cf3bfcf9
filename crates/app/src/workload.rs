//! `workload`: what runs → Namespace, Deployment, Service. Kept small on purpose: whoever needs more writes the objects
//! themselves and names their folder in `manifests`.

use crate::{
    front::{
        LABELS,
        shape::{Block, Fields, INT32, PORT, Shape, attribute, list, map, whole},
        syntax,
    },
    naming,
    platform::Platform,
    setting::Setting,
};
use serde_json::{Value, json};

/// Namespaces that are not an application's, whatever it says: they are not made, so they are not deleted either.
const SHARED: [&str; 5] = ["default", "istio-system", "kube-node-lease", "kube-public", "kube-system"];

/// Whether a namespace is none that an application makes.
pub fn is_shared(namespace: &str) -> bool {
    SHARED.contains(&namespace)
}

pub(crate) static BLOCK: Block = Block::new(&[
    attribute("image", "image", Shape::Text(syntax::not_empty), "The container's image").required(),
    attribute(
        "command",
        "command",
        list(&Shape::Text(syntax::any)),
        "What is run instead of the image's own command",
    ),
    attribute("args", "args", list(&Shape::Text(syntax::any)), "What the command is given"),
    attribute("replicas", "replicas", whole(0, INT32), "How many pods. Default: 1"),
    attribute(
        "ports",
        "ports",
        list(&Shape::Block(&SERVICE_PORT)),
        "The ports of the service; without any there is none",
    ),
    attribute("env", "env", map(syntax::variable, &Shape::Text(syntax::any)), "Environment variables"),
    attribute("labels", "labels", LABELS, "More labels of the pods, such as `version`"),
    attribute(
        "serviceAccount",
        "serviceAccount",
        Shape::Text(syntax::label),
        "The account that the pods run as",
    ),
]);

static SERVICE_PORT: Block = Block::new(&[
    attribute("port", "port", PORT, "The service's port").required(),
    attribute("targetPort", "targetPort", PORT, "The container's port. Default: the same"),
    attribute(
        "protocol",
        "protocol",
        Shape::Word(&["HTTP", "HTTP2", "GRPC", "HTTPS", "TLS", "TCP", "UDP"]),
        "What is spoken there. Default: HTTP",
    ),
    attribute(
        "name",
        "name",
        Shape::Text(syntax::label),
        "Default: the protocol and the port, such as http-80",
    ),
]);

/// The objects, each with the attribute under `workload` that it is made of.
pub(crate) fn objects(setting: &Setting, platform: &Platform, head: &Fields) -> Vec<(Value, &'static str)> {
    let workload = head.get("workload").and_then(Value::as_object);
    let mut objects = Vec::new();
    let create = head.get("createNamespace").and_then(Value::as_bool).unwrap_or(workload.is_some());
    if create && !is_shared(&setting.namespace) {
        objects.push((namespace(setting, platform, head), ""));
    }
    if let Some(workload) = workload {
        objects.push((deployment(workload, setting, platform, head), "image"));
        if let Some(ports) = workload.get("ports").and_then(Value::as_array).filter(|ports| !ports.is_empty())
        {
            objects.push((service(ports, setting, platform, head), "ports"));
        }
    }
    objects
}

fn metadata(name: &str, setting: &Setting, platform: &Platform, head: &Fields) -> Value {
    let mut metadata = json!({"name": name, "labels": naming::labels(setting, platform, head, None)});
    if let Some(annotations) = naming::annotations(platform, head, None) {
        metadata["annotations"] = annotations;
    }
    metadata
}

fn namespace(setting: &Setting, platform: &Platform, head: &Fields) -> Value {
    let mut metadata = metadata(&setting.namespace, setting, platform, head);
    metadata["labels"] = naming::labels(setting, platform, head, Some(&platform.namespace_labels));
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
}

fn namespaced(setting: &Setting, platform: &Platform, head: &Fields) -> Value {
    let mut metadata = metadata(&setting.app, setting, platform, head);
    metadata["namespace"] = setting.namespace.as_str().into();
    metadata
}

fn selector(setting: &Setting) -> Value {
    setting.selector().into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn deployment(workload: &Fields, setting: &Setting, platform: &Platform, head: &Fields) -> Value {
    let mut container = json!({"name": setting.app, "image": workload.get("image")});
    for field in ["command", "args"] {
        if let Some(words) = workload.get(field) {
            container[field] = words.clone();
        }
    }
    if let Some(variables) = workload.get("env").and_then(Value::as_object).filter(|env| !env.is_empty()) {
        container["env"] =
            variables.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    }
    let ports = workload.get("ports").and_then(Value::as_array).filter(|ports| !ports.is_empty());
    if let Some(ports) = ports {
        container["ports"] = ports.iter().map(container_port).collect();
    }
    let mut pod = json!({"containers": [container]});
    if let Some(account) = workload.get("serviceAccount") {
        pod["serviceAccountName"] = account.clone();
    }
    // A pod must be found by the selector, so nobody's labels win over those of it.
    let mut labels = naming::labels(setting, platform, head, workload.get("labels"));
    for (key, value) in setting.selector() {
        labels[key] = value.into();
    }
    let mut template = json!({"metadata": {"labels": labels}, "spec": pod});
    if let Some(annotations) = naming::annotations(platform, head, None) {
        template["metadata"]["annotations"] = annotations;
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": namespaced(setting, platform, head),
        "spec": {
            "replicas": workload.get("replicas").cloned().unwrap_or_else(|| json!(1)),
            "selector": {"matchLabels": selector(setting)},
            "template": template,
        },
    })
}

fn container_port(port: &Value) -> Value {
    let number = port.get("targetPort").unwrap_or(&port["port"]);
    json!({"containerPort": number, "protocol": transport(port)})
}

fn service(ports: &[Value], setting: &Setting, platform: &Platform, head: &Fields) -> Value {
    let ports: Value = ports
        .iter()
        .map(|port| {
            let protocol = protocol(port);
            let name =
                port["name"].as_str().map_or_else(|| format!("{protocol}-{}", port["port"]), str::to_owned);
            json!({
                "name": name,
                "port": port["port"],
                "targetPort": port.get("targetPort").unwrap_or(&port["port"]),
                "protocol": transport(port),
                "appProtocol": protocol,
            })
        })
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": namespaced(setting, platform, head),
        "spec": {"ports": ports, "selector": selector(setting)},
    })
}

fn protocol(port: &Value) -> String {
    port["protocol"].as_str().unwrap_or("HTTP").to_lowercase()
}

fn transport(port: &Value) -> &'static str {
    if port["protocol"] == "UDP" { "UDP" } else { "TCP" }
}
