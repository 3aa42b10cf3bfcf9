//! Changes and removals of tags, carried out.

use mizzen_cluster::{Cluster, Desired, Mode, Refused};

use super::{Change, Removal};

impl Change {
    /// The webhook that is replaced goes last: if anything fails before, pods are still injected by it.
    pub async fn apply(&self, cluster: &Cluster) -> Result<(), Refused> {
        for object in &self.objects {
            let desired = Desired::new(object.clone()).map_err(|error| Refused::Invalid {
                what: "an object of the tag".to_owned(),
                message: error.to_string(),
            })?;
            cluster.apply(&desired, Mode { dry_run: false, force: self.force }).await?;
        }
        match &self.deactivated {
            Some(webhook) => cluster.replace(webhook).await,
            None => Ok(()),
        }
    }
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
