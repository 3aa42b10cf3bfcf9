//! One of the control planes, started and ready.

use std::{
    net::SocketAddr,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use mizzen_testkit::{ApiServer, Part, istiod, ports, tools};
use tokio::net::TcpStream;

use crate::{Arguments, meter::Meter};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Which {
    Istiod,
    /// With its debounce at one millisecond.
    EagerIstiod,
    Mizzen,
}

impl Which {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Istiod => "istiod",
            Self::EagerIstiod => "istiod, debounce 1 ms",
            Self::Mizzen => "mizzen",
        }
    }
}

pub(crate) struct Plane {
    pub(crate) address: SocketAddr,
    pub(crate) meter: Meter,
    /// From exec to ready.
    pub(crate) start: Duration,
    _part: Part,
}

impl Plane {
    pub(crate) async fn start(which: Which, server: &ApiServer, arguments: &Arguments) -> Result<Self> {
        let program = match which {
            Which::Istiod | Which::EagerIstiod => tools::command("pilot-discovery")?,
            Which::Mizzen => arguments.mizzen.clone(),
        };
        let [address, http, monitoring] = ports::free()?.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let mut command = Command::new(program);
        command
            .envs([
                ("POD_NAME", "istiod-0"),
                ("POD_NAMESPACE", istiod::NAMESPACE),
                ("REVISION", "default"),
                ("ENABLE_CA_SERVER", "false"),
                ("ENABLE_LEADER_ELECTION", "false"),
                ("INJECT_ENABLED", "false"),
                ("PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER", "false"),
                ("PILOT_ENABLE_ALPN_FILTER", "false"),
                ("PILOT_ENABLE_METADATA_EXCHANGE", "false"),
                ("PILOT_MAX_REQUESTS_PER_SECOND", "10000"),
                ("GOMAXPROCS", "2"),
            ])
            .args([
                "discovery",
                "--registries=Kubernetes",
                "--domain=cluster.local",
                "--clusterID=Kubernetes",
            ])
            .args(["-n", istiod::NAMESPACE, "--secureGRPCAddr=", "--httpsAddr=", "--ctrlz_port=0"])
            .args(["--kubernetesApiQPS=1000", "--kubernetesApiBurst=2000"])
            .arg("--keepaliveMaxServerConnectionAge=24h")
            .arg(format!("--kubeconfig={}", server.kubeconfig_file().display()))
            .arg(format!("--grpcAddr={address}"))
            .arg(format!("--httpAddr={http}"))
            .arg(format!("--monitoringAddr={monitoring}"));
        if which == Which::EagerIstiod {
            command.env("PILOT_DEBOUNCE_AFTER", "1ms");
        }
        let begun = Instant::now();
        let part = Part::start(which.name(), command)?;
        ready(&part, http).await?;
        Ok(Self { address, meter: Meter::of(part.pid()), start: begun.elapsed(), _part: part })
    }
}

/// Asked every two milliseconds, so that a start of tens of milliseconds can be told from one of hundreds.
async fn ready(part: &Part, http: SocketAddr) -> Result<()> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let limit = Instant::now() + Duration::from_secs(120);
    while Instant::now() < limit {
        anyhow::ensure!(part.ended().is_none(), "{}", part.error("it ended"));
        if let Ok(mut stream) = TcpStream::connect(http).await {
            let asked =
                stream.write_all(b"GET /ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
            let mut answer = Vec::new();
            if asked.is_ok()
                && stream.read_to_end(&mut answer).await.is_ok()
                && answer.starts_with(b"HTTP/1.1 200")
            {
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Err(part.error("it did not become ready")).context("start a control plane")
}
