//! When an endpoint that fails is left out for a while.

use crate::{
    Findings,
    value::number::{duration, percent},
};
use mizzen_api::proto::istio::networking::v1alpha3::OutlierDetection;
use mizzen_text::At;

pub(crate) fn check(outlier: &OutlierDetection, at: &At<'_>, found: &mut Findings) {
    for (field, length) in
        [("baseEjectionTime", &outlier.base_ejection_time), ("interval", &outlier.interval)]
    {
        if let Some(length) = length {
            found.verdict(&at.field(field), duration(length));
        }
    }
    if outlier.consecutive_errors != 0 {
        found.warning(
            &at.field("consecutiveErrors"),
            "outlier detection consecutive errors is deprecated, use consecutiveGatewayErrors or consecutive5xxErrors instead",
        );
    }
    if !outlier.split_external_local_origin_errors
        && outlier.consecutive_local_origin_failures.is_some_and(|failures| failures > 0)
    {
        found.error(
            &at.field("consecutiveLocalOriginFailures"),
            "consecutive local origin failures are counted only with splitExternalLocalOriginErrors set to true",
        );
    }
    found.verdict(&at.field("maxEjectionPercent"), percent(outlier.max_ejection_percent));
    found.verdict(&at.field("minHealthPercent"), percent(outlier.min_health_percent));
}
