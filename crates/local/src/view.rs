//! The mesh as people see it: what `status` prints, what the page shows, what `traffic` counts. One shape, as JSON, for all of them.

use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Of Mizzen.
    pub version: String,
    pub pid: u32,
    /// Seconds since 1970.
    pub started: u64,
    pub now: u64,
    /// Everything has answered once.
    pub ready: bool,
    /// Where callers from outside come in.
    pub ingress: SocketAddr,
    pub page: SocketAddr,
    /// The folder of Istio's objects.
    pub objects_folder: PathBuf,
    pub envoy: String,
    /// `loopback` or `netns`
    pub capture: String,
    pub control_plane: Process,
    pub gateway: Proxy,
    pub workloads: Vec<Workload>,
    pub edges: Vec<Edge>,
    pub objects: Vec<Object>,
    /// What is wrong in files, where it stands.
    pub problems: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    pub name: String,
    pub pid: Option<u32>,
    /// `ready`, `starting`, `ended`; `not answering` of one that somebody else starts.
    pub state: String,
    pub restarts: u32,
    /// Seconds since 1970.
    pub since: Option<u64>,
    /// Resident, in bytes.
    pub memory: Option<u64>,
    /// How it ended last, and what it said then.
    pub last_end: Option<String>,
    pub said: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proxy {
    pub process: Process,
    /// What it proves to others.
    pub identity: String,
    pub certificate_until: u64,
    pub sync: Sync,
    /// Handshakes of mutual TLS with those that it called.
    pub handshakes: u64,
    /// Answers of its outbound side with status 5xx, faults that were asked for among them.
    pub failed: u64,
    pub faults: u64,
}

/// What a proxy has of what it should have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sync {
    pub connected: bool,
    /// By type, `synced`, `stale` or `refused`.
    pub types: Vec<SyncType>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncType {
    pub name: String,
    pub state: String,
    pub error: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    pub name: String,
    pub service: String,
    pub version: String,
    pub ready: bool,
    pub address: String,
    pub local: String,
    pub http_proxy: SocketAddr,
    pub ports: Vec<Port>,
    pub app: Process,
    pub proxy: Proxy,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Port {
    pub name: String,
    pub protocol: String,
    pub service: u16,
    /// Where the sidecar takes calls.
    pub inbound: SocketAddr,
    /// It is another one than the service's, because that is root's.
    pub moved: bool,
    pub app: SocketAddr,
}

/// Calls from one workload to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    pub from: String,
    /// A workload, or a host outside of the mesh.
    pub to: String,
    pub service: String,
    pub requests: u64,
    pub failed: u64,
    /// A second, over the last ten.
    pub rate: f64,
    /// Of the last ten seconds; nothing if there were no calls.
    pub success: Option<f64>,
    /// Milliseconds, of all calls to that service.
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub mtls: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    /// `in effect`, or `problem`: the last good one holds, if there was one.
    pub state: String,
    pub problems: Vec<String>,
}

impl Workload {
    /// In one word, the worse of its two processes.
    pub fn state(&self) -> &str {
        match (self.ready, self.proxy.process.state.as_str()) {
            (true, _) => "ready",
            (false, "ready") => &self.app.state,
            (false, other) => other,
        }
    }
}

impl Sync {
    pub fn word(&self) -> &str {
        let is = |state: &str| self.types.iter().any(|one| one.state == state);
        match self.connected {
            false => "not connected",
            true if is("refused") => "refused",
            true if is("stale") => "stale",
            true => "synced",
        }
    }
}
