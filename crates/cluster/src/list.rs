//! Everything that is there. Only one object is in memory at a time.

use crate::{
    Change, Resource, Trimmed,
    body::{PATIENCE, get},
    failure::Failure,
    follow::Sink,
    items::Items,
    told::Told,
};
use kube::Client;
use serde::Deserialize;

/// Objects a page, of a list that must be the newest: that one comes from the store behind the server.
const PAGE: usize = 500;

#[derive(Deserialize)]
struct Around {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
    #[serde(rename = "continue")]
    token: String,
}

/// The version at which everything has been told, and from which a watch goes on.
///
/// The first time it may be a little old and comes out of the server's memory, all in one; the watch tells what is newer. After
/// that it must not be older than what was told before.
pub(crate) async fn list<T: Trimmed, O: Send>(
    client: &Client,
    resource: &Resource,
    version: &str,
    told: &mut Told,
    sink: &mut Sink<'_, T, O>,
) -> Result<String, Failure> {
    let mut path = match told.is_empty() {
        true => resource.list_any(version),
        false => resource.list(version, PAGE, None),
    };
    told.start();
    loop {
        let mut answer = get(client, &path).await?;
        let (mut items, mut changes) = (Items::default(), Vec::new());
        while let Some(piece) = answer.next(PATIENCE).await? {
            items.take(&piece, |item| {
                changes.extend(told.there::<T>(item));
                Ok(())
            })?;
            for change in changes.drain(..) {
                sink.tell(change).await?;
            }
        }
        let Around { metadata } = serde_json::from_slice(items.around())?;
        if metadata.token.is_empty() {
            for key in told.finish() {
                sink.tell(Change::Gone(key)).await?;
            }
            return Ok(metadata.resource_version);
        }
        path = resource.list(version, PAGE, Some(&metadata.token));
    }
}
