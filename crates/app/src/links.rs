//! What an object names in other objects: subsets, Gateways, hosts, delegates, targets. Both the warnings about what is
//! not there and the order of applying are made of these.

use mizzen_text::{At, Path};
use serde_json::Value;

/// Something that an object names, and the field that does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) at: Path,
    pub(crate) to: Target,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A subset of a host, whole.
    Subset {
        host: String,
        name: String,
    },
    /// A service that is called, whole.
    Host(String),
    Gateway {
        namespace: String,
        name: String,
    },
    /// A VirtualService with more routes.
    Delegate {
        namespace: String,
        name: String,
    },
    /// An object that a policy is attached to.
    Object {
        group: String,
        kind: String,
        namespace: String,
        name: String,
    },
    /// Tokens that somebody must have checked.
    Tokens {
        namespace: String,
    },
}

/// A short name is one of the namespace of the object that names it.
pub(crate) fn whole(host: &str, namespace: &str) -> String {
    if host.contains('.') || host.starts_with('*') {
        host.to_owned()
    } else {
        format!("{host}.{namespace}.svc.cluster.local")
    }
}

/// Whether a host, perhaps with a wildcard in front, is the other one.
pub(crate) fn covers(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => host.ends_with(end),
        None => pattern == host,
    }
}

pub(crate) fn of(object: &Value) -> Vec<Link> {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let mut links = Links { namespace, links: Vec::new() };
    let at = At::TOP.field("spec");
    let spec = &object["spec"];
    match (group(object), object["kind"].as_str().unwrap_or_default()) {
        ("networking.istio.io", "VirtualService") => links.virtual_service(spec, &at),
        ("networking.istio.io", "DestinationRule") => links.host(&spec["host"], &at.field("host")),
        ("networking.istio.io", "Sidecar") => {
            let policy = at.field("outboundTrafficPolicy");
            let proxy = &spec["outboundTrafficPolicy"]["egressProxy"];
            links.destination(proxy, &policy.field("egressProxy"));
        }
        ("security.istio.io", "AuthorizationPolicy") if uses_tokens(spec) => {
            let target = Target::Tokens { namespace: namespace.to_owned() };
            links.links.push(Link { at: at.field("rules").path(), to: target });
        }
        _ => {}
    }
    links.targets(spec, &at);
    links.links
}

/// The part of `apiVersion` before the version.
pub(crate) fn group(object: &Value) -> &str {
    object["apiVersion"].as_str().and_then(|text| text.split_once('/')).map_or("", |(group, _)| group)
}

struct Links<'a> {
    namespace: &'a str,
    links: Vec<Link>,
}

impl Links<'_> {
    fn virtual_service(&mut self, spec: &Value, at: &At<'_>) {
        let gateways = at.field("gateways");
        for (index, gateway) in items(&spec["gateways"]) {
            self.gateway(gateway, &gateways.index(index));
        }
        let hosts = at.field("hosts");
        for (index, host) in items(&spec["hosts"]) {
            self.host(host, &hosts.index(index));
        }
        for protocol in ["http", "tls", "tcp"] {
            let list = at.field(protocol);
            for (index, route) in items(&spec[protocol]) {
                let at = list.index(index);
                for name in ["route", "mirrors"] {
                    let list = at.field(name);
                    for (index, way) in items(&route[name]) {
                        self.destination(&way["destination"], &list.index(index).field("destination"));
                    }
                }
                self.destination(&route["mirror"], &at.field("mirror"));
                self.delegate(&route["delegate"], &at.field("delegate"));
                let matches = at.field("match");
                for (index, one) in items(&route["match"]) {
                    let one_at = matches.index(index);
                    let list = one_at.field("gateways");
                    for (index, gateway) in items(&one["gateways"]) {
                        self.gateway(gateway, &list.index(index));
                    }
                }
            }
        }
    }

    fn host(&mut self, host: &Value, at: &At<'_>) {
        if let Some(host) = host.as_str() {
            let to = Target::Host(whole(host, self.namespace));
            self.links.push(Link { at: at.path(), to });
        }
    }

    fn destination(&mut self, destination: &Value, at: &At<'_>) {
        self.host(&destination["host"], &at.field("host"));
        if let (Some(host), Some(name)) = (destination["host"].as_str(), destination["subset"].as_str()) {
            let to = Target::Subset { host: whole(host, self.namespace), name: name.to_owned() };
            self.links.push(Link { at: at.field("subset").path(), to });
        }
    }

    fn gateway(&mut self, gateway: &Value, at: &At<'_>) {
        let Some(text) = gateway.as_str().filter(|text| *text != "mesh") else { return };
        let (namespace, name) = text.split_once('/').unwrap_or((self.namespace, text));
        let to = Target::Gateway { namespace: namespace.to_owned(), name: name.to_owned() };
        self.links.push(Link { at: at.path(), to });
    }

    fn delegate(&mut self, delegate: &Value, at: &At<'_>) {
        if let Some(name) = delegate["name"].as_str() {
            let namespace = delegate["namespace"].as_str().unwrap_or(self.namespace).to_owned();
            let to = Target::Delegate { namespace, name: name.to_owned() };
            self.links.push(Link { at: at.field("name").path(), to });
        }
    }

    fn targets(&mut self, spec: &Value, at: &At<'_>) {
        let list = at.field("targetRefs");
        for (index, target) in items(&spec["targetRefs"]) {
            let text = |name: &str| target[name].as_str().unwrap_or_default().to_owned();
            let to = Target::Object {
                group: text("group"),
                kind: text("kind"),
                namespace: self.namespace.to_owned(),
                name: text("name"),
            };
            self.links.push(Link { at: list.index(index).path(), to });
        }
    }
}

/// Whether a policy looks at something that only a token has.
fn uses_tokens(policy: &Value) -> bool {
    items(&policy["rules"]).any(|(_, rule)| {
        let by_principal = items(&rule["from"]).any(|(_, from)| {
            !from["source"]["requestPrincipals"].is_null()
                || !from["source"]["notRequestPrincipals"].is_null()
        });
        let by_claim = items(&rule["when"])
            .any(|(_, when)| when["key"].as_str().is_some_and(|key| key.starts_with("request.auth.")));
        by_principal || by_claim
    })
}

fn items(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}
