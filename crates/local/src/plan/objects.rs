//! The mesh as Kubernetes would tell the control plane of it: a Service for each service, a Pod for each workload, and
//! EndpointSlices that say which of them are ready.

use super::{GATEWAY, INGRESS_SERVICE, NAMESPACE, Plan, Workload};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

/// Services have an address that nobody can reach, for names and statistics only: nothing is redirected here.
const SERVICES: [u8; 2] = [240, 240];

/// `ready` by the name of the workload.
pub(crate) fn objects(plan: &Plan, ready: impl Fn(&str) -> bool) -> Value {
    let mut items =
        vec![json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } })];
    let mut services: BTreeMap<&str, Vec<&Workload>> = BTreeMap::new();
    for workload in &plan.workloads {
        services.entry(&workload.service).or_default().push(workload);
        items.push(pod(
            &workload.name,
            &workload.service,
            Some(&workload.version),
            workload.address,
            ready(&workload.name),
        ));
    }
    for (number, (name, workloads)) in services.iter().enumerate() {
        items.extend(service(number, name, workloads, &ready));
    }
    let gateway = plan.gateway.inside;
    if let std::net::IpAddr::V4(address) = gateway.ip() {
        items.push(pod(GATEWAY, INGRESS_SERVICE, None, address, true));
    }
    items.push(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": meta(INGRESS_SERVICE),
        "spec": {
            "clusterIP": address(services.len()), "selector": { "istio": "ingressgateway" },
            "ports": [{ "name": "http2", "port": 80, "targetPort": gateway.port() }],
        },
    }));
    items.push(slice(
        INGRESS_SERVICE,
        &[("http2".to_owned(), gateway.port())],
        &[(GATEWAY, gateway.ip().to_string(), true)],
    ));
    json!({ "apiVersion": "v1", "kind": "List", "items": items })
}

/// The names of services for processes that have a network of their own, as a file `/etc/hosts`.
pub(crate) fn hosts(plan: &Plan) -> String {
    let names: BTreeSet<&str> = plan.workloads.iter().map(|workload| workload.service.as_str()).collect();
    let line = |(number, name): (usize, &str)| {
        let long = format!("{name}.{NAMESPACE}");
        format!("{} {name} {long} {long}.svc {long}.svc.cluster.local\n", address(number))
    };
    let services: String = names.into_iter().enumerate().map(line).collect();
    format!("127.0.0.1 localhost\n::1 localhost\n{services}")
}

fn meta(name: &str) -> Value {
    json!({ "name": name, "namespace": NAMESPACE })
}

fn address(number: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(number + 1).unwrap_or(u16::MAX).to_be_bytes();
    Ipv4Addr::new(SERVICES[0], SERVICES[1], high, low)
}

fn pod(name: &str, app: &str, version: Option<&str>, address: Ipv4Addr, ready: bool) -> Value {
    let mut labels = json!({
        "app": app,
        "security.istio.io/tlsMode": "istio",
        "service.istio.io/canonical-name": app,
        "service.istio.io/canonical-revision": version.unwrap_or("latest"),
    });
    match version {
        Some(version) => labels["version"] = version.into(),
        None => labels["istio"] = "ingressgateway".into(),
    }
    let mut metadata = meta(name);
    metadata["labels"] = labels;
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": { "serviceAccountName": app },
        "status": {
            "phase": "Running", "podIP": address, "podIPs": [{ "ip": address }],
            "conditions": [{ "type": "Ready", "status": if ready { "True" } else { "False" } }],
        },
    })
}

fn service(number: usize, name: &str, workloads: &[&Workload], ready: &impl Fn(&str) -> bool) -> Vec<Value> {
    let mut ports = BTreeMap::new();
    for port in workloads.iter().flat_map(|workload| &workload.ports) {
        ports.insert(&port.name, port);
    }
    let shown: Vec<Value> = ports
        .values()
        .map(|port| {
            json!({ "name": port.name, "port": port.service, "targetPort": port.inbound, "appProtocol": port.protocol })
        })
        .collect();
    let mut objects = vec![json!({
        "apiVersion": "v1", "kind": "Service", "metadata": meta(name),
        "spec": { "clusterIP": address(number), "selector": { "app": name }, "ports": shown },
    })];
    // A slice says the same ports of all of its endpoints, and a process that somebody else runs may have only some of them.
    for workload in workloads {
        let ports: Vec<(String, u16)> =
            workload.ports.iter().map(|port| (port.name.clone(), port.inbound)).collect();
        let endpoint = (workload.name.as_str(), workload.address.to_string(), ready(&workload.name));
        let mut slice = slice(name, &ports, &[endpoint]);
        slice["metadata"]["name"] = workload.name.as_str().into();
        objects.push(slice);
    }
    objects
}

fn slice(service: &str, ports: &[(String, u16)], endpoints: &[(&str, String, bool)]) -> Value {
    let mut metadata = meta(service);
    metadata["labels"] = json!({ "kubernetes.io/service-name": service });
    let ports: Vec<Value> =
        ports.iter().map(|(name, port)| json!({ "name": name, "port": port, "protocol": "TCP" })).collect();
    let endpoints: Vec<Value> = endpoints
        .iter()
        .map(|(pod, address, ready)| {
            json!({
                "addresses": [address],
                "conditions": { "ready": ready, "serving": ready },
                "targetRef": { "kind": "Pod", "name": pod, "namespace": NAMESPACE },
            })
        })
        .collect();
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": metadata,
        "addressType": "IPv4", "ports": ports, "endpoints": endpoints,
    })
}
