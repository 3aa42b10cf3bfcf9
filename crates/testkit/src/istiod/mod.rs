//! A real istiod on a real API server, without a node: the original to compare with, and a control plane for tests
//! of everything else.
//!
//! In: an API server and [`Options`]. Out: the process, ready, with Istio's and the Gateway API's kinds installed; its
//! discovery port without TLS; its debug pages. Its certificate authority is off: identities come from
//! [`crate::secrets`]. Filters that only Istio's own proxy has are off too, so that a stock Envoy takes what it says.

mod injection;
mod kinds;

use std::{fs, net::SocketAddr, path::PathBuf, process::Command};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use self::injection::Injection;
use crate::{
    apiserver::ApiServer,
    error::{During, Error, Result},
    part::Part,
    ports,
    run::run,
    tools,
    wait::{PATIENCE, Seen},
    wire,
};

pub const NAMESPACE: &str = "istio-system";

#[derive(Clone, Debug)]
pub struct Options {
    /// MeshConfig; Istio's defaults for what is not said.
    pub mesh_config: Value,
    /// Whether it injects sidecars: one such istiod for an API server, its webhook lives as long as it does.
    pub injection: bool,
    /// More switches (`PILOT_…`), after the ones of this kit.
    pub environment: Vec<(String, String)>,
    /// Another control plane that takes istiod's verb, flags and environment.
    pub program: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { mesh_config: json!({}), injection: false, environment: Vec::new(), program: None }
    }
}

pub struct Istiod {
    /// Dropped first: the webhook must go before its server.
    injection: Option<Injection>,
    part: Part,
    discovery: SocketAddr,
    http: SocketAddr,
}

impl Istiod {
    /// Besides what the API server needs.
    pub const NEEDS: &[&str] = &["pilot-discovery", "modules/istio", "modules/gateway-api"];
    /// And with injection.
    pub const INJECTION_NEEDS: &[&str] = &["helm"];

    /// Istio's and the Gateway API's kinds alone, for who makes objects before a control plane starts.
    pub async fn install_kinds(server: &ApiServer) -> Result<()> {
        kinds::install(server).await
    }

    /// Once more on other ports, if one was taken between being free and being used.
    pub async fn start(server: &ApiServer, options: Options) -> Result<Self> {
        match Self::attempt(server, options.clone()).await {
            Err(error) if error.to_string().contains("address already in use") => {
                tracing::warn!(%error, "a port was taken in between: once more, with others");
                Self::attempt(server, options).await
            }
            outcome => outcome,
        }
    }

    async fn attempt(server: &ApiServer, options: Options) -> Result<Self> {
        kinds::install(server).await?;
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        server.apply(&namespace.to_string()).await?;

        let folder = run().part_folder("istiod").during("make istiod's folder")?;
        let mesh = folder.join("mesh.json");
        fs::write(&mesh, options.mesh_config.to_string()).during("write the mesh configuration")?;
        let [discovery, http, monitoring, https] =
            ports::free()?.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let injection = match options.injection {
            true => Some(Injection::prepare(server, https, &folder).await?),
            false => None,
        };

        let program = options.program.map_or_else(|| tools::command("pilot-discovery"), Ok)?;
        let name =
            program.file_stem().unwrap_or_default().to_string_lossy().replace("pilot-discovery", "istiod");
        let mut command = Command::new(program);
        command
            .current_dir(&folder)
            .envs([
                ("POD_NAME", "istiod-0"),
                ("POD_NAMESPACE", NAMESPACE),
                // As in an installation; without it istiod does not know its own webhook.
                ("REVISION", "default"),
                ("ENABLE_CA_SERVER", "false"),
                ("ENABLE_LEADER_ELECTION", "false"),
                ("INJECT_ENABLED", if options.injection { "true" } else { "false" }),
                ("PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER", "false"),
                ("PILOT_ENABLE_ALPN_FILTER", "false"),
                ("PILOT_ENABLE_METADATA_EXCHANGE", "false"),
            ])
            .envs(options.environment)
            .args([
                "discovery",
                "--registries=Kubernetes",
                "--domain=cluster.local",
                "--clusterID=Kubernetes",
            ])
            .args(["-n", NAMESPACE, "--secureGRPCAddr=", "--ctrlz_port=0"])
            .args([
                "--kubernetesApiQPS=1000",
                "--kubernetesApiBurst=2000",
                "--keepaliveMaxServerConnectionAge=24h",
            ])
            .arg(format!("--kubeconfig={}", server.kubeconfig_file().display()))
            .arg(format!("--meshConfig={}", mesh.display()))
            .arg(format!("--grpcAddr={discovery}"))
            .arg(format!("--httpAddr={http}"))
            .arg(format!("--monitoringAddr={monitoring}"));
        match &injection {
            Some(injection) => command.args(injection.arguments()),
            None => command.arg("--httpsAddr="),
        };

        let istiod = Self { injection, part: Part::start(&name, command)?, discovery, http };
        let ready = async || match istiod.part.listens_on(http.port()) {
            true => Seen::from_result(istiod.get("/ready").await.map(|_| ())),
            false => Seen::NotYet("it does not listen".to_owned()),
        };
        istiod.part.until(&format!("{name} to be ready"), PATIENCE, ready).await?;
        if let Some(injection) = &istiod.injection {
            let trusted = async || Seen::from_result(injection.trusted().await);
            istiod.part.until("istiod to sign its webhook", PATIENCE, trusted).await?;
        }
        Ok(istiod)
    }

    /// Where proxies connect, without TLS.
    pub fn discovery(&self) -> SocketAddr {
        self.discovery
    }

    pub fn part(&self) -> &Part {
        &self.part
    }

    /// A debug page, such as `syncz` or `registryz`.
    pub async fn debug(&self, page: &str) -> Result<Value> {
        self.get(&format!("/debug/{page}")).await?.json()
    }

    /// Everything that it has for a connected proxy.
    pub async fn config_dump(&self, pod: &str, namespace: &str) -> Result<Value> {
        self.debug(&format!("config_dump?proxyID={pod}.{namespace}")).await
    }

    async fn get(&self, path: &str) -> Result<wire::Reply> {
        let stream = TcpStream::connect(self.http).await.during("connect to istiod")?;
        let request = Request::get(path).header("host", "istiod").body(Full::<Bytes>::default());
        wire::http1(stream, request.map_err(Error::other)?).await?.successful()
    }
}
