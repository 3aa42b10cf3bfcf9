//! Objects as a component wants them, one after the other.

use super::{Done, Failed, Pass, mark::is_ours};
use crate::istio::resources::{kept, planned};
use mizzen_cluster::{Action, Deletion, ObjectId, Step};
use serde_json::Value;

pub(super) enum Wish {
    /// As it is described, whatever somebody has made of it. One that was not made here stays as it is, which is told.
    Keep(Value),
    /// These fields are there, whoever made the object; the others are not looked at.
    Share(Value),
    /// If there is none of its name; what is there stays as it is.
    Make(Value),
    /// It goes, if it was made here.
    Drop(Value),
}

impl Pass<'_> {
    pub(super) async fn see_to(&self, wishes: Vec<Wish>, done: &mut Done) -> Result<(), Failed> {
        for wish in wishes {
            let step = self.wish(wish, &mut done.notes).await?;
            done.steps.extend(step.filter(|step| step.action != Action::Unchanged));
        }
        Ok(())
    }

    async fn wish(&self, wish: Wish, notes: &mut Vec<String>) -> Result<Option<Step>, Failed> {
        let (Wish::Keep(object) | Wish::Share(object) | Wish::Make(object) | Wish::Drop(object)) = &wish;
        let id = ObjectId::of(object).map_err(|wrong| Failed::Said(wrong.to_string()))?;
        let live = self.cluster.get(&id, None).await?;
        match (wish, live) {
            (Wish::Keep(_), Some(live)) if !is_ours(&live) => {
                notes.push(format!("{id} is somebody else's, and is left as it is"));
                Ok(None)
            }
            (Wish::Make(_), Some(_)) => Ok(None),
            (Wish::Keep(object) | Wish::Share(object) | Wish::Make(object), _) => {
                Ok(Some(if self.order.dry_run {
                    planned(self.cluster, object).await?
                } else {
                    kept(self.cluster, object).await?
                }))
            }
            (Wish::Drop(_), Some(live)) if is_ours(&live) => {
                let uid = live["metadata"]["uid"].as_str();
                let goes = self.order.dry_run || self.cluster.delete(&id, uid).await? != Deletion::Absent;
                Ok(goes.then(|| Step { id, action: Action::Delete, left: Vec::new() }))
            }
            (Wish::Drop(_), _) => Ok(None),
        }
    }
}
