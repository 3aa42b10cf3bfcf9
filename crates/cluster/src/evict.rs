//! A pod asked to go, if every budget of it can spare it.

use crate::{
    cluster::{Cluster, Refused},
    object::ObjectId,
};
use serde_json::json;

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    Done,
    Absent,
    /// A budget cannot spare it now: the server's words.
    Held(String),
}

impl Cluster {
    /// Only this very one, if its `uid` is given. A budget that is in the way is no reason to ask again.
    pub async fn evict(&self, namespace: &str, name: &str, uid: Option<&str>) -> Result<Eviction, Refused> {
        let id = ObjectId::new("", "Pod", namespace, name);
        let mut wish = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name, "namespace": namespace },
        });
        if let Some(uid) = uid {
            wish["deleteOptions"] = json!({ "preconditions": { "uid": uid } });
        }
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction");
        match self.post_once(&format!("evicting {id}"), &path, wish).await {
            Ok(_) => Ok(Eviction::Done),
            Err(Refused::Absent { .. }) => Ok(Eviction::Absent),
            Err(Refused::Other { status: 429, message, .. }) => Ok(Eviction::Held(message)),
            Err(refused) => Err(refused),
        }
    }
}
