//! The places that a route spreads its traffic over, by weight.

use super::headers;
use crate::{Findings, parts::destination};
use mizzen_api::proto::istio::networking::v1alpha3::{Destination, HttpRouteDestination, RouteDestination};
use mizzen_text::At;

pub(super) fn http(route: &[HttpRouteDestination], converted: bool, at: &At<'_>, found: &mut Findings) {
    for (index, one) in route.iter().enumerate() {
        let at = at.index(index);
        if let Some(changes) = &one.headers {
            headers::check(changes, &at.field("headers"), found);
        }
        check(one.destination.as_ref(), one.weight, converted, &at, found);
    }
    total(route.iter().map(|one| one.weight), at, found);
}

pub(super) fn l4(route: &[RouteDestination], converted: bool, at: &At<'_>, found: &mut Findings) {
    for (index, one) in route.iter().enumerate() {
        check(one.destination.as_ref(), one.weight, converted, &at.index(index), found);
    }
    total(route.iter().map(|one| one.weight), at, found);
}

fn check(destination: Option<&Destination>, weight: i32, converted: bool, at: &At<'_>, found: &mut Findings) {
    let here = at.field("destination");
    match destination {
        None => found.error(&here, "destination is required"),
        // Its host is a name of Istio's own.
        Some(_) if converted => {}
        Some(destination) => destination::check(destination, &here, found),
    }
    if weight < 0 {
        found.error(&at.field("weight"), format!("weight {weight} < 0"));
    }
}

fn total(weights: impl ExactSizeIterator<Item = i32>, at: &At<'_>, found: &mut Findings) {
    // Istio adds in 32 bits, so a sum that is too large for them can be nothing as well.
    if weights.len() > 1 && weights.fold(0, i32::wrapping_add) == 0 {
        found.error(at, "total destination weight = 0");
    }
}
