//! Istio's configuration as proxies come to see it, from documents to a snapshot.
#![allow(clippy::unwrap_used, reason = "helper functions of tests")]

mod authentication;
mod destination_rules;
mod gateways;
mod mesh;
mod property;
mod scopes;
mod virtual_services;
