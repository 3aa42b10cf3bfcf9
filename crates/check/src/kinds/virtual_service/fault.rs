//! Faults that are made on purpose.

use super::actions::status;
use crate::{Findings, value::number::duration};
use mizzen_api::{
    GRPC_STATUSES,
    proto::istio::networking::v1alpha3::{
        HttpFaultInjection, Percent,
        http_fault_injection::{Abort, Delay, abort::ErrorType, delay::HttpDelayType},
    },
};
use mizzen_text::At;

pub(super) fn check(fault: &HttpFaultInjection, at: &At<'_>, found: &mut Findings) {
    if fault.abort.is_none() && fault.delay.is_none() {
        found.error(at, "HTTP fault injection must have an abort and/or a delay");
    }
    if let Some(settings) = &fault.abort {
        abort(settings, &at.field("abort"), found);
    }
    if let Some(settings) = &fault.delay {
        delay(settings, &at.field("delay"), found);
    }
}

/// One without a status does nothing; Istio has a warning for that, which it never shows.
fn abort(abort: &Abort, at: &At<'_>, found: &mut Findings) {
    percentage(abort.percentage.as_ref(), at, found);
    match &abort.error_type {
        Some(ErrorType::HttpStatus(number)) => {
            found.verdict(&at.field("httpStatus"), status(i64::from(*number)));
        }
        Some(ErrorType::GrpcStatus(name)) if !GRPC_STATUSES.contains(&name.as_str()) => found.error(
            &at.field("grpcStatus"),
            format!("gRPC status {name:?} is not supported; it is one of {}", GRPC_STATUSES.join(", ")),
        ),
        Some(ErrorType::Http2Error(_)) => {
            found.error(&at.field("http2Error"), "HTTP/2 abort fault injection not supported yet");
        }
        Some(ErrorType::GrpcStatus(_)) | None => {}
    }
}

fn delay(delay: &Delay, at: &At<'_>, found: &mut Findings) {
    percentage(delay.percentage.as_ref(), at, found);
    match &delay.http_delay_type {
        Some(HttpDelayType::FixedDelay(length)) => found.verdict(&at.field("fixedDelay"), duration(length)),
        Some(HttpDelayType::ExponentialDelay(_)) => {
            found.error(&at.field("exponentialDelay"), "exponentialDelay not supported yet");
        }
        None => {}
    }
}

#[expect(clippy::manual_range_contains, reason = "what is no number is in no range, and Istio takes it")]
fn percentage(percent: Option<&Percent>, at: &At<'_>, found: &mut Findings) {
    let Some(Percent { value }) = percent.copied() else { return };
    // Envoy counts in millionths.
    if value < 0.0 || value > 100.0 || (value > 0.0 && value < 0.0001) {
        let at = at.field("percentage");
        found.error(
            &at.field("value"),
            format!("percentage {value} is neither 0.0, nor in range [0.0001, 100.0]"),
        );
    }
}
