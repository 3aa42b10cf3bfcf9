//! Objects as a component wants them, one after the other.

use super::{Done, Failed, Pass, mark::MARK};
use crate::istio::resources::{drop_marked, is_marked, kept, planned};
use mizzen_cluster::{Action, ObjectId, Step};
use serde_json::Value;

pub(super) enum Wish {
    /// As it is described, whatever somebody has made of it.
    Keep(Value),
    /// If there is none of its name; what is there stays as it is.
    Make(Value),
    /// It goes, if it was made here.
    Drop(Value),
}

impl Pass<'_> {
    pub(super) async fn see_to(&self, wishes: Vec<Wish>, done: &mut Done) -> Result<(), Failed> {
        for wish in wishes {
            let step = self.wish(wish).await?;
            done.steps.extend(step.filter(|step| step.action != Action::Unchanged));
        }
        Ok(())
    }

    async fn wish(&self, wish: Wish) -> Result<Option<Step>, Failed> {
        let id = |object: &Value| ObjectId::of(object).map_err(|wrong| Failed::Said(wrong.to_string()));
        match wish {
            Wish::Make(object) if self.cluster.get(&id(&object)?, None).await?.is_some() => Ok(None),
            Wish::Keep(object) | Wish::Make(object) if self.order.dry_run => {
                Ok(Some(planned(self.cluster, object).await?))
            }
            Wish::Keep(object) | Wish::Make(object) => Ok(Some(kept(self.cluster, object).await?)),
            Wish::Drop(object) => {
                let id = id(&object)?;
                let goes = if self.order.dry_run {
                    self.cluster.get(&id, None).await?.is_some_and(|live| is_marked(&live, MARK))
                } else {
                    drop_marked(self.cluster, &object, MARK).await?
                };
                Ok(goes.then(|| Step { id, action: Action::Delete, left: Vec::new() }))
            }
        }
    }
}
