//! What has to be known of a cluster before something is installed in it.

use super::{Mesh, labels};
use crate::{Version, running::image::name_and_tag};
use mizzen_cluster::{Cluster, Inventory, Owner, Refused};
use serde_json::Value;

#[derive(Debug, Default)]
pub struct Facts {
    /// `v1.33.4`
    pub kubernetes: String,
    /// All that mutate, whoever they belong to.
    pub webhooks: Vec<Value>,
    /// Deployments of a control plane.
    pub control_planes: Vec<Value>,
    pub inventories: Vec<(Owner, Inventory)>,
    /// Lists that nobody can read, and why.
    pub unreadable: Vec<(Owner, String)>,
}

impl Facts {
    pub async fn read(cluster: &Cluster) -> Result<Self, Refused> {
        let webhooks = cluster.list("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "");
        let control_planes = cluster.list("apps", "Deployment", "app=istiod");
        let (kubernetes, webhooks, control_planes, inventories) =
            tokio::join!(kubernetes(cluster), webhooks, control_planes, cluster.inventories());
        let (mut readable, mut unreadable) = (Vec::new(), Vec::new());
        for (owner, inventory) in inventories? {
            match inventory {
                Ok(inventory) => readable.push((owner, inventory)),
                Err(error) => unreadable.push((owner, error.to_string())),
            }
        }
        Ok(Self {
            kubernetes: kubernetes?,
            webhooks: webhooks?,
            control_planes: control_planes?,
            inventories: readable,
            unreadable,
        })
    }

    /// The webhooks of the default tag.
    pub(crate) fn default_tag(&self) -> Option<&Value> {
        self.webhooks.iter().find(|webhook| {
            labels::of(webhook, "app") == Some("sidecar-injector")
                && labels::of(webhook, labels::TAG) == Some("default")
        })
    }

    /// A revision's control plane, by its image; and by the list where that names no version.
    pub(super) fn running(&self, mesh: &Mesh) -> Option<ControlPlane> {
        let deployment = self.control_planes.iter().find(|deployment| {
            labels::of(deployment, labels::REVISION) == Some(&mesh.revision)
                && deployment.pointer("/metadata/namespace").is_some_and(|found| *found == mesh.namespace)
        })?;
        let mut running = ControlPlane::of(deployment)?;
        if running.version.is_none() {
            let owner = mesh.owner();
            let list = self.inventories.iter().find(|(other, _)| *other == owner);
            running.version = list.and_then(|(_, list)| Version::read(&list.note));
        }
        Some(running)
    }
}

/// Whose program a control plane is, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ControlPlane {
    /// The name of its image: `pilot`
    pub(super) program: String,
    pub(super) version: Option<Version>,
}

impl ControlPlane {
    /// Of the Deployment that runs it.
    pub(super) fn of(deployment: &Value) -> Option<Self> {
        let containers = deployment.pointer("/spec/template/spec/containers")?.as_array()?;
        let named = containers.iter().find(|container| container["name"] == "discovery");
        let (program, tag) = name_and_tag(named.or(containers.first())?["image"].as_str()?);
        Some(Self { program: program.to_owned(), version: tag.and_then(Version::of_tag) })
    }
}

/// The version of the server: `v1.33.4`
pub async fn kubernetes(cluster: &Cluster) -> Result<String, Refused> {
    let answer = cluster.read("reading the server's version", "/version").await?.unwrap_or_default();
    Ok(answer["gitVersion"].as_str().unwrap_or_default().to_owned())
}
