//! How one service of the sample calls another: by its name, through the proxy that the environment names, as any program that
//! honours `http_proxy` does.

use crate::http::{Door, get};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::{env, io, net::SocketAddr, time::Duration};
use tokio::net::lookup_host;

/// Handed on from the caller, so that routes by header hold, and traces hang together, further in.
const HANDED_ON: [&str; 7] =
    ["x-user", "x-request-id", "traceparent", "tracestate", "x-b3-traceid", "x-b3-spanid", "x-b3-sampled"];

const WAIT: Duration = Duration::from_secs(10);

pub(super) struct Outbound {
    proxy: Option<SocketAddr>,
}

impl Outbound {
    pub(super) fn from_environment() -> Self {
        let text = env::var("http_proxy").or_else(|_| env::var("HTTP_PROXY")).unwrap_or_default();
        let address = text.trim_start_matches("http://").trim_end_matches('/');
        Self { proxy: address.parse().ok() }
    }

    /// What the service said, or an object that says why there is nothing.
    pub(super) async fn ask(&self, host: &str, from: &HeaderMap) -> Value {
        let service = host.split(':').next().unwrap_or(host);
        let failed = |reason: String| json!({ "service": service, "error": reason });
        let headers: Vec<(HeaderName, HeaderValue)> = HANDED_ON
            .into_iter()
            .filter_map(|name| Some((HeaderName::from_static(name), from.get(name)?.clone())))
            .collect();
        let url = format!("http://{host}/");
        let asked = match self.proxy {
            Some(proxy) => get(&Door::Tcp(proxy), &url, &headers, WAIT).await,
            // What is sent there goes through the sidecar by itself.
            None => match address(host).await {
                Ok(address) => get(&Door::Tcp(address), &url, &headers, WAIT).await,
                Err(error) => Err(error),
            },
        };
        match asked {
            Ok(answer) if answer.status.is_success() => {
                serde_json::from_slice(&answer.body).unwrap_or_else(|error| failed(error.to_string()))
            }
            Ok(answer) => failed(format!("status {}", answer.status.as_u16())),
            Err(error) => failed(error.to_string()),
        }
    }
}

async fn address(host: &str) -> io::Result<SocketAddr> {
    let named = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let mut found = lookup_host(named).await?;
    found.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}
