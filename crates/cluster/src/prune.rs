//! Deleting what is not wanted any more, and nothing else.

use crate::{
    adoption::Adoption,
    cluster::{Cluster, Deletion, Refused},
    object::ObjectId,
    owners::Owners,
    plan::Going,
};
use serde_json::Value;

/// What became of an object that was to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pruned {
    Deleted,
    /// It was gone already.
    Absent,
    /// It is not ours to delete.
    Kept {
        why: String,
    },
}

impl Cluster {
    /// Whether an object is ours to delete, or somebody's whom we take over from; or whose it is.
    pub fn is_ours(&self, live: &Value, adoption: &Adoption) -> Result<(), String> {
        let owners = Owners::of(live);
        let adopted = || owners.others(self.manager()).any(|manager| adoption.takes(manager));
        if owners.has_applied(self.manager()) || owners.is_nobodys() || adopted() {
            return Ok(());
        }
        Err(format!("it belongs to {}", owners.others_in_words(self.manager())))
    }

    /// Only if it is still ours, or nobody's, or somebody's whom we take over from; only if `may` says so of it, and only the very object that was
    /// looked at.
    pub async fn prune(
        &self,
        id: &ObjectId,
        adoption: &Adoption,
        may: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<Pruned, Refused> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let Some(live) = self.get(id, None).await? else { return Ok(Pruned::Absent) };
            if let Err(why) = self.is_ours(&live, adoption).and_then(|()| may(&live)) {
                return Ok(Pruned::Kept { why });
            }
            if Going::of(&live).is_some() {
                return Ok(Pruned::Deleted);
            }
            let uid = live.pointer("/metadata/uid").and_then(Value::as_str);
            match self.delete(id, uid).await {
                Ok(Deletion::Absent) => return Ok(Pruned::Absent),
                Ok(_) => return Ok(Pruned::Deleted),
                // Another one of the same name came meanwhile, or the server says so: looked at again.
                Err(Refused::Conflict { .. }) if attempt < 8 => {}
                Err(refused) => return Err(refused),
            }
        }
    }
}
