//! Deleting what is not wanted any more, and nothing else.

use crate::{
    cluster::{Cluster, Refused},
    object::ObjectId,
    owners::Owners,
};
use serde_json::Value;

/// What became of an object that was to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pruned {
    Deleted,
    /// It was gone already.
    Absent,
    /// Somebody took it over; it is theirs now.
    Kept { by: String },
}

impl Cluster {
    /// Only if it is still ours, and only the very object that was looked at.
    pub async fn prune(&self, id: &ObjectId) -> Result<Pruned, Refused> {
        let Some(live) = self.get(id, None).await? else { return Ok(Pruned::Absent) };
        let owners = Owners::of(&live);
        if !owners.has_applied(self.manager()) {
            let others: Vec<String> = owners.others(self.manager()).map(ToString::to_string).collect();
            return Ok(Pruned::Kept { by: others.join(", ") });
        }
        let uid = live.pointer("/metadata/uid").and_then(Value::as_str);
        match self.delete(id, uid).await {
            Ok(true) => Ok(Pruned::Deleted),
            // Another one of the same name came meanwhile, and is not ours to delete.
            Ok(false) | Err(Refused::Conflict { .. }) => Ok(Pruned::Absent),
            Err(refused) => Err(refused),
        }
    }
}
