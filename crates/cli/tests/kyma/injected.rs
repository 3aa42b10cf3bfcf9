//! A cluster whose pods are injected by the real istiod. It is the process that the fake pods of the installed Deployment only stand for:
//! it has their environment and arguments, reads mesh configuration, templates and values where the operator has installed them, makes its
//! own certificate and writes it into the webhooks, and the API server finds it through its Service.

use super::Kyma;
use crate::{
    operated::{DEPLOYMENT, Operated},
    site::{Site, upstream},
};
use mizzen_testkit::{
    ApiServer, Part, Pods, Result, ports, run, tools,
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};
use std::{net::SocketAddr, process::Command};

/// Where istiod's pods serve webhooks.
const WEBHOOKS: u16 = 15017;
/// The namespace of all workloads.
pub(crate) const SHOP: &str = "shop";

pub(crate) struct Injected {
    pub(crate) kyma: Kyma,
    pub(crate) pods: Pods,
    flag: String,
}

/// The process, until it is dropped.
pub(crate) struct Istiod<'i> {
    pub(crate) part: Part,
    pods: &'i Pods,
}

impl Drop for Istiod<'_> {
    fn drop(&mut self) {
        self.pods.silence(WEBHOOKS);
    }
}

impl Injected {
    /// Beside what the cluster itself needs.
    pub(crate) const NEEDS: &[&str] = &["pilot-discovery", "modules/istio"];

    pub(crate) async fn start() -> Result<Self> {
        let pods = Pods::start()?;
        let site = Site::of(ApiServer::start_with(&pods).await?).await?;
        let flag = format!("--istio-manifests {}", upstream().display());
        Ok(Self { kyma: Kyma::of(Operated::of(site).await?, &flag).await?, pods, flag })
    }

    pub(crate) fn here(&self) -> &Operated {
        &self.kyma.here
    }

    pub(crate) fn operator(&self) -> Part {
        self.kyma.operator(&self.flag.split(' ').collect::<Vec<_>>()).0
    }

    /// What the installed Deployment would run; when it returns, every webhook has its certificate.
    pub(crate) async fn istiod(&self) -> Result<Istiod<'_>> {
        let deployment = self.here().get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
        let container = deployment.pointer("/spec/template/spec/containers/0").unwrap();
        let texts = |value: &Value, key: &str| -> Vec<String> {
            let all = value[key].as_array().unwrap().iter();
            all.map(|one| one.as_str().unwrap().to_owned()).collect()
        };
        let folder = run::run().part_folder("istiod").unwrap();
        let [discovery, http, monitoring, https] =
            ports::free()?.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let mut command = Command::new(tools::command("pilot-discovery")?);
        command.current_dir(&folder).env_clear().envs([
            ("POD_NAME", "istiod-0"),
            ("POD_NAMESPACE", "istio-system"),
            ("SERVICE_ACCOUNT", "istiod"),
        ]);
        // That of another cluster, which there is none of.
        let variables = container["env"].as_array().unwrap().iter().filter(|one| one["name"] != "KUBECONFIG");
        for variable in variables {
            if let Some(value) = variable["value"].as_str() {
                command.env(variable["name"].as_str().unwrap(), value);
            }
        }
        command
            .args(texts(container, "args"))
            .args(["--secureGRPCAddr=", "--ctrlz_port=0"])
            .arg(format!("--kubeconfig={}", self.here().site.server.kubeconfig_file().display()))
            .arg(format!("--grpcAddr={discovery}"))
            .arg(format!("--httpAddr={http}"))
            .arg(format!("--httpsAddr={https}"))
            .arg(format!("--monitoringAddr={monitoring}"));
        let istiod = Istiod { part: Part::start("istiod", command)?, pods: &self.pods };
        let listens = async || Seen::when(istiod.part.listens_on(https.port()), || "not yet".to_owned());
        istiod.part.until("istiod to listen", PATIENCE, listens).await?;
        self.pods.answer(WEBHOOKS, https);
        istiod.part.until("every webhook to be signed", PATIENCE, async || self.signed().await).await?;
        Ok(istiod)
    }

    async fn signed(&self) -> Seen<()> {
        let kind = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration");
        let all = self.here().cluster.list(kind.0, kind.1, "app=sidecar-injector").await.unwrap();
        let webhooks: Vec<&Value> =
            all.iter().flat_map(|one| one["webhooks"].as_array().into_iter().flatten()).collect();
        let unsigned = webhooks
            .iter()
            .filter(|one| one["clientConfig"]["caBundle"].as_str().unwrap_or_default().is_empty());
        let unsigned = unsigned.count();
        Seen::when(unsigned == 0 && !webhooks.is_empty(), || format!("{unsigned} of {}", webhooks.len()))
    }

    /// Pods of a workload that stay, when all of them are ready and there are as many as it wants.
    pub(crate) async fn pods_of(&self, name: &str) -> Vec<Value> {
        let all = self.here().cluster.list_in("", "Pod", SHOP, &format!("app={name}")).await.unwrap();
        all.into_iter().filter(|pod| pod["metadata"].get("deletionTimestamp").is_none()).collect()
    }

    /// Waits until every pod of a workload is as it should be, and all are ready.
    pub(crate) async fn until_pods(
        &self,
        name: &str,
        what: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>> {
        let probe = async || {
            let pods = self.pods_of(name).await;
            let well = pods.len() == REPLICAS && pods.iter().all(|pod| is_ready(pod) && is(pod));
            Seen::from_option(well.then(|| pods.clone()), || {
                pods.iter().map(|pod| pod["spec"].to_string()).collect::<Vec<_>>().join("\n")
            })
        };
        wait::until(&format!("pods of {name} {what}"), PATIENCE, probe).await
    }
}

const REPLICAS: usize = 2;

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// The two ways of a sidecar, each with the annotation that asks for it and the list in which the proxy is then.
pub(crate) const WAYS: [(&str, &str, &str); 2] =
    [("native", "true", "initContainers"), ("regular", "false", "containers")];

/// A Deployment of two pods that says nothing of any sidecar but by annotations.
pub(crate) fn deployment(name: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name, "namespace": SHOP },
        "spec": {
            "replicas": REPLICAS, "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name }, "annotations": annotations },
                "spec": { "containers": [{ "name": "app", "image": "app", "ports": [{ "containerPort": 8080 }] }] },
            },
        },
    })
}

/// One for each way.
pub(crate) fn both_ways() -> Vec<Value> {
    WAYS.iter()
        .map(|(name, native, _)| deployment(name, &json!({ "sidecar.istio.io/nativeSidecar": native })))
        .collect()
}

/// The proxy in one list of containers.
pub(crate) fn proxy<'p>(pod: &'p Value, list: &str) -> Option<&'p Value> {
    container(pod, list, "istio-proxy")
}

pub(crate) fn container<'p>(pod: &'p Value, list: &str, name: &str) -> Option<&'p Value> {
    pod["spec"][list].as_array()?.iter().find(|one| one["name"] == name)
}

/// `{ "requests": { "cpu", "memory" }, "limits": … }`, as a container has them.
pub(crate) fn resources(requests: [&str; 2], limits: [&str; 2]) -> Value {
    let of = |[cpu, memory]: [&str; 2]| json!({ "cpu": cpu, "memory": memory });
    json!({ "requests": of(requests), "limits": of(limits) })
}
