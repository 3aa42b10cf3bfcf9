//! Hosts that fail are left out for a while.

use super::draft::Draft;
use crate::{
    message::{duration, number, percent},
    policy::is_distributed,
};
use mizzen_mesh::Service;
use mizzen_proto::{
    envoy::config::cluster::v3::OutlierDetection, google::protobuf::UInt32Value, istio::networking::v1alpha3,
};

pub(super) fn apply(draft: &mut Draft, service: &Service, said: &v1alpha3::OutlierDetection) {
    let mut out = OutlierDetection {
        // By rate is not Istio's way; Envoy would do it unasked.
        enforcing_success_rate: Some(number(0)),
        consecutive_5xx: said.consecutive_5xx_errors.map(number),
        enforcing_consecutive_5xx: said.consecutive_5xx_errors.map(enforced),
        consecutive_gateway_failure: said.consecutive_gateway_errors.map(number),
        enforcing_consecutive_gateway_failure: said.consecutive_gateway_errors.map(enforced),
        interval: said.interval.and_then(duration),
        base_ejection_time: said.base_ejection_time.and_then(duration),
        max_ejection_percent: u32::try_from(said.max_ejection_percent)
            .ok()
            .filter(|&said| said > 0)
            .map(|said| number(said.min(100))),
        ..OutlierDetection::default()
    };
    if said.split_external_local_origin_errors {
        out.split_external_local_origin_errors = true;
        if let Some(failures) = said.consecutive_local_origin_failures.filter(|&failures| failures > 0) {
            out.consecutive_local_origin_failure = Some(number(failures));
            out.enforcing_consecutive_local_origin_failure = Some(number(100));
        }
        out.enforcing_local_origin_success_rate = Some(number(0));
    }
    draft.cluster.outlier_detection = Some(out);
    if said.min_health_percent >= 0 {
        // Where unhealthy hosts are sent along, no threshold may bring them back.
        let least = if is_distributed(service) { 0 } else { said.min_health_percent.min(100) };
        draft.lb_config().healthy_panic_threshold = Some(percent(f64::from(least)));
    }
}

/// A count of 0 switches it off.
fn enforced(count: u32) -> UInt32Value {
    number(if count > 0 { 100 } else { 0 })
}
