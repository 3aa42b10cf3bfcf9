//! `mizzen up`: a mesh on this machine, without Kubernetes, containers or root.
//!
//! ```text
//! mesh.yaml ─▶ config ─▶ plan ─▶ up: control plane, an Envoy beside each process, a gateway
//!                                 ├─▶ process: started again when they end, ended with us whatever happens
//!                                 ├─▶ identity: a CA, certificates over Unix sockets
//!                                 └─▶ observe ─▶ view ─▶ web (the page), status, traffic
//! ```
//!
//! Each workload has two loopback addresses: one where its sidecar takes calls for it, one where the sidecar takes its own calls.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests"))]

mod claim;
pub mod client;
pub mod config;
pub mod envoy;
mod http;
pub mod namespaces;
pub mod objects;
mod observe;
mod plan;
pub mod process;
pub mod sample;
pub mod state;
mod taken;
pub mod traffic;
pub mod up;
pub mod view;
mod web;
