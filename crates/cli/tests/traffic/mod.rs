//! A mesh without Kubernetes: `mizzen discovery` over a folder of plain objects, real Envoys beside real (if small)
//! applications, each in a network of its own with Istio's redirect rules.

use std::{
    fs,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::Command,
};

use mizzen_testkit::{
    Error, Part, Result,
    echo::{Answer, Call, Echo, Ports},
    envoy::{Bootstrap, Envoy},
    error::During,
    net::{Net, Workload},
    ports,
    run::run,
    secrets::Secrets,
    wait::{self, PATIENCE, Seen},
    wire,
};
use serde_json::{Value, json};


const APPLICATION: Ports = Ports { http: 8080, https: 0, tcp: 9000, tls: 0 };
const NAMESPACE: &str = "shop";
/// Of the service `cart`; nobody has it.
const CART: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 96, 0, 10));

pub struct Mesh {
    pub net: Net,
    folder: PathBuf,
    discovery: Part,
    http: SocketAddr,
    address: SocketAddr,
    secrets: Secrets,
}

impl Mesh {
    pub async fn start(mesh_config: Value) -> Result<Self> {
        let folder = run().part_folder("mesh").during("make a folder")?;
        let objects = folder.join("objects");
        fs::create_dir(&objects).during("make a folder")?;
        let mesh = folder.join("mesh.yaml");
        fs::write(&mesh, mesh_config.to_string()).during("write the mesh configuration")?;
        let [grpc, http, monitoring] = ports::free()?.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let mut command = Command::new(env!("CARGO_BIN_EXE_mizzen"));
        command
            .args(["discovery", "--registries=", "--secureGRPCAddr=", "--httpsAddr="])
            .arg(format!("--configDir={}", objects.display()))
            .arg(format!("--meshConfig={}", mesh.display()))
            .arg(format!("--grpcAddr={grpc}"))
            .arg(format!("--httpAddr={http}"))
            .arg(format!("--monitoringAddr={monitoring}"))
            // What is compared with istiod's is what is tried here.
            .env("MIZZEN_VERIFY_VIEWS", "true");
        let discovery = Part::start("discovery", command)?;
        let ready = async || match discovery.listens_on(http.port()) {
            true => Seen::from_result(get(http, "/ready").await.map(|_| ())),
            false => Seen::NotYet("it does not listen".to_owned()),
        };
        discovery.until("discovery to be ready", PATIENCE, ready).await?;
        let net = Net::start()?;
        let address = net.relay(grpc)?;
        Ok(Self { net, folder: objects, discovery, http, address, secrets: Secrets::start()? })
    }

    /// Writes a file of the mesh, over what it said before.
    pub fn write(&self, file: &str, objects: &[Value]) -> Result<()> {
        let documents: Vec<String> = objects.iter().map(Value::to_string).collect();
        self.write_text(file, &documents.join("\n---\n"))
    }

    pub fn write_text(&self, file: &str, text: &str) -> Result<()> {
        fs::write(self.folder.join(file), text).during("write a file of the mesh")
    }

    pub fn remove(&self, file: &str) -> Result<()> {
        fs::remove_file(self.folder.join(file)).during("remove a file of the mesh")
    }

    /// What the control plane says on a page of its own.
    pub async fn page(&self, path: &str) -> Result<wire::Reply> {
        get(self.http, path).await
    }

    pub fn log(&self) -> String {
        self.discovery.log()
    }

    /// A sidecar for a workload, configured.
    pub async fn sidecar(&self, workload: &Workload, labels: [(&str, &str); 2]) -> Result<Envoy> {
        let bootstrap = Bootstrap::sidecar(workload.address(), workload.name(), NAMESPACE)
            .service_account(workload.name())
            .labels(labels)
            .secrets(&self.secrets.service_account(NAMESPACE, workload.name())?)
            .control_plane(self.address);
        workload.redirect().await?;
        let envoy = workload.envoy(bootstrap).await?;
        envoy.wait_configured().await?;
        Ok(envoy)
    }

    /// An ingress gateway.
    pub async fn router(&self, workload: &Workload, labels: [(&str, &str); 2]) -> Result<Envoy> {
        let bootstrap = Bootstrap::router(workload.address(), workload.name(), NAMESPACE)
            .service_account(workload.name())
            .labels(labels)
            .secrets(&self.secrets.service_account(NAMESPACE, workload.name())?)
            .control_plane(self.address);
        let envoy = workload.envoy(bootstrap).await?;
        envoy.wait_configured().await?;
        Ok(envoy)
    }
}

/// A client, and a service `cart` of two versions.
pub struct Shop {
    pub mesh: Mesh,
    pub client: Workload,
    pub near: Envoy,
    pub carts: [(Workload, Envoy); 2],
    _applications: [Echo; 2],
}

impl Shop {
    pub async fn open(mesh_config: Value) -> Result<Self> {
        let mesh = Mesh::start(mesh_config).await?;
        let client = mesh.net.workload("client")?;
        let carts = [mesh.net.workload("cart-v1")?, mesh.net.workload("cart-v2")?];
        let mut objects = vec![pod(&client, "client", "v1"), service()];
        objects.extend(carts.iter().zip(["v1", "v2"]).map(|(cart, version)| pod(cart, "cart", version)));
        objects.push(slice(&carts));
        mesh.write("shop.yaml", &objects)?;
        // Before a proxy asks, so that none is told of an empty mesh first.
        let told = async || match mesh.page("/debug/registryz").await {
            Ok(reply) => Seen::when(reply.text().contains("cart.shop"), || "no cart".to_owned()),
            Err(error) => Seen::NotYet(error.to_string()),
        };
        wait::until("the control plane to have read the folder", PATIENCE, told).await?;
        let applications = [carts[0].echo("v1", APPLICATION)?, carts[1].echo("v2", APPLICATION)?];
        let near = mesh.sidecar(&client, [("app", "client"), ("version", "v1")]).await?;
        let [one, two] = carts;
        let far = [
            mesh.sidecar(&one, [("app", "cart"), ("version", "v1")]).await?,
            mesh.sidecar(&two, [("app", "cart"), ("version", "v2")]).await?,
        ];
        let [first, second] = far;
        Ok(Self { mesh, client, near, carts: [(one, first), (two, second)], _applications: applications })
    }

    /// A request to the service by its name.
    pub fn call(&self) -> Call {
        Call::to(SocketAddr::new(CART, 80)).host("cart")
    }

    pub fn line(&self) -> Call {
        Call::to(SocketAddr::new(CART, 9000)).over(mizzen_testkit::echo::Protocol::Tcp).body("hello")
    }

    pub async fn ask(&self, call: &Call) -> Result<Answer> {
        self.client.client().ask(call).await
    }

    /// Routes for `cart`, and subsets by version.
    pub fn route(&self, http: &Value) -> Result<()> {
        self.mesh.write("routes.yaml", &[virtual_service(http), destination_rule(&json!({}))])
    }

    /// Asks until the answer is as wanted: a change takes a moment.
    pub async fn until(&self, what: &str, call: &Call, mut wanted: impl FnMut(&wire::Reply) -> bool) -> Result<()> {
        wait::until(what, PATIENCE, async || match self.client.client().call(call).await {
            Ok(reply) => Seen::when(wanted(&reply), || format!("{}: {}", reply.status, reply.text())),
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await
    }

    /// How many of so many requests each version answered.
    pub async fn share(&self, call: &Call, requests: usize) -> Result<[usize; 2]> {
        let mut share = [0; 2];
        for _ in 0..requests {
            match self.ask(call).await?.version.as_str() {
                "v1" => share[0] += 1,
                "v2" => share[1] += 1,
                other => return Err(Error::other(format_args!("answered by {other}"))),
            }
        }
        Ok(share)
    }
}

async fn get(address: SocketAddr, path: &str) -> Result<wire::Reply> {
    let stream = tokio::net::TcpStream::connect(address).await.during("connect to discovery")?;
    let request = http::Request::get(path).header("host", "discovery");
    let request = request.body(http_body_util::Full::<bytes::Bytes>::default()).map_err(Error::other)?;
    wire::http1(stream, request).await?.successful()
}

pub fn pod(workload: &Workload, app: &str, version: &str) -> Value {
    let address = workload.address();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": workload.name(), "namespace": NAMESPACE,
            "labels": { "app": app, "version": version, "security.istio.io/tlsMode": "istio" } },
        "spec": { "serviceAccountName": workload.name(), "nodeName": "nowhere" },
        "status": { "phase": "Running", "podIP": address, "podIPs": [{ "ip": address }],
            "conditions": [{ "type": "Ready", "status": "True" }] },
    })
}

fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "cart", "namespace": NAMESPACE },
        "spec": { "clusterIP": CART, "clusterIPs": [CART], "selector": { "app": "cart" }, "ports": [
            { "name": "http", "port": 80, "targetPort": 8080 }, { "name": "tcp", "port": 9000 }] },
    })
}

fn slice(carts: &[Workload]) -> Value {
    let endpoint = |cart: &Workload| {
        json!({ "addresses": [cart.address()], "conditions": { "ready": true },
            "targetRef": { "kind": "Pod", "name": cart.name(), "namespace": NAMESPACE } })
    };
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": { "name": "cart-0", "namespace": NAMESPACE, "labels": { "kubernetes.io/service-name": "cart" } },
        "endpoints": carts.iter().map(endpoint).collect::<Vec<_>>(),
        "ports": [{ "name": "http", "port": 8080 }, { "name": "tcp", "port": 9000 }],
    })
}

pub fn virtual_service(http: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": { "name": "cart", "namespace": NAMESPACE },
        "spec": { "hosts": ["cart"], "http": http },
    })
}

pub fn destination_rule(policy: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
        "metadata": { "name": "cart", "namespace": NAMESPACE },
        "spec": { "host": "cart", "trafficPolicy": policy, "subsets": [
            { "name": "v1", "labels": { "version": "v1" } }, { "name": "v2", "labels": { "version": "v2" } }] },
    })
}

pub fn to(subset: &str) -> Value {
    json!({ "destination": { "host": "cart", "subset": subset } })
}
