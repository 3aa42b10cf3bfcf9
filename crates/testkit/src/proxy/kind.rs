//! The kinds of resources that a proxy asks for, in the order in which Envoy asks for them.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Clusters,
    Endpoints,
    Listeners,
    Routes,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Clusters, Self::Endpoints, Self::Listeners, Self::Routes];

    /// The full name of the message.
    pub fn message(self) -> &'static str {
        match self {
            Self::Clusters => "envoy.config.cluster.v3.Cluster",
            Self::Endpoints => "envoy.config.endpoint.v3.ClusterLoadAssignment",
            Self::Listeners => "envoy.config.listener.v3.Listener",
            Self::Routes => "envoy.config.route.v3.RouteConfiguration",
        }
    }

    pub fn url(self) -> String {
        format!("type.googleapis.com/{}", self.message())
    }

    pub fn from_url(url: &str) -> Option<Self> {
        let name = url.strip_prefix("type.googleapis.com/")?;
        Self::ALL.into_iter().find(|kind| kind.message() == name)
    }

    /// The word for it in dumps.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Endpoints => "endpoints",
            Self::Listeners => "listeners",
            Self::Routes => "routes",
        }
    }

    /// Whether a proxy wants all there are, or those it names.
    pub fn wildcard(self) -> bool {
        matches!(self, Self::Clusters | Self::Listeners)
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }
}
