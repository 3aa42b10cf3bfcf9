//! ServiceEntries and WorkloadEntries → services, workloads and endpoints.

mod endpoints;
mod service;
mod workload;

pub(super) use endpoints::{Instance, instances};
pub(super) use service::services;
pub(super) use workload::{for_names_only, inline, machine};
