//! Changes and removals of tags, carried out.

use mizzen_cluster::{Cluster, Desired, Mode, NoObject, ObjectId, Refused};

use super::{Change, Removal};

impl Change {
    /// The webhook that is replaced goes last: if anything fails before, pods are still injected by it.
    pub async fn apply(&self, cluster: &Cluster) -> Result<(), Refused> {
        for object in &self.objects {
            let desired = Desired::new(object.clone()).map_err(no_object)?;
            cluster.apply(&desired, Mode { dry_run: false, force: self.force }).await?;
        }
        if let Some(webhook) = &self.deactivated {
            cluster.replace(&ObjectId::of(webhook).map_err(no_object)?, webhook).await?;
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn no_object(error: NoObject) -> Refused {
    Refused::Invalid { what: "an object of the tag".to_owned(), message: error.to_string() }
}

impl Removal {
    /// Whatever is gone already is fine.
    pub async fn apply(&self, cluster: &Cluster) -> Result<(), Refused> {
        for id in &self.objects {
            cluster.delete(id, None).await?;
        }
        Ok(())
    }
}
