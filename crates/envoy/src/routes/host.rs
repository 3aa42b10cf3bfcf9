//! Virtual hosts: a name, the domains that are asked for, and routes. In: everything that one depends on, as a key.
//! Out: its encoded bytes, ready to stand in a route configuration.

use super::{
    domains::{self, Domain, bracketed, with_port},
    environment::Environment,
    translate::{anything, of_service, plain_route, timed},
    virtual_service::Routes,
    wire,
};
use crate::names;
use bytes::Bytes;
use mizzen_mesh::{Aliases, ByPointer, Service, config::DestinationRule};
use mizzen_proto::{
    envoy::config::route::v3::{
        Decorator, DirectResponseAction, Route, RouteAction, VirtualHost, route::Action,
        route_action::ClusterSpecifier, virtual_host::TlsRequirementType,
    },
    google::protobuf,
    istio::mesh::v1alpha1::mesh_config::outbound_traffic_policy::Mode,
};
use prost::Message;
use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

/// Everything that a virtual host is built from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Inputs {
    Outbound(Outbound),
    /// For requests that no other virtual host of a sidecar takes.
    Rest(ByPointer<Environment>),
    Router(Router),
}

/// A host that a sidecar's applications may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Outbound {
    pub(super) subject: Subject,
    pub(super) port: u32,
    /// The listener is for several ports: domains have theirs, too.
    pub(super) ported: bool,
    pub(super) form: Form,
    pub(super) routing: Routing,
    pub(super) environment: ByPointer<Environment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// With its other names.
    Service(ByPointer<Service>, Aliases),
    /// A VirtualService's host that is no service.
    Host(Arc<str>),
}

/// Which domains.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// All names of the subject.
    All,
    /// Whatever is asked for: the listener is for this subject alone.
    Any,
    /// Others have some of its names.
    Only(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Routing {
    /// To the service itself; the rule if it hashes.
    Itself(Option<ByPointer<DestinationRule>>),
    Virtual(ByPointer<Routes>),
}

/// A host of a router's servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Router {
    pub(super) name: String,
    pub(super) domains: Vec<String>,
    pub(super) routes: Vec<ByPointer<Routes>>,
    pub(super) attempt_count: bool,
    /// Requests without TLS are told to come with it.
    pub(super) require_tls: bool,
}

#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    /// A number that sorts as the beginning of the name does.
    pub(super) order: u128,
    /// Of the name and of each domain: two hosts with none in common do not collide.
    pub(super) fingerprints: Box<[u64]>,
    /// As an element of a route configuration.
    pub(super) element: Bytes,
}

impl Host {
    pub(super) fn build(inputs: &Inputs) -> Self {
        match inputs {
            Inputs::Outbound(outbound) => outbound.build(),
            Inputs::Rest(environment) => rest(environment),
            Inputs::Router(router) => router.build(),
        }
    }

    fn new(head: VirtualHost, routes: &[&Bytes]) -> Self {
        let domains = head.domains.iter().map(|domain| fingerprint(domain, false));
        let fingerprints = std::iter::once(fingerprint(&head.name, true)).chain(domains).collect();
        let body = wire::with(&head, routes.iter().copied());
        let mut start = [0; 16];
        for (to, from) in start.iter_mut().zip(head.name.bytes()) {
            *to = from;
        }
        let order = u128::from_be_bytes(start);
        Self { name: head.name, order, fingerprints, element: wire::element(wire::VIRTUAL_HOST, &body) }
    }
}

/// Names and domains are told apart; letters' case is not.
pub(super) fn fingerprint(text: &str, is_name: bool) -> u64 {
    let mut hasher = DefaultHasher::new();
    is_name.hash(&mut hasher);
    small(text).hash(&mut hasher);
    hasher.finish()
}

/// A service's name as requests are compared with it.
pub(super) fn small(host: &str) -> Cow<'_, str> {
    if host.chars().any(char::is_uppercase) { host.to_lowercase().into() } else { host.into() }
}

impl Outbound {
    /// The subject's name in small letters. A proxy without a port of its own to tell by takes it as it is.
    pub(super) fn host(&self) -> Cow<'_, str> {
        match &self.subject {
            Subject::Service(service, _) if self.ported => service.host().into(),
            Subject::Service(service, _) => small(service.host()),
            Subject::Host(host) => (&**host).into(),
        }
    }

    pub(super) fn name(&self) -> String {
        with_port(&self.host(), self.port)
    }

    /// All domains of the subject, whatever others have of them.
    pub(super) fn domains(&self) -> Vec<Domain> {
        match (&self.subject, &self.environment.place) {
            (Subject::Service(service, aliases), Some(place)) => {
                let port = self.ported.then_some(self.port);
                domains::of_service(service, &self.host(), aliases, port, place)
            }
            _ => vec![Domain { text: bracketed(&self.host()), expanded: false }],
        }
    }

    fn build(&self) -> Host {
        let domains = match &self.form {
            Form::All => self.domains().into_iter().map(|domain| domain.text).collect(),
            Form::Any => vec!["*".to_owned()],
            Form::Only(domains) => domains.clone(),
        };
        let head = VirtualHost {
            name: self.name(),
            domains,
            include_request_attempt_count: self.environment.attempt_count,
            ..VirtualHost::default()
        };
        match &self.routing {
            Routing::Virtual(routes) => {
                let routes: Vec<&Bytes> = routes.list.iter().map(|route| &route.element).collect();
                Host::new(head, &routes)
            }
            Routing::Itself(rule) => Host::new(head, &[&self.route_to_itself(rule.as_deref())]),
        }
    }

    fn route_to_itself(&self, rule: Option<&DestinationRule>) -> Bytes {
        let host = self.host();
        let hash = rule.and_then(|rule| of_service(&rule.spec, self.port));
        let cluster = names::outbound(self.port, "", &host);
        let action = plain_route(cluster, self.environment.mesh.default_http_retry_policy.as_ref(), hash);
        let operation = format!("{}/*", with_port(&host, self.port));
        let route = Route {
            name: "default".into(),
            r#match: Some(anything()),
            action: Some(Action::Route(action)),
            decorator: Some(Decorator { operation, ..Decorator::default() }),
            ..Route::default()
        };
        wire::element(wire::ROUTE, &route.encode_to_vec())
    }
}

impl Router {
    fn build(&self) -> Host {
        let require = if self.require_tls { TlsRequirementType::All } else { TlsRequirementType::None };
        let head = VirtualHost {
            name: self.name.clone(),
            domains: self.domains.clone(),
            require_tls: require.into(),
            include_request_attempt_count: self.attempt_count,
            ..VirtualHost::default()
        };
        // Of several VirtualServices each may end with a route for everything: those go last.
        let all = || self.routes.iter().flat_map(|routes| &routes.list);
        let first = all().filter(|route| !route.catch_all);
        let last = all().filter(|route| route.catch_all);
        let routes: Vec<&Bytes> = first.chain(last).map(|route| &route.element).collect();
        Host::new(head, &routes)
    }
}

fn rest(environment: &Environment) -> Host {
    let to = |cluster: &str| {
        Action::Route(RouteAction {
            cluster_specifier: Some(ClusterSpecifier::Cluster(cluster.to_owned())),
            append_x_forwarded_host: environment.forwarded_host,
            ..timed(protobuf::Duration::default())
        })
    };
    let (name, action) = match environment.outbound() {
        Mode::AllowAny => ("allow_any", to(names::PASSTHROUGH)),
        Mode::AllowAnyDynamicDns => ("allow_any_dynamic_dns", to("AllowAnyDynamicDNSCluster")),
        Mode::RegistryOnly => {
            let refused = DirectResponseAction { status: 502, ..DirectResponseAction::default() };
            ("block_all", Action::DirectResponse(refused))
        }
    };
    let route =
        Route { name: name.into(), r#match: Some(anything()), action: Some(action), ..Route::default() };
    let head = VirtualHost {
        name: name.into(),
        domains: vec!["*".into()],
        include_request_attempt_count: environment.attempt_count,
        ..VirtualHost::default()
    };
    Host::new(head, &[&wire::element(wire::ROUTE, &route.encode_to_vec())])
}
