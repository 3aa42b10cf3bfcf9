//! Annotations of features that are not finished.

use serde_json::Value;

use super::{Finding, Level};

/// Those of Istio 1.31 that a person sets; what a control plane writes itself is left out.
const ALPHA: [&str; 60] = [
    "alpha.istio.io/canonical-serviceaccounts",
    "alpha.istio.io/kubernetes-serviceaccounts",
    "ambient.istio.io/bypass-inbound-capture",
    "ambient.istio.io/dns-capture",
    "ambient.istio.io/waypoint-inbound-binding",
    "galley.istio.io/analyze-suppress",
    "gateway.istio.io/name-override",
    "gateway.istio.io/service-account",
    "inject.istio.io/templates",
    "istio.io/autoRegistrationGroup",
    "istio.io/connectedAt",
    "istio.io/disconnectedAt",
    "istio.io/dry-run",
    "istio.io/reroute-virtual-interfaces",
    "istio.io/use-waypoint-canary-weight",
    "istio.io/workloadController",
    "networking.istio.io/exportTo",
    "networking.istio.io/service-type",
    "networking.istio.io/traffic-distribution",
    "prometheus.istio.io/merge-metrics",
    "proxy.istio.io/overrides",
    "readiness.status.sidecar.istio.io/applicationPorts",
    "readiness.status.sidecar.istio.io/failureThreshold",
    "readiness.status.sidecar.istio.io/initialDelaySeconds",
    "readiness.status.sidecar.istio.io/periodSeconds",
    "sidecar.istio.io/agentLogLevel",
    "sidecar.istio.io/bootstrapOverride",
    "sidecar.istio.io/componentLogLevel",
    "sidecar.istio.io/discoveryAddress",
    "sidecar.istio.io/extraStatTags",
    "sidecar.istio.io/interceptionMode",
    "sidecar.istio.io/logLevel",
    "sidecar.istio.io/nativeSidecar",
    "sidecar.istio.io/proxyCPU",
    "sidecar.istio.io/proxyCPULimit",
    "sidecar.istio.io/proxyImage",
    "sidecar.istio.io/proxyImageType",
    "sidecar.istio.io/proxyMemory",
    "sidecar.istio.io/proxyMemoryLimit",
    "sidecar.istio.io/rewriteAppHTTPProbers",
    "sidecar.istio.io/statsCompression",
    "sidecar.istio.io/statsEvictionInterval",
    "sidecar.istio.io/statsFlushInterval",
    "sidecar.istio.io/statsHistogramBins",
    "sidecar.istio.io/statsHistogramBuckets",
    "sidecar.istio.io/statsInclusionPrefixes",
    "sidecar.istio.io/statsInclusionRegexps",
    "sidecar.istio.io/statsInclusionSuffixes",
    "sidecar.istio.io/userVolume",
    "sidecar.istio.io/userVolumeMount",
    "status.sidecar.istio.io/port",
    "topology.istio.io/controlPlaneClusters",
    "traffic.sidecar.istio.io/excludeInboundPorts",
    "traffic.sidecar.istio.io/excludeInterfaces",
    "traffic.sidecar.istio.io/excludeOutboundIPRanges",
    "traffic.sidecar.istio.io/excludeOutboundPorts",
    "traffic.sidecar.istio.io/includeInboundPorts",
    "traffic.sidecar.istio.io/includeOutboundIPRanges",
    "traffic.sidecar.istio.io/includeOutboundPorts",
    "traffic.sidecar.istio.io/kubevirtInterfaces",
];

/// A pod without the container that redirects its traffic has these from the control plane.
const WITH_CNI: [&str; 4] = [
    "sidecar.istio.io/interceptionMode",
    "traffic.sidecar.istio.io/excludeInboundPorts",
    "traffic.sidecar.istio.io/includeInboundPorts",
    "traffic.sidecar.istio.io/includeOutboundIPRanges",
];

/// Codes, parted by commas, that nobody wants to hear about an object.
const SUPPRESSED: &str = "galley.istio.io/analyze-suppress";
const CODE: &str = "IST0136";

pub(super) fn annotations(objects: &[Value]) -> impl Iterator<Item = Finding> {
    objects.iter().filter(|object| !is_suppressed(object)).flat_map(|object| {
        let by_cni = object["kind"] == "Pod" && !is_redirected(object);
        let set = object["metadata"]["annotations"].as_object().into_iter().flatten();
        let names = set.map(|(name, _)| name.as_str());
        let names = names.filter(|name| ALPHA.contains(name));
        let names = names.filter(move |name| !by_cni || !WITH_CNI.contains(name));
        names.map(|name| Finding {
            level: Level::Info,
            code: CODE,
            origin: origin(object),
            message: format!(
                "Annotation {name:?} is part of an alpha-phase feature and may be incompletely supported."
            ),
        })
    })
}

fn is_suppressed(object: &Value) -> bool {
    let codes = object["metadata"]["annotations"][SUPPRESSED].as_str().unwrap_or_default();
    codes.split(',').any(|code| matches!(code, CODE | "*"))
}

fn is_redirected(pod: &Value) -> bool {
    let mut containers = pod["spec"]["initContainers"].as_array().into_iter().flatten();
    containers.any(|container| container["name"] == "istio-init")
}

fn origin(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}
