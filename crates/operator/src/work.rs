//! One kind of resource, as the loop around it sees it.

use crate::{
    follow::News,
    pass::Stopped,
    queue::{Outcome, Pace},
};
use mizzen_cluster::{Client, Cluster, Key, ObjectId};
use std::sync::Arc;
use tokio::{sync::mpsc, task::JoinSet};

pub(crate) trait Work {
    fn cluster(&self) -> &Arc<Cluster>;

    /// Its group and name.
    fn kind(&self) -> (&'static str, &'static str);

    /// Whoever holds it works.
    fn lock(&self) -> String;

    fn pace(&self) -> Pace;

    fn id(&self, key: &Key) -> ObjectId;

    /// Whether it is one of ours.
    fn has(&self, key: &Key) -> bool;

    /// How many watches say that they have told all resources.
    fn watches(&self) -> usize;

    /// Follows everything until nobody listens any more.
    fn follow(&self, client: &Client, out: &mpsc::Sender<News>) -> JoinSet<()>;

    async fn pass(&self, key: &Key) -> Result<Outcome, Stopped>;
}
