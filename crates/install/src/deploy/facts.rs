//! What has to be known of a cluster before something is installed in it.

use super::labels;
use crate::Version;
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

    /// The version of a revision's control plane, by its image.
    pub fn running(&self, namespace: &str, revision: &str) -> Option<Version> {
        let deployment = self.control_planes.iter().find(|deployment| {
            labels::of(deployment, labels::REVISION) == Some(revision)
                && deployment.pointer("/metadata/namespace").is_some_and(|found| found == namespace)
        })?;
        let image = deployment.pointer("/spec/template/spec/containers/0/image")?.as_str()?;
        Version::of_tag(image.rsplit_once(':')?.1)
    }
}

/// The version of the server: `v1.33.4`
pub async fn kubernetes(cluster: &Cluster) -> Result<String, Refused> {
    let answer = cluster.read("reading the server's version", "/version").await?.unwrap_or_default();
    Ok(answer["gitVersion"].as_str().unwrap_or_default().to_owned())
}
