//! Gateways that do not run as root cannot bind a port below 1024.

use mizzen_text::At;
use serde_json::Value;

use super::{Findings, get, scalar};

/// The list of gateways, and the values that are about them.
const GATEWAYS: &[(&str, &str)] =
    &[("ingressGateways", "istio-ingressgateway"), ("egressGateways", "istio-egressgateway")];

pub(super) fn check(values: &Value, components: &Value, spec: &At<'_>, found: &mut Findings) {
    let at = spec.field("components");
    for (list, name) in GATEWAYS {
        let runs_as_root = get(values, &["gateways", name, "runAsRoot"]) == Some(&Value::Bool(true));
        if runs_as_root {
            continue;
        }
        let at = at.field(list);
        for (index, gateway) in items(components.get(list)).enumerate() {
            let at = at.index(index);
            let (k8s, ports) = (at.field("k8s"), get(gateway, &["k8s", "service", "ports"]));
            let service = k8s.field("service");
            let at = service.field("ports");
            for (index, port) in items(ports).enumerate() {
                service_port(port, name, &at.index(index), found);
            }
        }
    }
    older_ports(values, spec, found);
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn service_port(port: &Value, gateway: &str, at: &At<'_>, found: &mut Findings) {
    let whole = |name: &str| match port.get(name) {
        Some(Value::Number(number)) => scalar::whole(number),
        None | Some(Value::Null) => Some(0),
        // A named port may be anything, and what is no port at all has been told.
        Some(_) => None,
    };
    if let (Some(number), Some(target)) = (whole("port"), whole("targetPort")) {
        report(number, target, gateway, at, found);
    }
}

/// A way to write ports in the values, from before there were components; nobody asks there whether it is root.
fn older_ports(values: &Value, spec: &At<'_>, found: &mut Findings) {
    let name = "istio-ingressgateway";
    let (in_values, ports) = (spec.field("values"), get(values, &["gateways", name, "ingressPorts"]));
    let gateways = in_values.field("gateways");
    let gateway = gateways.field(name);
    let at = gateway.field("ingressPorts");
    for (index, port) in items(ports).enumerate() {
        let truncated =
            |name: &str| port.get(name).and_then(Value::as_f64).map(|number| number.trunc() as i128);
        let target = match port.get("targetPort") {
            None | Some(Value::Null) => Some(0),
            Some(_) => truncated("targetPort"),
        };
        if let (Some(number), Some(target)) = (truncated("port"), target) {
            report(number, target, name, &at.index(index), found);
        }
    }
}

fn report(number: i128, target: i128, gateway: &str, at: &At<'_>, found: &mut Findings) {
    // The target is the port itself if it is not set.
    if target >= 1024 || (target == 0 && number > 1024) {
        return;
    }
    let message = if target == 0 {
        format!("port {number} has no targetPort, and to bind {number} a gateway must run as root")
    } else {
        format!("port {number} has targetPort {target}, and to bind that a gateway must run as root")
    };
    let hint = format!("set targetPort to 1024 or more, or values.gateways.{gateway}.runAsRoot=true");
    found.error_with_hint(&at.field("targetPort"), message, hint);
}
