//! What is asked of a VirtualService again and again, found out once: its hosts, whom it tells apart, where it sends.

use mizzen_mesh::{Labels, config::VirtualService};
use mizzen_proto::istio::networking::v1alpha3::{Destination, HttpMatchRequest, HttpRoute};
use std::sync::Arc;

/// The place of a destination in an HTTP route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    Mirror,
    Mirrors(u32),
    Route(u32),
}

#[derive(Debug)]
pub(super) struct To {
    /// Which of the HTTP routes.
    pub(super) route: u32,
    pub(super) slot: Slot,
    pub(super) host: Arc<str>,
    /// It names a port.
    pub(super) port: bool,
}

#[derive(Debug)]
pub(super) struct Outline {
    /// In small letters, without those that follow.
    pub(super) hosts: Vec<Arc<str>>,
    /// `*.com`
    pub(super) wildcards: Vec<Arc<str>>,
    /// The source labels of matches, one for each match that [`asks`], in their order.
    pub(super) sources: Vec<Arc<Labels>>,
    /// Some match looks at the namespace of the source.
    pub(super) by_namespace: bool,
    pub(super) to: Vec<To>,
}

/// Whether a match depends on the labels of who asks. A match that names gateways depends on these alone.
pub(super) fn asks(request: &HttpMatchRequest) -> bool {
    request.gateways.is_empty() && !request.source_labels.is_empty()
}

impl Outline {
    pub(super) fn of(virtual_service: &VirtualService) -> Self {
        let spec = &virtual_service.spec;
        let (wildcards, hosts) = spec
            .hosts
            .iter()
            .map(|host| Arc::<str>::from(host.to_lowercase()))
            .partition(|host| host.starts_with('*'));
        let matches = || spec.http.iter().flat_map(|route| &route.r#match);
        let labels = |request: &HttpMatchRequest| -> Arc<Labels> {
            let pair =
                |(key, value): (&String, &String)| (Arc::from(key.as_str()), Arc::from(value.as_str()));
            Arc::new(request.source_labels.iter().map(pair).collect())
        };
        Self {
            hosts,
            wildcards,
            sources: matches().filter(|request| asks(request)).map(labels).collect(),
            by_namespace: matches().any(|request| !request.source_namespace.is_empty()),
            to: (0..).zip(&spec.http).flat_map(|(index, route)| destinations(index, route)).collect(),
        }
    }
}

fn destinations(route: u32, http: &HttpRoute) -> Vec<To> {
    let mirror = http.mirror.iter().map(|to| (Slot::Mirror, to));
    let mirrors = (0..)
        .zip(&http.mirrors)
        .filter_map(|(index, to)| Some((Slot::Mirrors(index), to.destination.as_ref()?)));
    let routes =
        (0..).zip(&http.route).filter_map(|(index, to)| Some((Slot::Route(index), to.destination.as_ref()?)));
    let to = |(slot, to): (Slot, &Destination)| To {
        route,
        slot,
        host: to.host.as_str().into(),
        port: to.port.is_some(),
    };
    mirror.chain(mirrors).chain(routes).map(to).collect()
}
