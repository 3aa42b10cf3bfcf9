//! What changes, as it happens; and before that, for who has nothing yet, all that is there.

use crate::{
    Change, Resource, Trimmed,
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
use std::{collections::HashMap, sync::atomic::Ordering::Relaxed, time::Duration};

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

/// What a bookmark may say besides its place: everything that was there has been sent.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Bookmark {
    metadata: BookmarkMetadata,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct BookmarkMetadata {
    resource_version: String,
    annotations: HashMap<String, String>,
}

const EVERYTHING_SENT: &str = "k8s.io/initial-events-end";

/// Goes on from `at`, which moves on with what has been told, until the watch ends. `heard` becomes true with the first
/// event. From nowhere: everything that is there comes first, object by object, out of the server's memory.
pub(crate) async fn watch<T: Trimmed, O: Send>(
    client: &Client,
    resource: &Resource,
    version: &str,
    at: &mut Option<String>,
    told: &mut Told,
    sink: &mut Sink<'_, T, O>,
    heard: &mut bool,
) -> Result<(), Failure> {
    let mut answer = get(client, &resource.watch(version, at.as_deref(), jitter(LENGTH).as_secs())).await?;
    sink.state.watches.fetch_add(1, Relaxed);
    if at.is_some() {
        sink.following();
    } else {
        told.start();
    }
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
            if matches!(change, Change::Synced) {
                sink.state.lists.fetch_add(1, Relaxed);
                sink.following();
            }
            sink.tell(change).await?;
        }
        // Until everything has been told there is no place to go on from.
        if let Some(next) = next
            && !told.is_telling()
        {
            *at = Some(next);
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
    changes: &mut Vec<Change<T>>,
) -> Result<Option<String>, Failure> {
    if line.is_empty() {
        return Ok(None);
    }
    let event: Event<'_> = serde_json::from_slice(line)?;
    let place = match &*event.kind {
        "ADDED" | "MODIFIED" if told.is_telling() => {
            changes.extend(told.there(event.object));
            return Ok(None);
        }
        "ADDED" | "MODIFIED" => {
            changes.extend(told.there(event.object));
            place(event.object)
        }
        "DELETED" => {
            changes.extend(told.gone(event.object));
            place(event.object)
        }
        "BOOKMARK" => {
            let bookmark: Bookmark = serde_json::from_str(event.object.get()).unwrap_or_default();
            if told.is_telling() && bookmark.metadata.annotations.contains_key(EVERYTHING_SENT) {
                changes.extend(told.finish().into_iter().map(Change::Gone));
                changes.push(Change::Synced);
            }
            bookmark.metadata.resource_version
        }
        "ERROR" => {
            let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
            let code =
                http::StatusCode::from_u16(status.code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
            return Err(Failure::of_answer(code, None, event.object.get().as_bytes()));
        }
        // A newer server may say more than we know.
        _ => return Ok(None),
    };
    Ok(Some(place).filter(|place| !place.is_empty()))
}

fn place(object: &RawValue) -> String {
    let head: Head = serde_json::from_str(object.get()).unwrap_or_default();
    head.metadata.resource_version
}
