//! The status of a resource as it was written last: only what is new is written.

use mizzen_cluster::{Cluster, Desired, ObjectId, Refused};
use serde_json::{Value, json};
use std::sync::Arc;

/// Under this name the status is ours; the mesh's objects are the installer's.
const MANAGER: &str = "mizzen-operator";

pub(crate) struct Written {
    cluster: Arc<Cluster>,
    id: ObjectId,
    version: &'static str,
    uid: Value,
    value: Value,
}

impl Written {
    pub(crate) fn new(
        cluster: &Arc<Cluster>,
        id: &ObjectId,
        version: &'static str,
        resource: &Value,
    ) -> Self {
        let value = resource.get("status").cloned().unwrap_or_default();
        let uid = resource["metadata"]["uid"].clone();
        Self { cluster: Arc::clone(cluster), id: id.clone(), version, uid, value }
    }

    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) async fn write(&mut self, value: Value) -> Result<(), Refused> {
        if value == self.value {
            return Ok(());
        }
        let ObjectId { group, kind, namespace, name } = &self.id;
        let object = json!({
            "apiVersion": format!("{group}/{}", self.version), "kind": kind,
            // The very resource: another one of its name has its own status.
            "metadata": { "name": name, "namespace": namespace, "uid": self.uid },
            "status": value,
        });
        let desired = Desired { id: self.id.clone(), version: self.version.to_owned(), value: object.into() };
        // One that is gone needs no status any more.
        if self.cluster.apply_status(MANAGER, &desired).await?.is_some() {
            self.value = value;
        }
        Ok(())
    }
}
