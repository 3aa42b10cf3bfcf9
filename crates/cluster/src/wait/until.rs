//! Waiting until objects are ready, and saying meanwhile what for.

use super::{Ready, explain, readiness};
use crate::{
    cluster::{Cluster, Refused, escaped},
    object::ObjectId,
};
use serde_json::Value;
use std::{fmt, time::Duration};
use tokio::time::{Instant, sleep};

/// An object that is waited for, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Waiting {
    pub id: ObjectId,
    pub reason: String,
}

impl fmt::Display for Waiting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.id, self.reason)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("not ready after {} s: {}", .after.as_secs(), said(.waiting))]
    TimedOut { after: Duration, waiting: Vec<Waiting> },
}

fn said(waiting: &[Waiting]) -> String {
    let said: Vec<String> = waiting.iter().map(ToString::to_string).collect();
    said.join("; ")
}

/// The first look again; each further one is later, up to the last.
const SOON: Duration = Duration::from_millis(100);
const LATE: Duration = Duration::from_secs(2);
/// Before anything is told.
const QUIET: Duration = Duration::from_secs(1);

impl Cluster {
    /// Asks again and again, so that no watch can be cut. `told` hears what is waited for whenever that changes.
    pub async fn until_ready(
        &self,
        objects: &[ObjectId],
        limit: Duration,
        mut told: impl FnMut(&[Waiting]),
    ) -> Result<(), NotReady> {
        let start = Instant::now();
        let mut pause = SOON;
        let mut remaining: Vec<ObjectId> = objects.iter().filter(|id| takes_time(id)).cloned().collect();
        let mut before = Vec::new();
        loop {
            let mut waiting = Vec::new();
            for id in &remaining {
                if let Some(reason) = self.not_ready(id).await? {
                    waiting.push(Waiting { id: id.clone(), reason });
                }
            }
            if waiting.is_empty() {
                return Ok(());
            }
            // What is ready in a moment is not worth a word.
            if waiting != before && start.elapsed() >= QUIET {
                told(&waiting);
                before.clone_from(&waiting);
            }
            if start.elapsed() >= limit {
                return Err(NotReady::TimedOut { after: limit, waiting });
            }
            remaining = waiting.iter().map(|one| one.id.clone()).collect();
            sleep(pause.min(limit.saturating_sub(start.elapsed()))).await;
            pause = (pause * 2).min(LATE);
        }
    }

    /// Why it is not ready; nothing if it is.
    pub async fn not_ready(&self, id: &ObjectId) -> Result<Option<String>, Refused> {
        let Some(object) = self.get(id, None).await? else { return Ok(Some("is not there".to_owned())) };
        let Ready::NotYet(reason) = readiness(&object) else { return Ok(None) };
        let Some(labels) = object.pointer("/spec/selector/matchLabels").and_then(Value::as_object) else {
            return Ok(Some(reason));
        };
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
            .collect();
        let query = format!("labelSelector={}", escaped(&labels.join(",")));
        let pods = self.find("", "Pod", &id.namespace, &query).await?;
        let query = format!("limit=500&fieldSelector={}", escaped("involvedObject.kind=Pod,type=Warning"));
        // Who may not see events is told less, and not nothing.
        let events = self.find("", "Event", &id.namespace, &query).await.unwrap_or_default();
        Ok(Some(match explain(&pods, &events) {
            Some(why) => format!("{reason}; {why}"),
            None => reason,
        }))
    }
}

fn takes_time(id: &ObjectId) -> bool {
    matches!(
        id.kind.as_str(),
        "CustomResourceDefinition" | "Namespace" | "Deployment" | "StatefulSet" | "DaemonSet" | "Job"
    )
}
