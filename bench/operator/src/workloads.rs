//! Workloads whose pods say themselves which sidecar they have.

use anyhow::{Context as _, Result};
use mizzen_testkit::{
    ApiServer,
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};

/// Pods of each workload that is as it should be.
const PODS: usize = 10;

pub(crate) struct Shop<'s> {
    server: &'s ApiServer,
    /// The image that sidecars should have.
    image: String,
}

impl<'s> Shop<'s> {
    pub(crate) async fn open(server: &'s ApiServer) -> Result<Self> {
        server.kubectl(&["create", "namespace", "shop"]).await?;
        let line = "get deployment istio-ingressgateway -n istio-system -o jsonpath={.spec.template.spec.containers[0].image}";
        let image = server.kubectl(&line.split(' ').collect::<Vec<_>>()).await?;
        Ok(Self { server, image })
    }

    /// From so many pods to so many.
    pub(crate) async fn add(&self, from: usize, to: usize) -> Result<()> {
        let numbers = from / PODS..to / PODS;
        self.apply(
            numbers.map(|number| workload(&format!("new-{number}"), "new", &self.image, PODS)).collect(),
        )
        .await
    }

    /// Workloads that have to be restarted.
    pub(crate) async fn add_old(&self, group: &str, count: usize) -> Result<()> {
        self.apply((0..count).map(|number| workload(&format!("{group}-{number}"), group, "old", 2)).collect())
            .await
    }

    pub(crate) async fn remove_old(&self, group: &str) -> Result<()> {
        let label = format!("group={group}");
        let line = ["delete", "deployment", "-n", "shop", "-l", &label, "--cascade=foreground"];
        self.server.kubectl(&line).await.map(drop).context("those that were old")
    }

    /// How many of a group have been restarted.
    pub(crate) async fn restarted(&self, group: &str) -> Result<usize> {
        let label = format!("group={group}");
        let list =
            self.server.kubectl(&["get", "deployment", "-n", "shop", "-l", &label, "-o", "json"]).await?;
        let list: Value = serde_json::from_str(&list)?;
        let is_restarted = |one: &&Value| {
            one["spec"]["template"]["metadata"]["annotations"]
                .get("istio-operator.kyma-project.io/restartedAt")
                .is_some()
        };
        Ok(list["items"].as_array().into_iter().flatten().filter(is_restarted).count())
    }

    async fn apply(&self, workloads: Vec<Value>) -> Result<()> {
        for some in workloads.chunks(100) {
            self.server
                .apply(&json!({ "apiVersion": "v1", "kind": "List", "items": some }).to_string())
                .await?;
        }
        self.settle().await
    }

    /// Until all pods are there and ready.
    pub(crate) async fn settle(&self) -> Result<()> {
        let settled = async || {
            let line = ["get", "deployment", "-n", "shop", "-o", "json"];
            let list = self.server.kubectl(&line).await.unwrap_or_default();
            let list: Value = serde_json::from_str(&list).unwrap_or_default();
            let open = list["items"].as_array().into_iter().flatten().filter(|one| {
                let status = &one["status"];
                let wanted = &one["spec"]["replicas"];
                status["readyReplicas"] != *wanted
                    || status["updatedReplicas"] != *wanted
                    || status["replicas"] != *wanted
            });
            let open = open.count();
            Seen::when(open == 0 && list["items"].is_array(), || format!("{open} are not rolled out"))
        };
        Ok(wait::until("all workloads to be rolled out", PATIENCE * 10, settled).await?)
    }
}

fn workload(name: &str, group: &str, image: &str, replicas: usize) -> Value {
    let resources =
        json!({ "requests": { "cpu": "10m", "memory": "192Mi" }, "limits": { "cpu": "1", "memory": "1Gi" } });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name, "namespace": "shop", "labels": { "group": group } },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name }, "annotations": { "sidecar.istio.io/status": "{}" } },
                "spec": {
                    "initContainers": [{ "name": "istio-init", "image": image }],
                    "containers": [
                        { "name": "app", "image": "app" },
                        { "name": "istio-proxy", "image": image, "resources": resources },
                    ],
                },
            },
        },
    })
}
