//! What Kubernetes' controllers and kubelets would add, for there are none: namespaces and service accounts are named, a pod
//! runs and is ready unless it says otherwise, and a Service that selects pods has EndpointSlices.
//!
//! An EndpointSlice that a scenario writes itself is left alone, and nothing is derived for its Service.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::kinds::{Kind, name, namespace, text};

pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

pub fn complete(mut groups: Vec<Vec<Value>>) -> Result<Vec<Vec<Value>>> {
    for object in groups.iter_mut().flatten() {
        let place = namespace(object).to_owned();
        if Kind::of(object)?.namespaced {
            object["metadata"]["namespace"] = place.into();
        }
        if text(object, "kind") == "Pod" {
            pod(object);
        }
    }
    let slices = slices(&groups.iter().flatten().collect::<Vec<_>>());
    if let Some(last) = groups.last_mut() {
        last.extend(slices);
    }
    Ok(groups)
}

fn pod(pod: &mut Value) {
    let ready = pod["status"]["ready"].as_bool().unwrap_or(true);
    let word = if ready { "True" } else { "False" };
    let spec = &mut pod["spec"];
    fill(spec, "serviceAccountName", "default".into());
    fill(spec, "nodeName", "node-a".into());
    fill(spec, "containers", json!([{ "name": "app" }]));
    for container in spec["containers"].as_array_mut().into_iter().flatten() {
        fill(container, "name", "app".into());
        fill(container, "image", "app".into());
    }
    let status = &mut pod["status"];
    if let Some(status) = status.as_object_mut() {
        status.remove("ready");
    }
    let address = status["podIP"].clone();
    fill(status, "phase", "Running".into());
    if !address.is_null() {
        fill(status, "podIPs", json!([{ "ip": address }]));
    }
    fill(status, "conditions", json!([{ "type": "Ready", "status": word }]));
}

fn fill(map: &mut Value, key: &str, value: Value) {
    if map[key].is_null() {
        map[key] = value;
    }
}

fn slices(objects: &[&Value]) -> Vec<Value> {
    let of = |kind: &'static str| objects.iter().copied().filter(move |object| text(object, "kind") == kind);
    let own: BTreeSet<(&str, &str)> = of("EndpointSlice")
        .map(|slice| (namespace(slice), text(&slice["metadata"]["labels"], SERVICE_NAME)))
        .collect();
    let zones: BTreeMap<&str, &Value> = of("Node")
        .map(|node| (name(node), &node["metadata"]["labels"]["topology.kubernetes.io/zone"]))
        .collect();
    let services = of("Service").filter(|service| !own.contains(&(namespace(service), name(service))));
    services.flat_map(|service| slices_of(service, &of("Pod").collect::<Vec<_>>(), &zones)).collect()
}

/// One for each set of port numbers: a named port may be another number in another pod.
fn slices_of(service: &Value, pods: &[&Value], zones: &BTreeMap<&str, &Value>) -> Vec<Value> {
    let Some(selector) = service["spec"]["selector"].as_object() else { return Vec::new() };
    if service["spec"]["type"] == "ExternalName" {
        return Vec::new();
    }
    let mut by_ports: BTreeMap<String, (Value, Vec<Value>)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| namespace(pod) == namespace(service) && selects(selector, pod)) {
        if pod["status"]["podIP"].is_null() {
            continue;
        }
        let ports = ports(service, pod);
        let slot = by_ports.entry(ports.to_string()).or_insert((ports, Vec::new()));
        slot.1.push(endpoint(service, pod, zones));
    }
    let numbered = by_ports.into_values().enumerate();
    numbered.map(|(number, (ports, endpoints))| slice(service, number, &ports, &endpoints)).collect()
}

fn selects(selector: &Map<String, Value>, pod: &Value) -> bool {
    selector.iter().all(|(key, value)| &pod["metadata"]["labels"][key] == value)
}

fn ports(service: &Value, pod: &Value) -> Value {
    let wanted = service["spec"]["ports"].as_array().into_iter().flatten();
    let resolved = wanted.filter_map(|port| {
        let target = match &port["targetPort"] {
            Value::Null => port["port"].clone(),
            Value::String(named) => container_port(pod, named)?,
            number => number.clone(),
        };
        let mut told = json!({
            "name": text(port, "name"), "port": target, "protocol": port["protocol"].as_str().unwrap_or("TCP"),
        });
        if !port["appProtocol"].is_null() {
            told["appProtocol"] = port["appProtocol"].clone();
        }
        Some(told)
    });
    resolved.collect()
}

fn container_port(pod: &Value, named: &str) -> Option<Value> {
    let containers = pod["spec"]["containers"].as_array()?;
    let mut ports = containers.iter().filter_map(|container| container["ports"].as_array()).flatten();
    ports.find(|port| text(port, "name") == named).map(|port| port["containerPort"].clone())
}

fn endpoint(service: &Value, pod: &Value, zones: &BTreeMap<&str, &Value>) -> Value {
    let conditions = pod["status"]["conditions"].as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| text(condition, "type") == "Ready" && text(condition, "status") == "True");
    let published = service["spec"]["publishNotReadyAddresses"] == true;
    let node = text(&pod["spec"], "nodeName");
    let mut endpoint = json!({
        "addresses": [pod["status"]["podIP"]],
        "conditions": { "ready": ready || published, "serving": ready, "terminating": false },
        "nodeName": node,
        "targetRef": { "kind": "Pod", "name": name(pod), "namespace": namespace(pod) },
    });
    if let Some(zone) = zones.get(node).filter(|zone| !zone.is_null()) {
        endpoint["zone"] = (*zone).clone();
    }
    if pod["spec"]["subdomain"] == service["metadata"]["name"] && !pod["spec"]["hostname"].is_null() {
        endpoint["hostname"] = pod["spec"]["hostname"].clone();
    }
    endpoint
}

fn slice(service: &Value, number: usize, ports: &Value, endpoints: &[Value]) -> Value {
    let mut slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": format!("{}-{number}", name(service)),
            "namespace": namespace(service),
            "labels": { SERVICE_NAME: name(service) },
        },
        "addressType": "IPv4",
        "ports": ports,
        "endpoints": endpoints,
    });
    if service["spec"]["clusterIP"] == "None" {
        slice["metadata"]["labels"]["service.kubernetes.io/headless"] = "".into();
    }
    slice
}
