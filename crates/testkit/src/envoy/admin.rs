//! Envoy's admin interface, by its Unix socket.

use std::{collections::BTreeMap, path::PathBuf};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::Value;
use tokio::net::UnixStream;

use crate::{
    error::{During, Error, Result},
    wire,
};

#[derive(Clone)]
pub struct Admin {
    socket: PathBuf,
}

impl Admin {
    pub(super) fn new(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// Any page of the interface.
    pub async fn get(&self, path: &str) -> Result<wire::Reply> {
        self.send(Method::GET, path).await
    }

    pub async fn post(&self, path: &str) -> Result<wire::Reply> {
        self.send(Method::POST, path).await?.successful()
    }

    /// `LIVE`, `PRE_INITIALIZING`, `INITIALIZING` or `DRAINING`.
    pub async fn state(&self) -> Result<String> {
        let info: Value = self.get("/server_info").await?.successful()?.json()?;
        Ok(info["state"].as_str().unwrap_or("unknown").to_owned())
    }

    /// Whether it takes traffic.
    pub async fn ready(&self) -> Result<bool> {
        Ok(self.get("/ready").await?.status.is_success())
    }

    /// The whole configuration, endpoints included.
    pub async fn config_dump(&self) -> Result<Value> {
        self.get("/config_dump?include_eds").await?.successful()?.json()
    }

    pub async fn clusters(&self) -> Result<Value> {
        self.get("/clusters?format=json").await?.successful()?.json()
    }

    pub async fn listeners(&self) -> Result<Value> {
        self.get("/listeners?format=json").await?.successful()?.json()
    }

    pub async fn certs(&self) -> Result<Value> {
        self.get("/certs").await?.successful()?.json()
    }

    /// Every counter and gauge.
    pub async fn stats(&self) -> Result<Stats> {
        let page: Value = self.get("/stats?format=json").await?.successful()?.json()?;
        let all = page["stats"].as_array().ok_or_else(|| Error::other("no statistics in Envoy's answer"))?;
        Ok(all
            .iter()
            .filter_map(|stat| Some((stat["name"].as_str()?.to_owned(), stat["value"].as_u64()?)))
            .collect())
    }

    /// Sets the level of one logger, or of all for `None`.
    pub async fn logging(&self, logger: Option<&str>, level: &str) -> Result<()> {
        let path = match logger {
            Some(logger) => format!("/logging?{logger}={level}"),
            None => format!("/logging?level={level}"),
        };
        self.post(&path).await.map(|_| ())
    }

    async fn send(&self, method: Method, path: &str) -> Result<wire::Reply> {
        let stream = UnixStream::connect(&self.socket).await.during("connect to Envoy's admin socket")?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "admin")
            .body(Full::<Bytes>::default())
            .map_err(Error::other)?;
        wire::http1(stream, request).await
    }
}

/// Counters and gauges by name.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    values: BTreeMap<String, u64>,
}

impl Stats {
    /// The value, 0 for what Envoy has never counted.
    pub fn get(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    /// One count of a cluster or listener: `of("cluster.outbound|80||cart", "upstream_rq_200")`. Istio ends those names
    /// with a `;`, which a test should not have to know.
    pub fn of(&self, scope: &str, count: &str) -> u64 {
        self.get(&format!("{scope}.{count}")) + self.get(&format!("{scope};.{count}"))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

impl FromIterator<(String, u64)> for Stats {
    fn from_iter<I: IntoIterator<Item = (String, u64)>>(all: I) -> Self {
        Self { values: all.into_iter().collect() }
    }
}
