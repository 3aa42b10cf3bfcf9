//! WorkloadGroup: what workloads that register themselves have in common, and how their health is found out.

use crate::{Findings, parts::tags, value::number};
use mizzen_api::proto::istio::networking::v1alpha3::{
    HttpHealthCheckConfig, ReadinessProbe, WorkloadGroup, readiness_probe::HealthCheckMethod,
};
use mizzen_text::At;

pub(crate) fn check(group: &WorkloadGroup, found: &mut Findings) {
    let at = At::TOP.field("spec");
    // What is in the template is not looked at: most of it is filled in when a workload registers.
    if group.template.is_none() {
        found.error(&at.field("template"), "template is required");
    }
    if let Some(metadata) = &group.metadata {
        tags::check(&metadata.labels, &at.field("metadata").field("labels"), found);
    }
    if let Some(probe) = &group.probe {
        self::probe(probe, &at.field("probe"), found);
    }
}

fn probe(probe: &ReadinessProbe, at: &At<'_>, found: &mut Findings) {
    for (name, number) in [
        ("periodSeconds", probe.period_seconds),
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ] {
        if number < 0 {
            found.error(&at.field(name), format!("{name} must be non-negative, not {number}"));
        }
    }
    match &probe.health_check_method {
        Some(HealthCheckMethod::HttpGet(http)) => http_get(http, &at.field("httpGet"), found),
        Some(HealthCheckMethod::TcpSocket(tcp)) => {
            found.verdict(&at.field("tcpSocket").field("port"), number::port(tcp.port));
        }
        Some(HealthCheckMethod::Exec(exec)) => {
            if exec.command.is_empty() {
                found.error(&at.field("exec").field("command"), "exec.command is required");
            }
        }
        // Istio's agent would do it, but its webhook does not let it pass.
        Some(HealthCheckMethod::Grpc(_)) => found.error(
            &at.field("grpc"),
            "unknown health check method grpc: it is not accepted here; use httpGet, tcpSocket or exec",
        ),
        None => found.error(at, "unknown health check method: one of httpGet, tcpSocket, exec is required"),
    }
}

fn http_get(http: &HttpHealthCheckConfig, at: &At<'_>, found: &mut Findings) {
    found.verdict(&at.field("port"), number::port(http.port));
    if !matches!(http.scheme.as_str(), "" | "HTTP" | "HTTPS") {
        found.error(
            &at.field("scheme"),
            format!("httpGet.scheme must be one of \"HTTPS\", \"HTTP\", not {:?}", http.scheme),
        );
    }
    let at = at.field("httpHeaders");
    for (index, header) in http.http_headers.iter().enumerate() {
        found.verdict(&at.index(index).field("name"), header_name(&header.name));
    }
}

/// As Kubernetes wants it for its own probes.
fn header_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        Err("header name cannot be empty".to_owned())
    } else if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        Ok(())
    } else {
        Err(format!("header name {name:?} is not a valid header name: letters, digits and dashes"))
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{accepted, refused};
    use serde_json::json;

    #[test]
    fn a_template_is_required_and_may_be_empty() {
        accepted("WorkloadGroup", json!({"template": {}}));
        refused("WorkloadGroup", json!({}), &["spec.template"]);
    }

    #[test]
    fn labels_are_those_of_kubernetes() {
        accepted("WorkloadGroup", json!({"template": {}, "metadata": {"labels": {"a": "b"}}}));
        refused(
            "WorkloadGroup",
            json!({"template": {}, "metadata": {"labels": {".": "b"}}}),
            &["spec.metadata.labels[\".\"]"],
        );
    }

    #[test]
    fn a_probe_needs_a_method_that_is_whole() {
        for probe in [
            json!({"httpGet": {"port": 80}}),
            json!({"httpGet": {"port": 80, "scheme": "HTTPS", "httpHeaders": [{"name": "x-a"}]}}),
            json!({"tcpSocket": {"port": 65535}}),
            json!({"exec": {"command": ["true"]}, "periodSeconds": 5}),
        ] {
            accepted("WorkloadGroup", json!({"template": {}, "probe": probe}));
        }
        for (probe, path) in [
            (json!({}), "spec.probe"),
            (json!({"grpc": {"port": 80}}), "spec.probe.grpc"),
            (json!({"httpGet": {}}), "spec.probe.httpGet.port"),
            (json!({"httpGet": {"port": 80, "scheme": "http"}}), "spec.probe.httpGet.scheme"),
            (
                json!({"httpGet": {"port": 80, "httpHeaders": [{"name": "a_b"}]}}),
                "spec.probe.httpGet.httpHeaders[0].name",
            ),
            (json!({"tcpSocket": {"port": 65536}}), "spec.probe.tcpSocket.port"),
            (json!({"exec": {}}), "spec.probe.exec.command"),
            (json!({"exec": {"command": ["a"]}, "timeoutSeconds": -1}), "spec.probe.timeoutSeconds"),
        ] {
            refused("WorkloadGroup", json!({"template": {}, "probe": probe}), &[path]);
        }
    }
}
