//! The kinds that Istio's users write: what they are called and in which versions ([`Kind`]), one Rust type for each
//! ([`Spec`], generated from Istio's protos), the object around it ([`Object`]), and the way from JSON to it and back.
//! Knows no I/O.

pub mod crd;
mod fields;
mod grpc_status;
pub mod istio;
mod kind;
pub mod mesh;
mod metadata;
mod object;
mod read;
mod tolerant;

pub use fields::unknown_fields;
pub use grpc_status::GRPC_STATUSES;
pub use kind::{Kind, Spec};
pub use metadata::Metadata;
pub use mizzen_proto as proto;
pub use object::Object;
pub use read::{Identity, Unreadable};
