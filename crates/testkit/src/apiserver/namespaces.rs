//! A namespace a test. It is never deleted: without controllers a deletion would not finish, and the whole server
//! is thrown away in a moment.

use std::sync::atomic::Ordering;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::{
    Api, Resource,
    api::{ObjectMeta, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};

use super::ApiServer;
use crate::error::Result;

impl ApiServer {
    /// Makes a namespace whose name starts with the hint; pods are admitted there at once.
    pub async fn namespace(&self, hint: &str) -> Result<String> {
        let client = self.client()?;
        let name = format!("{hint}-{}", self.namespaces.fetch_add(1, Ordering::Relaxed));
        let metadata = |name: &str| ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };

        let namespace = Namespace { metadata: metadata(&name), ..Namespace::default() };
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
        // Pods without it are refused, and who should make it (kube-controller-manager) may not be there.
        let account = ServiceAccount { metadata: metadata("default"), ..ServiceAccount::default() };
        create_or_keep(&Api::namespaced(client, &name), &account).await?;
        Ok(name)
    }
}

async fn create_or_keep<K>(api: &Api<K>, object: &K) -> Result<()>
where
    K: Resource + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    match api.create(&PostParams::default(), object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error.into()),
    }
}
