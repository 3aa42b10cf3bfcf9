//! The `Istio` resource: one object that says how the mesh of a cluster is to be.
//!
//! Kyma's kind, field by field, so that its users change nothing. What is only ours is in one place, `spec.mizzen`, and in
//! four fields of the status. Both versions have one schema, so converting between them is doing nothing.

mod affinity;
mod definition;
mod spec;
mod status;

pub use definition::definition;
pub use spec::{
    Authorizer, Cni, CniSettings, Components, Config, Distribution, EgressGateway, Experimental, Headers,
    HpaSpec, InCheck, Mizzen, PilotFlags, Proxy, ProxySettings, ProxyStatsMatcher, Quantities, Resources,
    Restart, RollingUpdate, Settings, Spec, Strategy, Telemetry, TelemetryMetrics, ToDownstream, ToUpstream,
    Workload, Wrong,
};
pub use status::{Component, Condition, OutdatedProxies, Phase, ReadAtStart, State, Status};

pub const GROUP: &str = "operator.kyma-project.io";
pub const KIND: &str = "Istio";
pub const PLURAL: &str = "istios";
/// The one that is written to etcd; the second is older, and the same.
pub const VERSIONS: [&str; 2] = ["v1alpha2", "v1alpha1"];
