//! What the Envoys count, looked at now and then: calls from one workload to another, how many failed, how long they took.

mod admin;
mod window;

pub(crate) use admin::{Counted, look};
pub(crate) use window::Window;

use crate::{
    plan::{GATEWAY, Plan, workload_at},
    view::Edge,
};
use std::{collections::BTreeMap, net::IpAddr, time::Instant};

/// What is known of all proxies, by their names.
#[derive(Default)]
pub(crate) struct Observed {
    proxies: BTreeMap<String, Window>,
}

impl Observed {
    pub(crate) fn add(&mut self, proxy: &str, counted: Counted, now: Instant) {
        self.proxies.entry(proxy.to_owned()).or_default().add(counted, now);
    }

    pub(crate) fn last(&self, proxy: &str) -> Option<&Counted> {
        self.proxies.get(proxy).and_then(Window::last)
    }

    pub(crate) fn edges(&self, plan: &Plan) -> Vec<Edge> {
        let mut edges: BTreeMap<(String, String, String), Edge> = BTreeMap::new();
        for (from, window) in &self.proxies {
            let Some(last) = window.last() else { continue };
            for (key, calls) in &last.calls {
                if calls.total == 0 {
                    continue;
                }
                let to =
                    match key.address.parse::<IpAddr>().ok().and_then(|address| workload_at(plan, address)) {
                        Some(workload) => workload.name.clone(),
                        None => key.service.clone(),
                    };
                let recent = window.recent(key);
                let time = last.times.get(&key.cluster);
                let edge =
                    edges.entry((from.clone(), to.clone(), key.service.clone())).or_insert_with(|| Edge {
                        from: from.clone(),
                        to,
                        service: key.service.clone(),
                        requests: 0,
                        failed: 0,
                        rate: 0.0,
                        success: None,
                        p50: None,
                        p90: None,
                        p99: None,
                        mtls: false,
                    });
                edge.requests += calls.total;
                edge.failed += calls.failed;
                edge.mtls |= last.handshakes.get(&key.cluster).is_some_and(|&count| count > 0);
                if let Some(recent) = recent {
                    // Of several clusters of one service the busiest says how long it takes.
                    if recent.rate >= edge.rate {
                        let of = |index: usize| time.and_then(|times| times[index]);
                        (edge.p50, edge.p90, edge.p99) = (of(0), of(1), of(2));
                    }
                    let before = edge.rate * edge.success.unwrap_or_default();
                    edge.rate += recent.rate;
                    if edge.rate > 0.0 {
                        edge.success = Some((before + recent.rate * recent.success) / edge.rate);
                    }
                }
            }
        }
        let mut edges: Vec<Edge> = edges.into_values().collect();
        edges.sort_by_key(|edge| edge.from != GATEWAY);
        edges
    }
}
