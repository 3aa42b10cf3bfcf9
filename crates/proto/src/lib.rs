//! Generated code: Istio's API as Rust types with Istio's JSON, Envoy's as `envoy`
//! (with the feature of that name; `google` has the well-known types that those use), and descriptor sets of Istio's alone and of
//! both for messages whose type is known only when they are read. Made by `cargo xtask generate`; by hand are only
//! the durations, which Istio reads as Go writes them.
//!
//! JSON is read leniently: a field that is not known is passed by. Whoever must know of such fields compares the
//! document with [`istio_descriptors`].

mod duration;

pub use duration::{BadDuration, Duration};
#[cfg(feature = "envoy")]
pub use envoy_types::pb::{envoy, google};
pub use pbjson_types::{ListValue, Struct, Timestamp, Value, value::Kind as ValueKind};

use prost_reflect::DescriptorPool;
use std::sync::LazyLock;

macro_rules! generated {
    ($($group:ident { $($version:ident = $file:literal;)+ })+) => {
        $(pub mod $group {
            $(pub mod $version {
                #![allow(clippy::all, clippy::pedantic, clippy::nursery, unused_qualifications, reason = "generated")]
                include!(concat!("generated/istio.", $file, ".rs"));
            })+
        })+
    };
}

/// Istio's packages.
pub mod istio {
    generated! {
        analysis { v1alpha1 = "analysis.v1alpha1"; }
        extensions { v1alpha1 = "extensions.v1alpha1"; }
        mesh { v1alpha1 = "mesh.v1alpha1"; }
        meta { v1alpha1 = "meta.v1alpha1"; }
        networking {
            v1alpha3 = "networking.v1alpha3";
            v1beta1 = "networking.v1beta1";
        }
        security { v1beta1 = "security.v1beta1"; }
        telemetry { v1alpha1 = "telemetry.v1alpha1"; }
        r#type { v1beta1 = "type.v1beta1"; }
    }
}

/// Every message that there is a Rust type for. Decoded at first use, which takes a millisecond.
pub fn istio_descriptors() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        DescriptorPool::decode(include_bytes!("../istio.bin").as_slice())
            .expect("the descriptor set is generated and tested")
    });
    &POOL
}

/// Every message of Istio's and Envoy's APIs. Decoded at first use, which takes some tens of milliseconds and as many
/// megabytes: only where a message of Envoy's is named.
pub fn descriptors() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        DescriptorPool::decode(include_bytes!("../descriptors.bin").as_slice())
            .expect("the descriptor set is generated and tested")
    });
    &POOL
}

#[cfg(test)]
mod tests {
    use super::{descriptors, istio_descriptors};

    #[test]
    fn istio_s_messages_are_in_a_set_of_their_own() {
        for name in ["istio.networking.v1alpha3.VirtualService", "istio.mesh.v1alpha1.MeshConfig"] {
            assert!(istio_descriptors().get_message_by_name(name).is_some(), "{name}");
        }
        assert!(istio_descriptors().get_message_by_name("envoy.config.listener.v3.Listener").is_none());
    }

    #[test]
    fn istio_s_and_envoy_s_messages_are_in_one_set() {
        for name in [
            "istio.networking.v1alpha3.VirtualService",
            "istio.mesh.v1alpha1.MeshConfig",
            "envoy.config.listener.v3.Listener",
            "envoy.extensions.filters.http.router.v3.Router",
            "udpa.type.v1.TypedStruct",
            "xds.type.v3.TypedStruct",
            "stats.PluginConfig",
        ] {
            assert!(descriptors().get_message_by_name(name).is_some(), "{name}");
        }
    }
}
