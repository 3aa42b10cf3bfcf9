//! The mesh that both sides serve: services with pods and EndpointSlices in ten namespaces, and the changes that are made
//! to it.
//!
//! Each change has a number, which stands in what it makes as a mark (`mark-000017-…`), and so in what the proxies get.
//! Pods are made before the slices that name them: istiod would answer the first change of a service by a full push
//! otherwise, and that would flatter us.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use anyhow::{Context as _, Result};
use http::Request;
use kube::Client;
use mizzen_testkit::{
    ApiServer,
    proxy::{Identity, Role},
};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::Arguments;

pub(crate) const MARK: &str = "mark-";
const NAMESPACES: usize = 10;
/// Requests at a time: more make the API server no faster on two cores.
const AT_ONCE: usize = 32;
/// Pods that no service has yet; each endpoint change brings one in.
const SPARE: usize = 100;

pub(crate) struct World {
    client: Client,
    services: usize,
    endpoints: usize,
    proxies: usize,
    objects: usize,
    spare: usize,
    marks: AtomicU64,
    spent: AtomicU64,
}

fn mark(number: u64) -> String {
    format!("{MARK}{number:06}-x")
}

fn namespace(service: usize) -> String {
    format!("bench-{}", service % NAMESPACES)
}

fn service_name(service: usize) -> String {
    format!("svc-{service}")
}

/// 10.1.0.0 and on for pods; 10.200.0.0 and on for spare ones.
fn address(first: u8, number: usize) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::new(10, first, 0, 1)) + u32::try_from(number).unwrap_or(u32::MAX / 2))
}

impl World {
    pub(crate) fn new(server: &ApiServer, arguments: &Arguments) -> Result<Self> {
        let churn = usize::try_from(arguments.churn)? * 20;
        let sides = arguments.runs * 3;
        Ok(Self {
            client: server.client()?,
            services: arguments.services,
            endpoints: arguments.endpoints,
            proxies: arguments.proxies,
            objects: arguments.objects.min(arguments.services),
            spare: SPARE + churn.min(200) + sides * arguments.changes,
            marks: AtomicU64::new(1),
            spent: AtomicU64::new(0),
        })
    }

    /// Makes everything; seconds that it took.
    pub(crate) async fn fill(&self) -> Result<f64> {
        let begun = Instant::now();
        for index in 0..NAMESPACES {
            let name = namespace(index);
            self.post("/api/v1/namespaces", &json!({ "metadata": { "name": name } })).await?;
            let account = json!({ "metadata": { "name": "default" }, "automountServiceAccountToken": false });
            self.post(&format!("/api/v1/namespaces/{name}/serviceaccounts"), &account).await?;
        }
        let pods = (0..self.services).flat_map(|service| {
            (0..self.endpoints).map(move |number| {
                let address = address(1, service * self.endpoints + number);
                pod(&service_name(service), &format!("svc-{service}-{number}"), &namespace(service), address)
            })
        });
        let spare = (0..self.spare).map(|number| {
            let name = format!("{MARK}{:06}-x", 900_000 + number);
            pod(&service_name(ENDPOINT_SERVICE), &name, &namespace(ENDPOINT_SERVICE), address(200, number))
        });
        self.many(pods.chain(spare).map(|pod| ("pods", "/api/v1", pod))).await?;
        let services = (0..self.services).map(|number| ("services", "/api/v1", service(number)));
        self.many(services).await?;
        let slices = (0..self.services).map(|service| {
            let pods = (0..self.endpoints).map(|number| {
                (format!("svc-{service}-{number}"), address(1, service * self.endpoints + number))
            });
            ("endpointslices", "/apis/discovery.k8s.io/v1", slice(service, pods))
        });
        self.many(slices).await?;
        let rules = (0..self.objects).flat_map(|number| {
            let service = number + RESERVED;
            [
                ("virtualservices", "/apis/networking.istio.io/v1", virtual_service(service, "steady")),
                ("destinationrules", "/apis/networking.istio.io/v1", destination_rule(service, "steady")),
            ]
        });
        self.many(rules).await?;
        // One of each is there from the start, so that every measured change is a change.
        self.virtual_service(0).await?;
        self.destination_rule(0).await?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// The proxies: the first pods of the services, over all namespaces.
    pub(crate) fn identities(&self) -> Vec<Identity> {
        let identity = |number: usize| {
            let (service, pod) = (number % self.services, number / self.services % self.endpoints);
            let address = IpAddr::V4(address(1, service * self.endpoints + pod));
            let mut identity =
                Identity::new(Role::Sidecar, address, &format!("svc-{service}-{pod}"), &namespace(service));
            identity.labels = labels(&service_name(service));
            identity
        };
        (0..self.proxies).map(identity).collect()
    }

    pub(crate) fn next_mark(&self) -> u64 {
        self.marks.fetch_add(1, Ordering::Relaxed)
    }

    /// When the API server had taken it.
    pub(crate) async fn virtual_service(&self, number: u64) -> Result<Instant> {
        self.apply(
            "virtualservices",
            "/apis/networking.istio.io/v1",
            virtual_service(ROUTED_SERVICE, &mark(number)),
        )
        .await
    }

    pub(crate) async fn destination_rule(&self, number: u64) -> Result<Instant> {
        self.apply(
            "destinationrules",
            "/apis/networking.istio.io/v1",
            destination_rule(RULED_SERVICE, &mark(number)),
        )
        .await
    }

    pub(crate) async fn new_service(&self, number: u64) -> Result<Instant> {
        let mut made = service(ROUTED_SERVICE);
        made["metadata"]["name"] = mark(number).into();
        made["spec"]["selector"]["app"] = "nobody".into();
        self.apply("services", "/api/v1", made).await
    }

    /// Another spare pod takes the place of the last endpoint of one service; which mark it has.
    pub(crate) async fn endpoint(&self) -> Result<(u64, Instant)> {
        let turn = self.spent.fetch_add(1, Ordering::Relaxed);
        let number = usize::try_from(turn)? % self.spare;
        let mut pods: Vec<(String, Ipv4Addr)> = (0..self.endpoints - 1)
            .map(|pod| {
                (format!("svc-{ENDPOINT_SERVICE}-{pod}"), address(1, ENDPOINT_SERVICE * self.endpoints + pod))
            })
            .collect();
        let mark = 900_000 + number as u64;
        pods.push((format!("{MARK}{mark:06}-x"), address(200, number)));
        let made = slice(ENDPOINT_SERVICE, pods.into_iter());
        Ok((mark, self.apply("endpointslices", "/apis/discovery.k8s.io/v1", made).await?))
    }

    async fn many(&self, objects: impl Iterator<Item = (&'static str, &'static str, Value)>) -> Result<()> {
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        for (plural, api, object) in objects {
            let permit = Arc::clone(&permits).acquire_owned().await?;
            let client = self.client.clone();
            tasks.spawn(async move {
                let _permit = permit;
                make(&client, plural, api, &object).await
            });
            while let Some(done) = tasks.try_join_next() {
                done??;
            }
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        Ok(())
    }

    async fn post(&self, path: &str, object: &Value) -> Result<()> {
        let request = Request::post(path).header("content-type", "application/json");
        match self.client.request::<Value>(request.body(object.to_string().into_bytes())?).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(error).context(path.to_owned()),
        }
    }

    async fn apply(&self, plural: &str, api: &str, object: Value) -> Result<Instant> {
        let (name, namespace) = (&object["metadata"]["name"], &object["metadata"]["namespace"]);
        let path = format!(
            "{api}/namespaces/{}/{plural}/{}?fieldManager=bench&force=true",
            namespace.as_str().unwrap_or_default(),
            name.as_str().unwrap_or_default()
        );
        let mut object = object.clone();
        object["apiVersion"] = api.trim_start_matches("/apis/").trim_start_matches("/api/").into();
        let request = Request::patch(path).header("content-type", "application/apply-patch+yaml");
        self.client.request::<Value>(request.body(object.to_string().into_bytes())?).await?;
        Ok(Instant::now())
    }
}

/// The services that changes are made to; those from `RESERVED` on carry the steady objects.
const ROUTED_SERVICE: usize = 0;
const RULED_SERVICE: usize = 1;
const ENDPOINT_SERVICE: usize = 2;
const RESERVED: usize = 3;

async fn make(client: &Client, plural: &str, api: &str, object: &Value) -> Result<()> {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let path = format!("{api}/namespaces/{namespace}/{plural}");
    // Made by apply as well, so that later changes are its owner's.
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut body = object.clone();
    body["apiVersion"] = api.trim_start_matches("/apis/").trim_start_matches("/api/").into();
    let request = Request::patch(format!("{path}/{name}?fieldManager=bench&force=true"))
        .header("content-type", "application/apply-patch+yaml");
    client.request::<Value>(request.body(body.to_string().into_bytes())?).await.context(path.clone())?;
    if plural == "pods" {
        let request = Request::patch(format!("{path}/{name}/status"))
            .header("content-type", "application/merge-patch+json");
        let status = json!({ "status": object["status"] });
        client
            .request::<Value>(request.body(status.to_string().into_bytes())?)
            .await
            .context("a pod's status")?;
    }
    Ok(())
}

fn labels(app: &str) -> BTreeMap<String, String> {
    [("app", app), ("security.istio.io/tlsMode", "istio"), ("version", "v1")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
}

fn pod(app: &str, name: &str, namespace: &str, address: Ipv4Addr) -> Value {
    json!({
        "kind": "Pod",
        "metadata": { "name": name, "namespace": namespace, "labels": labels(app) },
        "spec": {
            "serviceAccountName": "default", "nodeName": "node-a",
            "automountServiceAccountToken": false,
            "containers": [{ "name": "app", "image": "app" }],
        },
        "status": {
            "phase": "Running", "podIP": address.to_string(), "podIPs": [{ "ip": address.to_string() }],
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    })
}

fn service(number: usize) -> Value {
    let name = service_name(number);
    json!({
        "kind": "Service",
        "metadata": { "name": name, "namespace": namespace(number) },
        "spec": {
            "selector": { "app": name },
            "ports": [{ "name": "http", "port": 80, "targetPort": 8080 }],
        },
    })
}

fn slice(service: usize, pods: impl Iterator<Item = (String, Ipv4Addr)>) -> Value {
    let (name, namespace) = (service_name(service), namespace(service));
    let endpoints: Vec<Value> = pods
        .map(|(pod, address)| {
            json!({
                "addresses": [address.to_string()], "nodeName": "node-a",
                "conditions": { "ready": true, "serving": true, "terminating": false },
                "targetRef": { "kind": "Pod", "name": pod, "namespace": namespace },
            })
        })
        .collect();
    json!({
        "kind": "EndpointSlice",
        "metadata": {
            "name": format!("{name}-0"), "namespace": namespace,
            "labels": { "kubernetes.io/service-name": name },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
        "endpoints": endpoints,
    })
}

fn virtual_service(service: usize, mark: &str) -> Value {
    let name = service_name(service);
    json!({
        "kind": "VirtualService",
        "metadata": { "name": name, "namespace": namespace(service) },
        "spec": {
            "hosts": [name],
            "http": [
                {
                    "match": [{ "headers": { "x-bench": { "exact": mark } } }],
                    "timeout": "3s",
                    "route": [{ "destination": { "host": name } }],
                },
                { "route": [{ "destination": { "host": name } }] },
            ],
        },
    })
}

fn destination_rule(service: usize, mark: &str) -> Value {
    let name = service_name(service);
    json!({
        "kind": "DestinationRule",
        "metadata": { "name": name, "namespace": namespace(service) },
        "spec": { "host": name, "subsets": [{ "name": mark, "labels": { "version": "v1" } }] },
    })
}
