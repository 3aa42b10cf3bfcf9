//! What tests do with the node's objects, in a line each.

use std::net::Ipv4Addr;

use k8s_openapi::api::core::v1::{Namespace, Service, ServiceAccount};
use kube::{
    Api,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::Node;
use crate::{
    apiserver::kubectl::kubectl,
    error::{Error, Result},
    wait::{PATIENCE, Seen},
};

impl Node {
    /// Runs kubectl, outside the node, as the administrator; what it complained of is the error.
    pub async fn kubectl(&self, args: &[&str]) -> Result<String> {
        kubectl(&self.kubeconfig, self.folder(), "", args).await
    }

    /// Applies a manifest (several documents are fine).
    pub async fn apply(&self, manifest: &str) -> Result<String> {
        let args = ["apply", "--server-side", "-f", "-"];
        kubectl(&self.kubeconfig, self.folder(), manifest, &args).await
    }

    /// Makes a namespace in which pods are admitted at once.
    pub async fn namespace(&self, name: &str) -> Result<()> {
        let client = self.client()?;
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
        let accounts = Api::<ServiceAccount>::namespaced(client, name);
        let made = self.until("the default service account", async || {
            Seen::from_result(accounts.get("default").await.map(drop))
        });
        made.await
    }

    /// Waits until an object (`pod/app`, `deployment/app`) has a condition (`Ready`, `Available`); the error tells
    /// what became of it instead.
    pub async fn wait(&self, namespace: &str, object: &str, condition: &str) -> Result<()> {
        let (condition, limit) =
            (format!("--for=condition={condition}"), format!("--timeout={}s", PATIENCE.as_secs()));
        let Err(error) = self.kubectl(&["wait", "-n", namespace, object, &condition, &limit]).await else {
            return Ok(());
        };
        let told = self.kubectl(&["describe", "-n", namespace, object]).await.unwrap_or_default();
        Err(Error::other(format_args!("{error}\n{told}")))
    }

    /// Does what a cloud would do for a Service of type LoadBalancer: gives it an address. Any one that is not in
    /// use will do; kube-proxy serves it, to pods and to the node.
    pub async fn load_balancer(&self, namespace: &str, service: &str, address: Ipv4Addr) -> Result<()> {
        let status = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": address }] } } });
        let services = Api::<Service>::namespaced(self.client()?, namespace);
        services.patch_status(service, &PatchParams::default(), &Patch::Merge(&status)).await?;
        Ok(())
    }
}
