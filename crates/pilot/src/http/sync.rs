//! Who is connected and how far each is, as `istioctl proxy-status` reads it.

use crate::process::Process;
use mizzen_xds::{Connection, Type, Watched};
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// `sidecar~10.1.2.3~web-1.default~default.svc.cluster.local`
pub(super) struct Node<'a> {
    pub(super) kind: &'a str,
    /// `pod.namespace`
    pub(super) id: &'a str,
}

impl<'a> Node<'a> {
    pub(super) fn of(node: &'a str) -> Self {
        let mut parts = node.split('~');
        let kind = parts.next().unwrap_or_default();
        Self { kind, id: parts.nth(1).unwrap_or_default() }
    }

    fn namespace(&self) -> &'a str {
        self.id.rsplit_once('.').map_or("", |(_, namespace)| namespace)
    }
}

pub(super) fn sync(process: &Process, namespace: Option<&str>) -> Vec<Value> {
    let mut connections = process.connections();
    connections.sort_by(|one, two| one.node.cmp(&two.node));
    let wanted = |connection: &&Connection| {
        namespace.is_none_or(|name| name.is_empty() || Node::of(&connection.node).namespace() == name)
    };
    connections.iter().filter(wanted).map(|connection| one(process, connection)).collect()
}

fn one(process: &Process, connection: &Connection) -> Value {
    let node = Node::of(&connection.node);
    let client = process.proxies.client(&connection.node);
    let mut shown = Map::new();
    let mut set = |name: String, value: &str| {
        if !value.is_empty() {
            shown.insert(name, json!(value));
        }
    };
    set("cluster_id".into(), client.as_ref().map_or("", |client| &client.proxy().cluster));
    set("proxy".into(), node.id);
    set("proxy_type".into(), node.kind);
    set("istio_version".into(), &connection.version);
    let mut resources = Map::new();
    for watched in &connection.watched {
        let name = match watched.kind {
            Type::Cluster => "cluster",
            Type::Listener => "listener",
            Type::Route => "route",
            Type::Endpoints => "endpoint",
            Type::Extension => "extensionconfig",
            _ => "",
        };
        if !name.is_empty() {
            set(format!("{name}_sent"), &watched.nonce_sent);
            set(format!("{name}_acked"), &watched.nonce_acked);
        }
        resources.insert(watched.kind.url().to_owned(), resource(watched));
    }
    if !resources.is_empty() {
        shown.insert("resources".into(), Value::Object(resources));
    }
    Value::Object(shown)
}

fn resource(watched: &Watched) -> Value {
    let mut shown = Map::new();
    for (name, value) in [("sent", &watched.nonce_sent), ("acked", &watched.nonce_acked)] {
        if !value.is_empty() {
            shown.insert(name.into(), json!(value));
        }
    }
    if let Some(refusal) = &watched.refusal {
        shown.insert("lastError".into(), json!(refusal.text));
    }
    Value::Object(shown)
}

/// Every stream with what it watches.
pub(super) fn clients(process: &Process) -> Value {
    let connections = process.connections();
    let shown: Vec<Value> = connections
        .iter()
        .map(|connection| {
            let watches: Map<String, Value> = connection
                .watched
                .iter()
                .map(|watched| {
                    let names: Vec<&str> = watched.names.iter().map(|name| &**name).collect();
                    (watched.kind.url().to_owned(), json!(names))
                })
                .collect();
            json!({
                "connectionId": connection.id,
                "connectedAt": timestamp(connection.connected_at),
                "address": connection.peer.to_string(),
                "watches": watches,
            })
        })
        .collect();
    json!({ "totalClients": connections.len(), "clients": shown })
}

/// RFC 3339, in whole seconds.
fn timestamp(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date by Howard Hinnant's rule, for years after 1970.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_written_as_go_writes_them() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_794_812_834, "2026-11-16T07:07:14Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_node_says_its_kind_its_pod_and_its_namespace() {
        let node = Node::of("sidecar~10.1.2.3~web-1.v2.default~default.svc.cluster.local");
        assert_eq!((node.kind, node.id, node.namespace()), ("sidecar", "web-1.v2.default", "default"));
        assert_eq!(Node::of("nonsense").id, "");
    }
}
