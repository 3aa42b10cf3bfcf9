//! What the server saw, as it tells the client.

use std::{collections::BTreeMap, net::SocketAddr};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The label of the server that answered.
    pub version: String,
    /// `HTTP/1.1`, `HTTP/2`, `gRPC` or `TCP`.
    pub protocol: String,
    pub method: String,
    /// Path and query.
    pub path: String,
    /// By lower-case name; several values of one name are joined by a comma. HTTP/2's authority is `host`.
    pub headers: BTreeMap<String, String>,
    /// The other end of the connection.
    pub peer: SocketAddr,
    /// This end of it.
    pub local: SocketAddr,
    pub tls: Option<SeenTls>,
    /// What was sent, as text.
    pub body: String,
}

/// What TLS told the server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SeenTls {
    pub sni: Option<String>,
    pub alpn: Option<String>,
    /// The URI in the client's certificate.
    pub client: Option<String>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}
