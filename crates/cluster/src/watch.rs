//! What changes after a list, as it happens.

use crate::{
    Resource, Trimmed,
    backoff::jitter,
    body::get,
    failure::{Failure, Status},
    follow::Sink,
    lines::Lines,
    told::{Head, Told},
};
use kube::Client;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{sync::atomic::Ordering::Relaxed, time::Duration};

/// The server ends a watch after about so long.
const LENGTH: Duration = Duration::from_secs(300);

/// A server marks its place about once a minute, so longer silence is a dead connection.
const SILENCE: Duration = Duration::from_secs(150);

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Goes on from `at`, which moves on with what has been told, until the watch ends. `heard` becomes true with the first
/// event.
pub(crate) async fn watch<T: Trimmed, O: Send>(
    client: &Client,
    resource: &Resource,
    version: &str,
    at: &mut String,
    told: &mut Told,
    sink: &mut Sink<'_, T, O>,
    heard: &mut bool,
) -> Result<(), Failure> {
    let path = resource.watch(version, at, jitter(LENGTH).as_secs());
    let mut answer = get(client, &path).await?;
    sink.following();
    sink.state.watches.fetch_add(1, Relaxed);
    let mut lines = Lines::default();
    let mut changes = Vec::new();
    while let Some(piece) = answer.next(SILENCE).await? {
        let mut next = None;
        let read = lines.take(&piece, |line| {
            if let Some(place) = read::<T>(line, told, &mut changes)? {
                next = Some(place);
            }
            Ok(())
        });
        *heard = true;
        // What was read before a failure counts.
        for change in changes.drain(..) {
            sink.tell(change).await?;
        }
        if let Some(next) = next {
            *at = next;
        }
        sink.state.objects.store(told.len() as u64, Relaxed);
        read?;
    }
    Ok(())
}

/// One line; says from where to go on after it.
fn read<T: Trimmed>(
    line: &[u8],
    told: &mut Told,
    changes: &mut Vec<crate::Change<T>>,
) -> Result<Option<String>, Failure> {
    if line.is_empty() {
        return Ok(None);
    }
    let event: Event<'_> = serde_json::from_slice(line)?;
    match &*event.kind {
        "ADDED" | "MODIFIED" => changes.extend(told.there(event.object.get().as_bytes())),
        "DELETED" => changes.extend(told.gone(event.object.get().as_bytes())),
        "BOOKMARK" => {}
        "ERROR" => {
            let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
            let code =
                http::StatusCode::from_u16(status.code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
            return Err(Failure::of_answer(code, None, event.object.get().as_bytes()));
        }
        // A newer server may say more than we know.
        _ => return Ok(None),
    }
    let head: Head = serde_json::from_str(event.object.get()).unwrap_or_default();
    Ok(Some(head.metadata.resource_version).filter(|version| !version.is_empty()))
}
