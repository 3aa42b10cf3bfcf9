//! How one service of the sample calls another: by its name, through the proxy that the environment names, as any program that
//! honours `http_proxy` does.

use crate::http::{Door, get};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::{env, net::SocketAddr, time::Duration};

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
        let Some(proxy) = self.proxy else { return failed("http_proxy is not set".to_owned()) };
        let headers: Vec<(HeaderName, HeaderValue)> = HANDED_ON
            .into_iter()
            .filter_map(|name| Some((HeaderName::from_static(name), from.get(name)?.clone())))
            .collect();
        match get(&Door::Tcp(proxy), &format!("http://{host}/"), &headers, WAIT).await {
            Ok(answer) if answer.status.is_success() => {
                serde_json::from_slice(&answer.body).unwrap_or_else(|error| failed(error.to_string()))
            }
            Ok(answer) => failed(format!("status {}", answer.status.as_u16())),
            Err(error) => failed(error.to_string()),
        }
    }
}
