//! A VirtualService's HTTP routes for one port, as encoded routes. In: everything that they depend on, as one key.

use super::{
    outline::{Outline, Slot, asks},
    translate::{
        Destinations, Operations, anything, cors, direct_response, fault, is_catch_all, redirect,
        route_action, route_match,
    },
    wire,
};
use crate::{message::any, names};
use bytes::Bytes;
use mizzen_mesh::{
    ByPointer,
    config::{DestinationRule, VirtualService},
};
use mizzen_proto::{
    envoy::config::{
        core::v3::Metadata,
        route::v3::{
            Decorator, Route, route::Action, route_action::ClusterSpecifier, route_match::PathSpecifier,
        },
    },
    google::protobuf::{Any, Struct, Value, value::Kind},
    istio::{
        mesh::v1alpha1::MeshConfig,
        networking::v1alpha3::{self, Destination, HttpMatchRequest, HttpRoute},
    },
};
use prost::Message;
use std::{collections::HashMap, sync::Arc};

/// A destination that is more than the name and port that the route says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub(super) route: u32,
    pub(super) slot: Slot,
    /// It is an alias of this.
    pub(super) alias: Option<Arc<str>>,
    /// The port for a destination that names none; the listener's if not known.
    pub(super) port: Option<u32>,
    /// Its rule, if that hashes.
    pub(super) rule: Option<ByPointer<DestinationRule>>,
}

/// Everything that the routes are built from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    pub(super) virtual_service: ByPointer<VirtualService>,
    pub(super) mesh: ByPointer<MeshConfig>,
    pub(super) port: u32,
    /// `mesh`, or the gateway's `namespace/name`.
    pub(super) gateway: Arc<str>,
    /// Requests come over TLS.
    pub(super) tls: bool,
    pub(super) forwarded_host: bool,
    /// Of who asks; nothing if no match looks at it.
    pub(super) namespace: Option<Arc<str>>,
    /// Which source labels the asker has, as [`super::outline::Outline::sources`] counts them.
    pub(super) sources: Vec<bool>,
    pub(super) known: Vec<Known>,
}

#[derive(Debug)]
pub(super) struct Routes {
    /// None if the asker is not meant by any of them.
    pub(super) list: Vec<Encoded>,
    /// Held for who asks next.
    _outline: Arc<Outline>,
}

#[derive(Debug)]
pub(super) struct Encoded {
    /// As an element of a virtual host.
    pub(super) element: Bytes,
    pub(super) catch_all: bool,
}

impl Routes {
    pub(super) fn build(inputs: &Inputs, outline: Arc<Outline>) -> Self {
        Self { list: list(inputs), _outline: outline }
    }
}

fn list(inputs: &Inputs) -> Vec<Encoded> {
    let mut out = Vec::new();
    let mut sources = inputs.sources.iter();
    for (index, http) in (0..).zip(&inputs.virtual_service.spec.http) {
        let mut catch_all = http.r#match.is_empty();
        if catch_all {
            out.push(route(inputs, index, http, None));
        }
        for request in &http.r#match {
            // Asked for each match that counts among the sources, whether it is reached or not.
            let labels = !asks(request) || sources.next().copied().unwrap_or_default();
            if !catch_all && is_meant(inputs, request, labels) {
                let route = route(inputs, index, http, Some(request));
                catch_all = route.catch_all;
                out.push(route);
            }
        }
        if catch_all {
            break;
        }
    }
    out
}

fn is_meant(inputs: &Inputs, request: &HttpMatchRequest, labels: bool) -> bool {
    if request.port != 0 && request.port != inputs.port {
        return false;
    }
    if !request.gateways.is_empty() {
        return request.gateways.iter().any(|gateway| **gateway == *inputs.gateway);
    }
    let namespace = request.source_namespace.as_str();
    labels && (namespace.is_empty() || inputs.namespace.as_deref() == Some(namespace))
}

fn route(inputs: &Inputs, index: u32, http: &HttpRoute, request: Option<&HttpMatchRequest>) -> Encoded {
    let mut name = http.name.clone();
    if let Some(part) = request.map(|request| &request.name).filter(|name| !name.is_empty()) {
        name = format!("{name}.{part}");
    }
    let r#match = if request.is_some() { route_match(request) } else { anything() };
    let catch_all = is_catch_all(&r#match);
    let mut operations = http.headers.as_ref().map(Operations::of).unwrap_or_default();
    let mesh_retries = inputs.mesh.default_http_retry_policy.as_ref();
    let action = if let Some(to) = &http.redirect {
        redirect(to, inputs.port, inputs.tls).map(Action::Redirect)
    } else if let Some(response) = &http.direct_response {
        Some(Action::DirectResponse(direct_response(response)))
    } else {
        let destinations = Resolved { inputs, route: index };
        let forwarded = inputs.forwarded_host;
        Some(Action::Route(route_action(http, &destinations, &mut operations, mesh_retries, forwarded)))
    };
    let mut route = Route {
        name,
        metadata: Some(origin(&inputs.virtual_service)),
        stat_prefix: request.map(|request| request.stat_prefix.clone()).unwrap_or_default(),
        request_headers_to_add: operations.request_add,
        request_headers_to_remove: operations.request_remove,
        response_headers_to_add: operations.response_add,
        response_headers_to_remove: operations.response_remove,
        r#match: Some(r#match),
        action,
        ..Route::default()
    };
    let operation = operation(&route, &inputs.virtual_service.key.name, inputs.port);
    route.decorator = Some(Decorator { operation, ..Decorator::default() });
    Encoded { element: encode(&route, http), catch_all }
}

/// A map of the generated types has no order, and the bytes must have one: its entries are encoded one by one.
fn encode(route: &Route, http: &HttpRoute) -> Bytes {
    let mut body = route.encode_to_vec();
    let mut filter = |name: &str, config: Any| {
        let entry =
            Route { typed_per_filter_config: HashMap::from([(name.to_owned(), config)]), ..Route::default() };
        body.extend(entry.encode_to_vec());
    };
    if let Some(policy) = &http.cors_policy {
        filter("envoy.filters.http.cors", any(&cors(policy)));
    }
    if let Some(injection) = &http.fault {
        filter("envoy.filters.http.fault", any(&fault(injection)));
    }
    wire::element(wire::ROUTE, &body)
}

/// Which object a route comes from.
fn origin(virtual_service: &VirtualService) -> Metadata {
    let key = &virtual_service.key;
    let path =
        format!("/apis/networking.istio.io/v1/namespaces/{}/virtual-service/{}", key.namespace, key.name);
    let config = Value { kind: Some(Kind::StringValue(path)) };
    let istio = Struct { fields: HashMap::from([("config".to_owned(), config)]) };
    Metadata {
        filter_metadata: HashMap::from([(crate::metadata::ISTIO.to_owned(), istio)]),
        ..Metadata::default()
    }
}

/// How traces name the route: by its one destination, or by the VirtualService if there are several.
fn operation(route: &Route, name: &str, port: u32) -> String {
    let path = match route.r#match.as_ref().and_then(|r#match| r#match.path_specifier.as_ref()) {
        Some(PathSpecifier::Prefix(prefix)) => format!("{prefix}*"),
        Some(PathSpecifier::Path(path)) => path.clone(),
        Some(PathSpecifier::SafeRegex(regex)) => regex.regex.clone(),
        _ => "/*".to_owned(),
    };
    let cluster = match &route.action {
        Some(Action::Route(action)) => match &action.cluster_specifier {
            Some(ClusterSpecifier::Cluster(cluster)) => names::parse_outbound(cluster),
            _ => None,
        },
        _ => None,
    };
    match cluster {
        Some(cluster) => format!("{}:{}{path}", cluster.host, cluster.port),
        None => format!("{name}:{port}{path}"),
    }
}

struct Resolved<'a> {
    inputs: &'a Inputs,
    route: u32,
}

impl Resolved<'_> {
    fn known(&self, slot: Slot) -> Option<&Known> {
        self.inputs.known.iter().find(|known| known.route == self.route && known.slot == slot)
    }
}

impl Destinations for Resolved<'_> {
    fn cluster(&self, slot: Slot, destination: Option<&Destination>) -> String {
        let Some(to) = destination.filter(|to| !to.host.is_empty()) else {
            return "UnknownService".to_owned();
        };
        let known = self.known(slot);
        let host = known.and_then(|known| known.alias.as_deref()).unwrap_or(&to.host);
        let port = to.port.map(|port| port.number).or_else(|| known?.port).unwrap_or(self.inputs.port);
        names::outbound(port, &to.subset, host)
    }

    fn rule(&self, slot: Slot) -> Option<&v1alpha3::DestinationRule> {
        Some(&self.known(slot)?.rule.as_ref()?.spec)
    }
}
