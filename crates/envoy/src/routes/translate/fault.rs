//! Failures on purpose.

use super::percent;
use crate::message::duration;
use mizzen_api::GRPC_STATUSES;
use mizzen_proto::{
    envoy::extensions::filters::{
        common::fault::v3::{FaultDelay, fault_delay::FaultDelaySecifier},
        http::fault::v3::{FaultAbort, HttpFault, fault_abort},
    },
    istio::networking::v1alpha3::{
        HttpFaultInjection,
        http_fault_injection::{Abort, Delay, abort::ErrorType, delay::HttpDelayType},
    },
};

pub(in crate::routes) fn fault(injection: &HttpFaultInjection) -> HttpFault {
    HttpFault {
        delay: injection.delay.as_ref().and_then(delay),
        abort: injection.abort.as_ref().and_then(abort),
        ..HttpFault::default()
    }
}

fn delay(delay: &Delay) -> Option<FaultDelay> {
    // Growing delays are in the API and were never made.
    let Some(HttpDelayType::FixedDelay(fixed)) = &delay.http_delay_type else { return None };
    let share = match &delay.percentage {
        Some(percentage) => percent::fine(percentage),
        None => percent::whole(u32::try_from(delay.percent).unwrap_or_default()),
    };
    Some(FaultDelay {
        percentage: Some(share),
        fault_delay_secifier: Some(FaultDelaySecifier::FixedDelay(duration(*fixed)?)),
    })
}

fn abort(abort: &Abort) -> Option<FaultAbort> {
    let error = match abort.error_type.as_ref()? {
        ErrorType::HttpStatus(status) => {
            fault_abort::ErrorType::HttpStatus(u32::try_from(*status).unwrap_or_default())
        }
        ErrorType::GrpcStatus(name) => fault_abort::ErrorType::GrpcStatus(grpc_status(name)),
        ErrorType::Http2Error(_) => return None,
    };
    Some(FaultAbort {
        percentage: abort.percentage.as_ref().map(percent::fine),
        error_type: Some(error),
        ..FaultAbort::default()
    })
}

/// The number of a status; validation refuses names that are not known.
fn grpc_status(name: &str) -> u32 {
    (0..).zip(GRPC_STATUSES).find(|(_, known)| *known == name).map_or(0, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::{fault, grpc_status};
    use serde_json::json;

    #[test]
    fn what_cannot_be_made_is_left_out() {
        for (injection, delays, aborts) in [
            (json!({"delay": {"fixedDelay": "2s", "percentage": {"value": 0.1}}}), true, false),
            (json!({"delay": {"exponentialDelay": "2s"}}), false, false),
            (json!({"delay": {"fixedDelay": "-2s"}, "abort": {"httpStatus": 500}}), false, true),
            (json!({"abort": {"grpcStatus": "UNAVAILABLE", "percentage": {"value": 100}}}), false, true),
            (json!({"abort": {"http2Error": "x"}}), false, false),
            (json!({}), false, false),
        ] {
            let out = fault(&serde_json::from_value(injection.clone()).unwrap());
            assert_eq!((out.delay.is_some(), out.abort.is_some()), (delays, aborts), "{injection}");
        }
    }

    #[test]
    fn a_share_has_four_places() {
        let injection = json!({"abort": {"httpStatus": 400, "percentage": {"value": 0.0125}}});
        let out = fault(&serde_json::from_value(injection).unwrap());
        assert_eq!(out.abort.unwrap().percentage.unwrap().numerator, 125);
        assert_eq!(grpc_status("UNAVAILABLE"), 14);
        assert_eq!(grpc_status("UNAUTHENTICATED"), 16);
        assert_eq!(grpc_status("nonsense"), 0);
    }
}
