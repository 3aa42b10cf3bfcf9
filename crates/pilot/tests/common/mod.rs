//! A control plane in this process, on free ports, and what its pages say.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use mizzen_pilot::{Access, Failed, Options, Streams};
use mizzen_testkit::{
    Error, Result, ports,
    wait::{self, PATIENCE, Seen},
    wire::{self, Reply},
};
use serde_json::Value;
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};
use tokio::{net::TcpStream, sync::oneshot, task::JoinHandle};

/// A folder that is gone with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pilot-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.0.join(name)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) struct Plane {
    pub(crate) grpc: SocketAddr,
    pub(crate) http: SocketAddr,
    pub(crate) monitoring: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<Result<(), Failed>>>,
}

/// Nothing from anywhere, until a test says otherwise.
pub(crate) fn options() -> Options {
    Options {
        version: "test".into(),
        build: "test-0123abc-Clean".into(),
        registry: false,
        access: Access::default(),
        config_dirs: Vec::new(),
        mesh_config: "no-such-file".into(),
        networks_config: "no-such-file".into(),
        namespace: "istio-system".into(),
        domain: "cluster.local".into(),
        cluster: "Kubernetes".into(),
        revision: String::new(),
        grpc: None,
        http: None,
        monitoring: None,
        streams: Streams::default(),
        proxies: mizzen_envoy::Options {
            alpn: false,
            metadata_exchange: false,
            ..mizzen_envoy::Options::default()
        },
        verify: true,
        grace: Duration::from_secs(10),
    }
}

impl Plane {
    pub(crate) fn start(mut options: Options) -> Result<Self> {
        let [grpc, http, monitoring] = ports::free()?.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        options.grpc = Some(grpc.to_string());
        options.http = Some(http.to_string());
        options.monitoring = Some(monitoring.to_string());
        let (end, ended) = oneshot::channel();
        let run = mizzen_pilot::run(options, async {
            let _ = ended.await;
        });
        Ok(Self { grpc, http, monitoring, end: Some(end), task: Some(tokio::spawn(run)) })
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Reply> {
        get(self.http, path).await
    }

    pub(crate) async fn debug(&self, page: &str) -> Result<Value> {
        self.get(&format!("/debug/{page}")).await?.successful()?.json()
    }

    pub(crate) async fn ready(&self) -> Result<()> {
        wait::until("the control plane to be ready", PATIENCE, async || {
            Seen::from_result(self.get("/ready").await.and_then(Reply::successful).map(|_| ()))
        })
        .await
    }

    /// The hosts that it knows, by page `registryz`.
    pub(crate) async fn hosts(&self) -> Result<Vec<String>> {
        let services = self.debug("registryz").await?;
        let hosts = services.as_array().unwrap().iter();
        Ok(hosts.map(|service| service["hostname"].as_str().unwrap().to_owned()).collect())
    }

    pub(crate) async fn knows(&self, host: &str, is: bool) -> Result<()> {
        wait::until(&format!("{host} to be known: {is}"), PATIENCE, async || match self.hosts().await {
            Ok(hosts) => Seen::when(hosts.iter().any(|known| known == host) == is, || format!("{hosts:?}")),
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await
    }

    /// Istio's objects, by page `configz`: `Kind namespace/name`.
    pub(crate) async fn objects(&self) -> Result<Vec<String>> {
        let objects = self.debug("configz").await?;
        let text =
            |object: &Value, path: &str| object.pointer(path).and_then(Value::as_str).unwrap().to_owned();
        let name = |object: &Value| {
            format!(
                "{} {}/{}",
                text(object, "/kind"),
                text(object, "/metadata/namespace"),
                text(object, "/metadata/name")
            )
        };
        Ok(objects.as_array().unwrap().iter().map(name).collect())
    }

    pub(crate) async fn has(&self, object: &str, is: bool) -> Result<()> {
        wait::until(&format!("{object} to be there: {is}"), PATIENCE, async || match self.objects().await {
            Ok(objects) => {
                Seen::when(objects.iter().any(|known| known == object) == is, || format!("{objects:?}"))
            }
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await
    }

    /// The value of a metric's line, by the line's beginning.
    pub(crate) async fn metric(&self, line: &str) -> Result<Option<f64>> {
        let text = get(self.monitoring, "/metrics").await?.successful()?.text();
        let found = text.lines().find_map(|known| known.strip_prefix(line)?.strip_prefix(' ')?.parse().ok());
        Ok(found)
    }

    pub(crate) async fn metric_is(&self, line: &str, is: impl Fn(f64) -> bool) -> Result<()> {
        wait::until(line, PATIENCE, async || match self.metric(line).await {
            Ok(found) => Seen::when(found.is_some_and(&is), || format!("{found:?}")),
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await
    }

    /// Ends it as a signal would.
    pub(crate) async fn end(mut self) {
        drop(self.end.take());
        self.task.take().unwrap().await.unwrap().unwrap();
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Result<Reply> {
    let stream = TcpStream::connect(address).await.map_err(Error::other)?;
    let request = Request::get(path).header("host", "test").body(Full::<Bytes>::default());
    wire::http1(stream, request.map_err(Error::other)?).await
}
