//! What a sidecar should be.

use super::read_at_start::{ReadAtStart, SINCE};
use mizzen_api::istio::Spec;
use mizzen_install::deploy::Mesh;
use serde_json::{Value, json};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::istio) struct Proxy {
    /// Of the mesh's own gateway; empty where it has none, and then nobody knows.
    pub(super) image: String,
    pub(super) request: [String; 2],
    pub(super) limit: [String; 2],
    pub(super) status_port: String,
    /// Whether node agents set proxies up, and no init container.
    pub(super) node_agents: bool,
}

impl Proxy {
    /// Out of the merged IstioOperator and what was rendered of it.
    pub(in crate::istio) fn of(operator: &Value, mesh: &Mesh) -> Self {
        let spec = &operator["spec"];
        let proxy = &spec["values"]["global"]["proxy"];
        let amounts = |key: &str| {
            ["cpu", "memory"]
                .map(|kind| proxy["resources"][key][kind].as_str().unwrap_or_default().to_owned())
        };
        Self {
            image: image(mesh).unwrap_or_default(),
            request: amounts("requests"),
            limit: amounts("limits"),
            status_port: proxy["statusPort"].as_u64().unwrap_or(15020).to_string(),
            node_agents: spec["components"]["cni"]["enabled"] == true,
        }
    }

    /// All that a restart would bring, in words that are the same as long as it is the same.
    pub(super) fn cause(&self, spec: &Spec, read: &ReadAtStart) -> String {
        json!({
            "image": self.image, "request": self.request, "limit": self.limit, "nodeAgents": self.node_agents,
            "merge": spec.config.telemetry.metrics.prometheus_merge, SINCE: read.since.map(|since| since.to_string()),
        })
        .to_string()
    }
}

fn image(mesh: &Mesh) -> Option<String> {
    let mut deployments = mesh.objects().filter(|object| object.id.kind == "Deployment");
    deployments.find_map(|deployment| {
        let containers = deployment.value.pointer("/spec/template/spec/containers")?.as_array()?;
        let proxy = containers.iter().find(|container| container["name"] == "istio-proxy")?;
        // One that is injected itself does not say which.
        proxy["image"].as_str().filter(|image| *image != "auto").map(str::to_owned)
    })
}
