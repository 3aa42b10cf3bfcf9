//! The front ends: one table for each kind that an application can write, all read by the same few functions.

mod authorization_policy;
mod conventions;
pub(crate) mod decode;
mod destination_rule;
mod envoy_filter;
mod gateway;
mod peer_authentication;
mod proxy_config;
mod request_authentication;
mod scalar;
mod service_entry;
pub(crate) mod shape;
mod sidecar;
pub(crate) mod syntax;
mod telemetry;
pub(crate) mod trace;
mod virtual_service;
mod wasm_plugin;
mod workload_entry;

pub(crate) use conventions::{ANNOTATIONS, COMMON, LABELS, MATCH, TARGETS};

use mizzen_api::Kind;
use serde_json::Value;
use shape::{Block, Fields};

/// One kind of block.
#[derive(Debug)]
pub(crate) struct FrontEnd {
    pub(crate) kind: Kind,
    /// What the blocks stand under: `istio.<word>.<key>`.
    pub(crate) word: &'static str,
    pub(crate) block: &'static Block,
    /// Another object that a block asks for: its kind, what is put behind its name, the attribute that asked, its spec.
    pub(crate) beside: Option<fn(&Fields, &Value) -> Option<Beside>>,
}

#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) kind: Kind,
    pub(crate) suffix: &'static str,
    pub(crate) asked_by: &'static str,
    pub(crate) spec: Value,
}

const fn front(kind: Kind, word: &'static str, block: &'static Block) -> FrontEnd {
    FrontEnd { kind, word, block, beside: None }
}

/// In the order of the Spec: what others refer to comes before them.
pub(crate) static ALL: &[FrontEnd] = &[
    front(Kind::ServiceEntry, "serviceEntries", &service_entry::BLOCK),
    front(Kind::WorkloadEntry, "workloadEntries", &workload_entry::BLOCK),
    front(Kind::DestinationRule, "destinationRules", &destination_rule::BLOCK),
    front(Kind::Gateway, "gateways", &gateway::BLOCK),
    front(Kind::VirtualService, "virtualServices", &virtual_service::BLOCK),
    front(Kind::Sidecar, "sidecars", &sidecar::BLOCK),
    front(Kind::PeerAuthentication, "peerAuthentications", &peer_authentication::BLOCK),
    FrontEnd {
        beside: Some(request_authentication::required),
        ..front(Kind::RequestAuthentication, "requestAuthentications", &request_authentication::BLOCK)
    },
    front(Kind::AuthorizationPolicy, "authorizationPolicies", &authorization_policy::BLOCK),
    front(Kind::Telemetry, "telemetries", &telemetry::BLOCK),
    front(Kind::ProxyConfig, "proxyConfigs", &proxy_config::BLOCK),
    front(Kind::WasmPlugin, "wasmPlugins", &wasm_plugin::BLOCK),
    front(Kind::EnvoyFilter, "envoyFilters", &envoy_filter::BLOCK),
];

pub(crate) fn called(word: &str) -> Option<&'static FrontEnd> {
    ALL.iter().find(|front| front.word == word)
}
