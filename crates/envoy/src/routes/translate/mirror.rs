//! Copies of requests for others, whose answers nobody waits for.

use super::percent;
use mizzen_proto::{
    envoy::config::{core::v3::RuntimeFractionalPercent, route::v3::route_action::RequestMirrorPolicy},
    google::protobuf::BoolValue,
    istio::networking::v1alpha3::{HttpMirrorPolicy, HttpRoute},
};

/// The share of a route's one mirror; nothing if it is said to be zero.
pub(super) fn share(route: &HttpRoute) -> Option<RuntimeFractionalPercent> {
    let share = match (&route.mirror_percentage, route.mirror_percent) {
        (Some(percentage), _) => (percentage.value > 0.0).then(|| percent::fine(percentage)),
        (None, Some(whole)) => (whole > 0).then(|| percent::whole(whole)),
        (None, None) => Some(percent::whole(100)),
    };
    share.map(percent::fixed)
}

/// The share of one of several mirrors.
pub(super) fn share_of(mirror: &HttpMirrorPolicy) -> Option<RuntimeFractionalPercent> {
    let share = match &mirror.percentage {
        Some(percentage) => (percentage.value > 0.0).then(|| percent::fine(percentage)),
        None => Some(percent::whole(100)),
    };
    share.map(percent::fixed)
}

pub(super) fn policy(cluster: String, share: RuntimeFractionalPercent) -> RequestMirrorPolicy {
    RequestMirrorPolicy {
        cluster,
        runtime_fraction: Some(share),
        trace_sampled: Some(BoolValue { value: false }),
        disable_shadow_host_suffix_append: true,
        ..RequestMirrorPolicy::default()
    }
}
