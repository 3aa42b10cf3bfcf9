//! Where traffic goes: a host of the mesh, perhaps a subset of it, perhaps one port.

use crate::{
    Findings,
    value::{Verdict, host::wildcard_domain, label::is_dns_label, number::port},
};
use mizzen_api::proto::istio::networking::v1alpha3::Destination;
use mizzen_text::At;

pub(crate) fn check(destination: &Destination, at: &At<'_>, found: &mut Findings) {
    let host = at.field("host");
    if destination.host == "*" {
        found.error(&host, "invalid destination host *: it must be the name of a service");
    } else {
        found.verdict(&host, wildcard_domain(&destination.host));
    }
    if !destination.subset.is_empty() {
        found.verdict(&at.field("subset"), subset_name(&destination.subset));
    }
    if let Some(selector) = &destination.port {
        found.verdict(&at.field("port").field("number"), port(selector.number));
    }
}

pub(crate) fn subset_name(name: &str) -> Verdict {
    if name.is_empty() {
        Err("subset name cannot be empty".to_owned())
    } else if is_dns_label(name) {
        Ok(())
    } else {
        Err(format!("subset name is invalid: {name:?} must be a DNS label"))
    }
}
