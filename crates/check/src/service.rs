//! Kubernetes Services, as far as the mesh has rules for them: which protocol a port speaks is told by its `appProtocol`
//! or by the first word of its name.

use mizzen_text::{At, Code};
use serde_json::Value;

use crate::{Finding, Findings};

const PROTOCOLS: [&str; 12] = [
    "grpc",
    "grpc-web",
    "http",
    "http2",
    "http_proxy",
    "https",
    "mongo",
    "mysql",
    "redis",
    "tcp",
    "tls",
    "udp",
];

/// Where the mesh itself lives, its own rules do not count.
const EXEMPT: &str = "istio-system";

/// What is wrong with the ports of a Service; nothing where it has none.
pub(crate) fn ports(service: &Value, namespace: &str) -> Findings {
    let mut found = Findings::default();
    let own = service["metadata"]["namespace"].as_str().filter(|name| !name.is_empty());
    if own.unwrap_or(namespace) == EXEMPT {
        return found;
    }
    let spec = At::TOP.field("spec");
    let list = spec.field("ports");
    for (index, port) in service["spec"]["ports"].as_array().into_iter().flatten().enumerate() {
        let here = list.index(index);
        if port["protocol"].as_str().is_some_and(|protocol| protocol.eq_ignore_ascii_case("udp")) {
            continue;
        }
        match (port["appProtocol"].as_str(), port["name"].as_str()) {
            (Some(protocol), _) if is_known(protocol) => {}
            (Some(protocol), _) => {
                let message = format!("is {protocol:?}, which is no protocol that the mesh knows");
                refuse(&mut found, &here.field("appProtocol"), message);
            }
            (None, None) => {
                refuse(&mut found, &here, "has no name, so its protocol can only be guessed".to_owned());
            }
            (None, Some(name)) if is_known(name.split('-').next().unwrap_or_default()) => {}
            (None, Some(name)) => {
                let message = format!("is {name:?}, which does not begin with a protocol");
                refuse(&mut found, &here.field("name"), message);
            }
        }
    }
    found
}

fn is_known(protocol: &str) -> bool {
    PROTOCOLS.iter().any(|known| known.eq_ignore_ascii_case(protocol))
}

fn refuse(found: &mut Findings, at: &At<'_>, message: String) {
    let hint = format!("call it `http-…` or another of {}, or set appProtocol", PROTOCOLS.join(", "));
    found.push(Finding { path: at.path(), hint: Some(hint), ..Finding::error(Code::Invalid, message) });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_port_says_its_protocol_by_its_name_or_by_app_protocol() {
        for (port, fine) in [
            (json!({"name": "http", "port": 80}), true),
            (json!({"name": "HTTP2-web", "port": 80}), true),
            (json!({"name": "grpc-web", "port": 80}), true),
            (json!({"name": "web", "port": 80}), false),
            (json!({"name": "httpweb", "port": 80}), false),
            (json!({"port": 80}), false),
            (json!({"port": 53, "protocol": "udp"}), true),
            (json!({"port": 80, "appProtocol": "mysql"}), true),
            (json!({"name": "http", "port": 80, "appProtocol": "fake"}), false),
        ] {
            let service = json!({"metadata": {"name": "a"}, "spec": {"ports": [port]}});
            assert_eq!(ports(&service, "shop").accepted(), fine, "{service}");
            assert!(ports(&service, "istio-system").accepted());
        }
    }
}
