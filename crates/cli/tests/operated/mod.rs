//! A cluster with the operator beside it, and looks at both.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

use crate::site::{BINARY, Site};
use mizzen_cluster::{Change, Cluster, Identity, ObjectId, Resource, State, Trimmed, follow};
use mizzen_testkit::{
    Part, Result, ports,
    wait::{self, PATIENCE, Seen},
};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, process::Command, sync::Arc};
use tokio::sync::mpsc;

/// The resource of the design document.
pub(crate) const EXAMPLE: &str = "apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata:
  namespace: istio-system
  name: example-istiocontrolplane
spec:
  profile: demo
";

pub(crate) const CANARY: &str = "apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: { namespace: istio-system, name: canary }
spec:
  profile: minimal
  revision: canary
  values: { pilot: { autoscaleEnabled: true, autoscaleMin: 2 } }
";

/// A definition of somebody's kind, which takes anything.
pub(crate) fn kind(group: &str, kind: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    // Groups of Kubernetes' own want to be approved.
    let approved = "api-approved.kubernetes.io: https://github.com/kubernetes/kubernetes/pull/63797";
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{ name: {plural}.{group}, annotations: {{ {approved} }} }}
spec:
  group: {group}
  scope: Namespaced
  names: {{ kind: {kind}, plural: {plural} }}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{ openAPIV3Schema: {{ type: object, x-kubernetes-preserve-unknown-fields: true }} }}
"
    )
}

pub(crate) struct Operated {
    pub(crate) site: Site,
    pub(crate) cluster: Cluster,
}

impl Operated {
    pub(crate) async fn start() -> Result<Self> {
        Self::of(Site::start().await?).await
    }

    pub(crate) async fn of(site: Site) -> Result<Self> {
        let cluster = Cluster::new(site.server.client()?, "test").await.unwrap();
        Ok(Self { site, cluster })
    }

    /// The process, as the deployment would start it.
    pub(crate) fn operator(&self) -> (Part, u16) {
        self.operator_of("istio-system")
    }

    /// The same for resources of other namespaces.
    pub(crate) fn operator_of(&self, namespaces: &str) -> (Part, u16) {
        self.operator_for(namespaces, "")
    }

    /// The same for resources of one revision.
    pub(crate) fn operator_for(&self, namespaces: &str, revision: &str) -> (Part, u16) {
        let [port] = ports::free().unwrap();
        let mut command = Command::new(BINARY);
        command
            .args(["operator", "run", "--kind", "IstioOperator", "--monitoring-host", "127.0.0.1"])
            .args(["--monitoring-port", &port.to_string(), "--log-level", "info,mizzen_operator=debug"])
            .args(["--as", "system:serviceaccount:istio-operator:istio-operator", "--kubeconfig"])
            .arg(self.site.server.kubeconfig_file())
            .env_clear()
            .env("WATCH_NAMESPACE", namespaces)
            .env("REVISION", revision)
            .env("LEADER_ELECTION_NAMESPACE", "istio-operator")
            .env("RENEW_DEADLINE", "3s")
            .env("WAIT_FOR_RESOURCES_TIMEOUT", "300s");
        (Part::start("operator", command).unwrap(), port)
    }

    pub(crate) async fn get(&self, kind: (&str, &str), namespace: &str, name: &str) -> Option<Value> {
        let id = ObjectId::new(kind.0, kind.1, namespace, name);
        self.cluster.look().await.unwrap();
        self.cluster.get(&id, None).await.unwrap()
    }

    /// Every status of every resource from now on, as it is written.
    pub(crate) fn statuses(&self) -> Result<mpsc::Receiver<Value>> {
        self.statuses_of(Resource::new("install.istio.io", &["v1alpha1"], "istiooperators"))
    }

    pub(crate) fn statuses_of(&self, resource: Resource) -> Result<mpsc::Receiver<Value>> {
        let (out, statuses) = mpsc::channel(64);
        let turn = |change| match change {
            Change::Applied(Told { status, .. }) => Some(status),
            _ => None,
        };
        tokio::spawn(follow(self.site.server.client()?, resource, Arc::new(State::default()), out, turn));
        Ok(statuses)
    }

    pub(crate) async fn resource(&self, name: &str) -> Option<Value> {
        self.get(("install.istio.io", "IstioOperator"), "istio-system", name).await
    }

    /// Waits for a word of a resource's status.
    pub(crate) async fn says(&self, operator: &Part, name: &str, word: &str) -> Result<Value> {
        let probe = async || {
            let resource = self.resource(name).await.unwrap_or_default();
            let status = resource["status"].clone();
            Seen::from_option((status["status"] == word).then(|| status.clone()), || status.to_string())
        };
        operator.until(&format!("{name} to be {word}"), PATIENCE, probe).await
    }

    pub(crate) async fn until_gone(&self, operator: &Part, name: &str) -> Result<()> {
        let probe = async || {
            let resource = self.resource(name).await;
            Seen::when(resource.is_none(), || resource.unwrap_or_default().to_string())
        };
        operator.until(&format!("{name} to be gone"), PATIENCE, probe).await
    }

    /// A merge patch of a resource.
    pub(crate) async fn patch(&self, name: &str, patch: &Value) -> Result<String> {
        let (words, patch) = ("-n istio-system --type=merge -p", patch.to_string());
        let words = ["patch", "istiooperator", name].into_iter().chain(words.split_whitespace());
        self.site.server.kubectl(&words.chain([patch.as_str()]).collect::<Vec<_>>()).await
    }

    /// What a control plane writes when it serves the injection webhook: without, nobody is restarted.
    pub(crate) async fn injection_is_served(&self) -> Result<()> {
        let bundle = r#"[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Q0E="}]"#;
        let webhook = "patch mutatingwebhookconfiguration istio-revision-tag-default --type=json -p";
        self.site.server.kubectl(&webhook.split(' ').chain([bundle]).collect::<Vec<_>>()).await.map(drop)
    }

    /// Autoscalers have had their way: the cluster is large enough for three of each.
    pub(crate) async fn until_scaled(&self) -> Result<()> {
        self.until_scaled_to("istiod", 3).await?;
        self.until_scaled_to("istio-ingressgateway", 3).await
    }

    /// A part of the mesh has that many pods, and all are ready.
    pub(crate) async fn until_scaled_to(&self, name: &str, count: i64) -> Result<()> {
        let scaled = async || {
            let part = self.get(DEPLOYMENT, "istio-system", name).await.unwrap_or_default();
            let is_there = part["spec"]["replicas"] == count && part["status"]["readyReplicas"] == count;
            Seen::when(is_there, || format!("{} {}", part["spec"]["replicas"], part["status"]))
        };
        wait::until(&format!("{name} to have {count} pods"), PATIENCE, scaled).await
    }

    pub(crate) async fn kubectl(&self, line: &str) -> Result<String> {
        self.site.server.kubectl(&line.split_whitespace().collect::<Vec<_>>()).await
    }
}

#[derive(Deserialize)]
struct Told {
    metadata: Metadata,
    #[serde(default)]
    status: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: String,
    resource_version: String,
}

impl Trimmed for Told {
    fn identity(&self) -> Identity<'_> {
        let Metadata { name, namespace, resource_version } = &self.metadata;
        Identity { namespace, name, version: resource_version }
    }
}

/// The words of each component and of the whole, in order, until the whole says `last`.
pub(crate) async fn words_until(
    statuses: &mut mpsc::Receiver<Value>,
    last: &str,
) -> BTreeMap<String, Vec<String>> {
    let mut words: BTreeMap<String, Vec<String>> = BTreeMap::new();
    loop {
        let status = statuses.recv().await.unwrap();
        let components = status["componentStatus"].as_object().into_iter().flatten();
        let whole = [("whole", &status)];
        for (name, value) in components.map(|(name, value)| (name.as_str(), value)).chain(whole) {
            let Some(word) = value["status"].as_str() else { continue };
            let words = words.entry(name.to_owned()).or_default();
            if words.last().is_none_or(|last| last != word) {
                words.push(word.to_owned());
            }
        }
        if status["status"] == last {
            return words;
        }
    }
}

pub(crate) const DEPLOYMENT: (&str, &str) = ("apps", "Deployment");

pub(crate) fn image(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["containers"][0]["image"]
}

/// Whether what was wanted is there; a server adds defaults.
pub(crate) fn is_within(wanted: &Value, live: &Value) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => {
            wanted.iter().all(|(key, wanted)| is_within(wanted, live.get(key).unwrap_or(&Value::Null)))
        }
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len()
                && wanted.iter().zip(live).all(|(wanted, live)| is_within(wanted, live))
        }
        (wanted, live) => wanted == live,
    }
}

/// Empty while nobody listens.
pub(crate) async fn page(port: u16, path: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let Ok(mut socket) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else {
        return String::new();
    };
    let request = format!("GET {path} HTTP/1.1\r\nHost: operator\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

pub(crate) async fn passes(port: u16) -> String {
    let metrics = page(port, "/metrics").await;
    let line =
        metrics.lines().find(|line| line.starts_with("istio_install_operator_reconcile_request_total "));
    line.unwrap().to_owned()
}
