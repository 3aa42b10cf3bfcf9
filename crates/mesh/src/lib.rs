//! The mesh as one value. In: objects, as they come and go ([`input`], Istio's kinds). Out: a [`Snapshot`] that never
//! changes, and what a proxy sees of it. Knows neither Envoy nor any client.
//!
//! One way through: [`Store::apply`] takes an event, [`Store::snapshot`] makes the next snapshot and keeps every part
//! that the events did not touch: equal parts are the same [`std::sync::Arc`], and later stages rely on that to know
//! what they need not build again.

pub mod config;
mod host;
pub mod input;
mod model;
mod pointer;
mod proxy;
mod read;
pub mod registry;
mod scope;
mod services;
mod settings;
mod sight;
mod snapshot;
mod store;
mod visibility;

pub use host::Host;
pub use model::{
    Accounts, Endpoint, Health, Labels, Locality, NamedPort, Port, Protocol, Registry, Resolution, Service,
    ServiceEndpoints, ServiceKey, TlsMode, TrafficDistribution, Workload, WorkloadKind,
};
pub use pointer::ByPointer;
pub use proxy::{
    Answer, Attributes, Facts, Interception, Node, Proxy, ProxyKind, Question, Reads, Refused, Sees, Subject,
    Target,
};
pub use read::NotRead;
pub use scope::{Scope, Seen, Visible};
pub use services::{Aliases, Services};
pub use settings::Settings;
pub use sight::{Part, Parts, Sight, changed_endpoints};
pub use snapshot::{Authentication, DestinationRules, Gateways, Problem, Snapshot, VirtualServices};
pub use store::{Event, Key, KeyKind, Store};
pub use visibility::Visibility;
