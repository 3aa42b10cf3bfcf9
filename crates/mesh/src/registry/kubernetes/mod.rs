//! Kubernetes' objects → services, workloads and endpoints.

mod endpoints;
mod owner;
mod pod;
mod service;
mod slice;

pub(super) use endpoints::{Behind, endpoints, machine_port};
pub(super) use pod::Pod;
pub(super) use service::{service, trim};
pub(super) use slice::Slice;
