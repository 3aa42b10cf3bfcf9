//! Dashboards of the mesh for Grafana, for whoever asks for them: ConfigMaps that its sidecar picks up by their label.

use super::{NAMESPACE, mark::metadata};
use serde_json::{Value, json};

struct Dashboard {
    /// In the name of its ConfigMap.
    name: &'static str,
    title: &'static str,
    panels: &'static [Panel],
}

struct Panel {
    title: &'static str,
    unit: &'static str,
    query: &'static str,
    legend: &'static str,
}

const fn panel(title: &'static str, unit: &'static str, query: &'static str, legend: &'static str) -> Panel {
    Panel { title, unit, query, legend }
}

const ALL: [Dashboard; 3] = [
    Dashboard {
        name: "mesh",
        title: "Istio mesh",
        panels: &[
            panel(
                "Requests",
                "reqps",
                r#"sum(rate(istio_requests_total{reporter="destination"}[5m]))"#,
                "all",
            ),
            panel(
                "Answers without a server error",
                "percentunit",
                r#"sum(rate(istio_requests_total{reporter="destination",response_code!~"5.."}[5m])) / sum(rate(istio_requests_total{reporter="destination"}[5m]))"#,
                "all",
            ),
            panel(
                "Requests by service",
                "reqps",
                r#"sum by (destination_service) (rate(istio_requests_total{reporter="destination"}[5m]))"#,
                "{{destination_service}}",
            ),
            panel(
                "Time of 99 of 100 requests, by service",
                "ms",
                r#"histogram_quantile(0.99, sum by (le, destination_service) (rate(istio_request_duration_milliseconds_bucket{reporter="destination"}[5m])))"#,
                "{{destination_service}}",
            ),
            panel(
                "TCP bytes sent, by service",
                "Bps",
                r#"sum by (destination_service) (rate(istio_tcp_sent_bytes_total{reporter="destination"}[5m]))"#,
                "{{destination_service}}",
            ),
            panel(
                "Requests without mutual TLS",
                "reqps",
                r#"sum by (destination_service) (rate(istio_requests_total{reporter="destination",connection_security_policy!="mutual_tls"}[5m]))"#,
                "{{destination_service}}",
            ),
        ],
    },
    Dashboard {
        name: "workload",
        title: "Istio workloads",
        panels: &[
            panel(
                "Requests in",
                "reqps",
                r#"sum by (destination_workload_namespace, destination_workload) (rate(istio_requests_total{reporter="destination"}[5m]))"#,
                "{{destination_workload_namespace}}/{{destination_workload}}",
            ),
            panel(
                "Requests out",
                "reqps",
                r#"sum by (source_workload_namespace, source_workload) (rate(istio_requests_total{reporter="source"}[5m]))"#,
                "{{source_workload_namespace}}/{{source_workload}}",
            ),
            panel(
                "Answers by code",
                "reqps",
                r#"sum by (destination_workload, response_code) (rate(istio_requests_total{reporter="destination"}[5m]))"#,
                "{{destination_workload}} {{response_code}}",
            ),
            panel(
                "What the proxy says of failures",
                "reqps",
                r#"sum by (destination_workload, response_flags) (rate(istio_requests_total{reporter="source",response_flags!="-"}[5m]))"#,
                "{{destination_workload}} {{response_flags}}",
            ),
            panel(
                "Time of half of the requests",
                "ms",
                r#"histogram_quantile(0.5, sum by (le, destination_workload) (rate(istio_request_duration_milliseconds_bucket{reporter="destination"}[5m])))"#,
                "{{destination_workload}}",
            ),
            panel(
                "Open TCP connections",
                "short",
                r#"sum by (destination_workload) (istio_tcp_connections_opened_total{reporter="destination"}) - sum by (destination_workload) (istio_tcp_connections_closed_total{reporter="destination"})"#,
                "{{destination_workload}}",
            ),
        ],
    },
    Dashboard {
        name: "control-plane",
        title: "Istio control plane",
        panels: &[
            panel("Proxies connected", "short", "sum(pilot_xds)", "all"),
            panel("Pushes", "ops", "sum by (type) (rate(pilot_xds_pushes[5m]))", "{{type}}"),
            panel(
                "Time until 99 of 100 proxies have a change",
                "s",
                "histogram_quantile(0.99, sum by (le) (rate(pilot_proxy_convergence_time_bucket[5m])))",
                "all",
            ),
            panel(
                "Configuration that proxies refuse",
                "ops",
                "sum(rate(pilot_total_xds_rejects[5m]))",
                "all",
            ),
            panel(
                "Listeners in conflict",
                "short",
                r#"sum by (__name__) ({__name__=~"pilot_conflict_.*"})"#,
                "{{__name__}}",
            ),
            panel("Memory", "bytes", r#"process_resident_memory_bytes{app="istiod"}"#, "{{pod}}"),
        ],
    },
];

pub(super) fn all(kyma: &str) -> Vec<Value> {
    let map = |dashboard: &Dashboard| {
        let name = format!("istio-{}-grafana-dashboard", dashboard.name);
        let mut metadata = metadata(&name, NAMESPACE, kyma);
        metadata["labels"]["grafana_dashboard"] = "1".into();
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
            "data": { format!("istio-{}.json", dashboard.name): model(dashboard).to_string() },
        })
    };
    ALL.iter().map(map).collect()
}

/// Two panels in a row.
fn model(dashboard: &Dashboard) -> Value {
    const WIDTH: usize = 12;
    const HEIGHT: usize = 8;
    let source = json!({ "type": "prometheus", "uid": "${source}" });
    let panels = dashboard.panels.iter().enumerate().map(|(place, panel)| {
        json!({
            "id": place + 1, "type": "timeseries", "title": panel.title, "datasource": source,
            "gridPos": { "x": place % 2 * WIDTH, "y": place / 2 * HEIGHT, "w": WIDTH, "h": HEIGHT },
            "fieldConfig": { "defaults": { "unit": panel.unit, "min": 0 }, "overrides": [] },
            "targets": [{ "refId": "A", "datasource": source, "expr": panel.query, "legendFormat": panel.legend }],
        })
    });
    let panels: Vec<Value> = panels.collect();
    json!({
        "uid": format!("mizzen-istio-{}", dashboard.name), "title": dashboard.title, "tags": ["istio"],
        "schemaVersion": 39, "editable": false, "refresh": "30s",
        "time": { "from": "now-1h", "to": "now" },
        "templating": { "list": [{ "name": "source", "type": "datasource", "query": "prometheus" }] },
        "panels": panels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_dashboard_can_be_read_and_no_panel_covers_another() {
        let all = all("main");
        let names: Vec<&str> = all.iter().map(|map| map["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "istio-mesh-grafana-dashboard",
                "istio-workload-grafana-dashboard",
                "istio-control-plane-grafana-dashboard"
            ]
        );
        for map in &all {
            assert_eq!(map["metadata"]["labels"]["grafana_dashboard"], "1");
            for text in map["data"].as_object().unwrap().values() {
                let model: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
                let panels = model["panels"].as_array().unwrap();
                let places: BTreeSet<String> =
                    panels.iter().map(|panel| panel["gridPos"].to_string()).collect();
                assert_eq!((places.len(), panels.len()), (6, 6));
                for panel in panels {
                    let query = panel["targets"][0]["expr"].as_str().unwrap();
                    let open = query.matches(['(', '{', '[']).count();
                    assert_eq!(open, query.matches([')', '}', ']']).count(), "{query}");
                }
            }
        }
    }
}
