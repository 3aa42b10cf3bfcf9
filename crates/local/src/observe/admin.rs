//! One look at an Envoy through its admin socket.

use crate::http::{Door, get};
use serde_json::Value;
use std::{collections::BTreeMap, io, time::Duration};

/// Calls to one endpoint through one cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey {
    pub(crate) cluster: String,
    /// The service's short name, or a host outside.
    pub(crate) service: String,
    pub(crate) address: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) total: u64,
    pub(crate) failed: u64,
}

/// Everything that is looked at, as it was counted since the Envoy's start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    pub(crate) calls: BTreeMap<CallKey, Calls>,
    /// Milliseconds by cluster: half, nine of ten, 99 of 100 take less.
    pub(crate) times: BTreeMap<String, [Option<f64>; 3]>,
    /// Of TLS, by cluster.
    pub(crate) handshakes: BTreeMap<String, u64>,
    /// Answers with 5xx on the outbound side, and faults that were injected.
    pub(crate) failed: u64,
    pub(crate) faults: u64,
}

const WAIT: Duration = Duration::from_secs(2);
const STATISTICS: &str = "/stats?format=json&usedonly&filter=(%5Ecluster%5C.outbound.*(upstream_rq_time%7Cssl%5C.handshake)$)%7C(%5Ehttp%5C.outbound.*(downstream_rq_5xx%7Cfault%5C.aborts_injected)$)";

pub(crate) async fn look(socket: &Door) -> io::Result<Counted> {
    let clusters = json(socket, "/clusters?format=json").await?;
    let statistics = json(socket, STATISTICS).await?;
    Ok(counted(&clusters, &statistics))
}

async fn json(socket: &Door, target: &str) -> io::Result<Value> {
    let answer = get(socket, target, &[], WAIT).await?;
    Ok(serde_json::from_slice(&answer.body)?)
}

fn counted(clusters: &Value, statistics: &Value) -> Counted {
    let mut counted = Counted::default();
    for cluster in clusters["cluster_statuses"].as_array().into_iter().flatten() {
        let Some(name) = cluster["name"].as_str().filter(|name| name.starts_with("outbound|")) else {
            continue;
        };
        for host in cluster["host_statuses"].as_array().into_iter().flatten() {
            let Some(address) = host["address"]["socket_address"]["address"].as_str() else { continue };
            let count = |wanted: &str| {
                let all = host["stats"].as_array().into_iter().flatten();
                let found = all.into_iter().find(|one| one["name"] == wanted).map(|one| &one["value"]);
                found.and_then(number).unwrap_or_default()
            };
            let key =
                CallKey { cluster: name.to_owned(), service: service(name), address: address.to_owned() };
            counted.calls.insert(key, Calls { total: count("rq_total"), failed: count("rq_error") });
        }
    }
    for one in statistics["stats"].as_array().into_iter().flatten() {
        if let (Some(name), Some(value)) = (one["name"].as_str(), number(&one["value"])) {
            if name.ends_with(".downstream_rq_5xx") {
                counted.failed += value;
            } else if name.ends_with(".aborts_injected") {
                counted.faults += value;
            } else if let Some(cluster) = between(name, ".ssl.handshake") {
                counted.handshakes.insert(cluster, value);
            }
        }
        let histograms = &one["histograms"];
        let supported: Vec<f64> = histograms["supported_quantiles"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect();
        let at = |wanted: f64| supported.iter().position(|quantile| (quantile - wanted).abs() < 1e-9);
        let places = [at(50.0), at(90.0), at(99.0)];
        for computed in histograms["computed_quantiles"].as_array().into_iter().flatten() {
            let Some(cluster) = computed["name"].as_str().and_then(|name| between(name, ".upstream_rq_time"))
            else {
                continue;
            };
            let value = |place: Option<usize>| {
                let values = &computed["values"][place?];
                // What was seen since the last flush says more than what was seen since the start.
                values["interval"].as_f64().or_else(|| values["cumulative"].as_f64())
            };
            counted.times.insert(cluster, places.map(value));
        }
    }
    counted
}

/// `cluster.outbound|80||x;.ssl.handshake` → `outbound|80||x`
fn between(name: &str, end: &str) -> Option<String> {
    let cluster = name.strip_prefix("cluster.")?.strip_suffix(end)?;
    Some(cluster.trim_end_matches(';').to_owned())
}

/// Numbers, and those that Envoy writes as text because they may be long.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// `outbound|9080|v1|reviews.default.svc.cluster.local` → `reviews`
fn service(cluster: &str) -> String {
    let host = cluster.rsplit('|').next().unwrap_or(cluster);
    let own = format!(".{}.svc.cluster.local", crate::plan::NAMESPACE);
    host.strip_suffix(&own).unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_times_and_handshakes_are_found_in_what_envoy_says() {
        let name = "outbound|9080|v1|reviews.default.svc.cluster.local";
        let clusters = json!({ "cluster_statuses": [
            { "name": "xds-grpc", "host_statuses": [] },
            { "name": name, "host_statuses": [{
                "address": { "socket_address": { "address": "127.70.0.9", "port_value": 9080 } },
                "stats": [{ "name": "rq_error" }, { "name": "rq_total", "value": "7" }, { "name": "rq_success", "value": "7" }],
            }] },
        ] });
        let statistics = json!({ "stats": [
            { "name": format!("cluster.{name};.ssl.handshake"), "value": 2 },
            { "name": "http.outbound_127.0.0.1_9080;.downstream_rq_5xx", "value": 3 },
            { "name": "http.outbound_127.0.0.1_9080;.fault.aborts_injected", "value": 1 },
            { "histograms": { "supported_quantiles": [0, 50, 90, 99], "computed_quantiles": [{
                "name": format!("cluster.{name};.upstream_rq_time"),
                "values": [{ "interval": null, "cumulative": 1 }, { "interval": null, "cumulative": 1.5 },
                           { "interval": 2.5, "cumulative": 9 }, { "interval": 3, "cumulative": 9 }],
            }] } },
        ] });
        let counted = counted(&clusters, &statistics);
        let key = CallKey { cluster: name.into(), service: "reviews".into(), address: "127.70.0.9".into() };
        assert_eq!(counted.calls[&key], Calls { total: 7, failed: 0 });
        assert_eq!(counted.handshakes[name], 2);
        assert_eq!(counted.times[name], [Some(1.5), Some(2.5), Some(3.0)]);
        assert_eq!((counted.failed, counted.faults), (3, 1));
    }
}
