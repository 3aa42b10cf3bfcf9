//! Kubernetes objects as they come in, trimmed to what a mesh has use for: the rest of an object is never kept. The
//! same types are read from a watch and from files.

mod endpoint_slice;
mod namespace;
mod node;
mod pod;
mod service;

pub use endpoint_slice::{Conditions, EndpointSlice, SliceEndpoint, SlicePort, TargetRef};
pub use namespace::Namespace;
pub use node::Node;
pub use pod::{Container, ContainerPort, Owner, Pod, PodCondition, PodIp, PodSpec, PodStatus};
pub use service::{
    LoadBalancerIngress, LoadBalancerStatus, PortName, Service, ServicePort, ServiceSpec, ServiceStatus,
};

use mizzen_api::Metadata;
use serde::{Deserialize, Deserializer};

/// Kubernetes writes `null` where Go had an empty list.
pub(crate) fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Of every kind here.
pub trait Input: serde::de::DeserializeOwned + Send + Sync + 'static {
    const KIND: &'static str;
    /// Empty for the core group.
    const GROUP: &'static str;
    const VERSION: &'static str;
    const PLURAL: &'static str;
    const NAMESPACED: bool;

    fn metadata(&self) -> &Metadata;
}

macro_rules! inputs {
    ($($kind:ident $group:literal $version:literal $plural:literal $namespaced:literal;)*) => {
        $(impl Input for $kind {
            const KIND: &'static str = stringify!($kind);
            const GROUP: &'static str = $group;
            const VERSION: &'static str = $version;
            const PLURAL: &'static str = $plural;
            const NAMESPACED: bool = $namespaced;

            fn metadata(&self) -> &Metadata {
                &self.metadata
            }
        })*
    };
}

inputs! {
    Service "" "v1" "services" true;
    EndpointSlice "discovery.k8s.io" "v1" "endpointslices" true;
    Pod "" "v1" "pods" true;
    Node "" "v1" "nodes" false;
    Namespace "" "v1" "namespaces" false;
}
