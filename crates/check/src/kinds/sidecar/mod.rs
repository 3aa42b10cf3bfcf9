//! Sidecar: what a workload's proxy listens on, and which part of the mesh it knows.

mod egress;
mod ingress;

use super::workload_entry::port_name;
use crate::{
    Findings,
    parts::{connection_pool, destination, selector},
    value::{
        host::{fqdn, wildcard_domain},
        protocol,
    },
};
use mizzen_api::{
    Metadata,
    proto::istio::{
        mesh::v1alpha1::mesh_config::outbound_traffic_policy::Mode as MeshMode,
        networking::v1alpha3::{OutboundTrafficPolicy, Sidecar, SidecarPort, outbound_traffic_policy::Mode},
    },
};
use mizzen_text::At;

const NOT_UNIQUE: &str = "sidecar: ports on IP bound listeners must be unique";

pub(crate) fn check(metadata: &Metadata, sidecar: &Sidecar, found: &mut Findings) {
    let at = At::TOP.field("spec");
    let selector_at = at.field("workloadSelector");
    selector::by_labels(sidecar.workload_selector.as_ref(), &selector_at, found);
    if sidecar.workload_selector.as_ref().is_some_and(|selector| selector.labels.is_empty()) {
        found.warning(
            &selector_at,
            "sidecar: workload selector specified without labels, will be applied to all services in namespace",
        );
    }
    if sidecar.egress.is_empty()
        && sidecar.ingress.is_empty()
        && sidecar.outbound_traffic_policy.is_none()
        && sidecar.inbound_connection_pool.is_none()
    {
        found.error(
            &at,
            "sidecar: empty configuration provided: one of ingress, egress, outboundTrafficPolicy, \
             inboundConnectionPool is required",
        );
    }
    ingress::check(&sidecar.ingress, &at.field("ingress"), found);
    if let Some(pool) = &sidecar.inbound_connection_pool {
        connection_pool::check(pool, &at.field("inboundConnectionPool"), found);
    }
    egress::check(metadata, &sidecar.egress, &at.field("egress"), found);
    if let Some(policy) = &sidecar.outbound_traffic_policy {
        outbound(policy, &at.field("outboundTrafficPolicy"), found);
    }
}

fn outbound(policy: &OutboundTrafficPolicy, at: &At<'_>, found: &mut Findings) {
    // The two kinds have an enum each, of which this one is the shorter: it can be written only as a number.
    if policy.mode == MeshMode::AllowAnyDynamicDns as i32 {
        found.error(
            &at.field("mode"),
            "sidecar: ALLOW_ANY_DYNAMIC_DNS mode is only supported in MeshConfig, not in Sidecar resource",
        );
        return;
    }
    let Some(proxy) = &policy.egress_proxy else { return };
    let at = at.field("egressProxy");
    if policy.mode != Mode::AllowAny as i32 {
        found.error(&at, "sidecar: egressProxy must be set only with ALLOW_ANY outboundTrafficPolicy mode");
    }
    if proxy.port.is_none() {
        found.error(&at.field("port"), "sidecar: egressProxy must have a port");
    }
    destination::check(proxy, &at, found);
    // A destination may be a wildcard, but this one is a proxy that is called. What else is wrong was told.
    if proxy.host.len() > 1
        && proxy.host.starts_with('*')
        && wildcard_domain(&proxy.host).is_ok()
        && let Err(why) = fqdn(&proxy.host)
    {
        found.error(&at.field("host"), why);
    }
}

/// What ports of both sorts have in common.
fn port(port: &SidecarPort, at: &At<'_>, found: &mut Findings) {
    if port.target_port > 0 {
        found.error(&at.field("targetPort"), "targetPort has no impact on Sidecars; remove it");
    }
    if !port.name.is_empty() {
        found.verdict(&at.field("name"), port_name(&port.name));
    }
    found.verdict(&at.field("protocol"), protocol::protocol(&port.protocol));
}

#[cfg(test)]
mod tests;
