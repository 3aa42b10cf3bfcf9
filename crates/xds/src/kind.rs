//! The types of resources: their URLs, the order they are sent in, and how a subscription to them starts.

use std::{fmt, sync::Arc};

/// A type of resource. The order of the variants is the order in which a new generation is sent: what is
/// referred to comes before what refers to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Cluster,
    Endpoints,
    Listener,
    Route,
    Secret,
    Extension,
    NameTable,
    ProxyConfig,
    /// Anything else, by its URL.
    Other(Arc<str>),
}

/// The types with a variant of their own.
const NAMED: [(Type, &str, &str); 8] = [
    (Type::Cluster, "type.googleapis.com/envoy.config.cluster.v3.Cluster", "cds"),
    (Type::Endpoints, "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "eds"),
    (Type::Listener, "type.googleapis.com/envoy.config.listener.v3.Listener", "lds"),
    (Type::Route, "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "rds"),
    (Type::Secret, "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "sds"),
    (Type::Extension, "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "ecds"),
    (Type::NameTable, "type.googleapis.com/istio.networking.nds.v1.NameTable", "nds"),
    (Type::ProxyConfig, "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig", "pcds"),
];

impl Type {
    /// How many variants [`Type::index`] tells apart.
    pub(crate) const COUNT: usize = NAMED.len() + 1;

    pub fn of_url(url: &str) -> Self {
        match NAMED.iter().find(|(_, known, _)| *known == url) {
            Some((kind, ..)) => kind.clone(),
            None => Self::Other(url.into()),
        }
    }

    pub fn url(&self) -> &str {
        match self {
            Self::Other(url) => url,
            named => NAMED[named.index()].1,
        }
    }

    /// What Istio's metrics call it: `cds`, `eds`, …; for other types the last part of the URL.
    pub fn short(&self) -> &str {
        match self {
            Self::Other(url) => url.rsplit(['/', '.']).next().unwrap_or(url),
            named => NAMED[named.index()].2,
        }
    }

    pub(crate) fn index(&self) -> usize {
        match self {
            Self::Cluster => 0,
            Self::Endpoints => 1,
            Self::Listener => 2,
            Self::Route => 3,
            Self::Secret => 4,
            Self::Extension => 5,
            Self::NameTable => 6,
            Self::ProxyConfig => 7,
            Self::Other(_) => 8,
        }
    }

    /// Those with a variant of their own, in order.
    pub(crate) fn named() -> impl Iterator<Item = Self> {
        NAMED.iter().map(|(kind, ..)| kind.clone())
    }

    /// Whether a first request without names means everything. Types that are found through others (endpoints
    /// through clusters, routes through listeners) are asked for by name only.
    pub fn is_wildcard(&self) -> bool {
        !matches!(self, Self::Endpoints | Self::Route | Self::Secret | Self::Extension)
    }

    /// Whether clients are told of removals. Extensions are dropped by Envoy when nothing refers to them; removing
    /// one earlier breaks the filters that still do.
    pub(crate) fn tells_removals(&self) -> bool {
        !matches!(self, Self::Extension)
    }

    /// Whether resources of this type refer to clusters by name.
    pub(crate) fn refers_to_clusters(&self) -> bool {
        matches!(self, Self::Listener | Self::Route)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_url_names_its_type_and_back() {
        for (place, (kind, url, short)) in NAMED.iter().enumerate() {
            assert_eq!(Type::of_url(url), *kind);
            assert_eq!((kind.url(), kind.short(), kind.index()), (*url, *short, place));
        }
        let other = Type::of_url("istio.io/debug/syncz");
        assert_eq!((other.url(), other.short()), ("istio.io/debug/syncz", "syncz"));
    }

    #[test]
    fn clusters_come_before_endpoints_listeners_and_routes() {
        let mut order: Vec<_> = Type::named().collect();
        order.push(Type::Other("x".into()));
        assert!(order.is_sorted());
    }
}
