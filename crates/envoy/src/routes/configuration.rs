//! Route configurations, put together from encoded virtual hosts.

use super::{host::Host, wire};
use crate::{Resource, message::number};
use mizzen_mesh::ByPointer;
use mizzen_proto::{envoy::config::route::v3::RouteConfiguration, google::protobuf::BoolValue};
use prost::Message;
use std::sync::Arc;

/// What istiod's validation lets a direct answer be long.
const MAX_DIRECT_RESPONSE: u32 = 1024 * 1024;

/// Everything that a route configuration is built from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    pub(super) name: Arc<str>,
    pub(super) hosts: Vec<ByPointer<Host>>,
}

pub(super) fn build(inputs: &Inputs) -> Resource {
    let head = RouteConfiguration {
        name: inputs.name.to_string(),
        validate_clusters: Some(BoolValue { value: false }),
        max_direct_response_body_size_bytes: Some(number(MAX_DIRECT_RESPONSE)),
        ignore_port_in_host_matching: true,
        ..RouteConfiguration::default()
    };
    let body = wire::with(&head, inputs.hosts.iter().map(|host| &host.0.element));
    Resource { name: Arc::clone(&inputs.name), body: body.into() }
}

/// For a name that stands for nothing: a proxy that waits for it must get an answer.
pub(super) fn empty(name: &str) -> Arc<Resource> {
    let message = RouteConfiguration {
        name: name.to_owned(),
        validate_clusters: Some(BoolValue { value: false }),
        ..RouteConfiguration::default()
    };
    Resource::encoded(name, message.encode_to_vec())
}
