//! Everything that is there, page by page. Only one page is in memory, as bytes; its objects are read one by one.

use crate::{Change, Resource, Trimmed, body::get, failure::Failure, follow::Sink, told::Told};
use kube::Client;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Objects a page. Larger ones save little and cost memory.
const PAGE: usize = 500;

/// Bytes a page. Where objects are this large, pages are made smaller.
const LIMIT: usize = 64 << 20;
/// A single object must fit, whatever it is.
const LIMIT_OF_ONE: usize = 256 << 20;

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(borrow, default, deserialize_with = "null_is_empty")]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PageMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    token: String,
}

fn null_is_empty<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<&'de RawValue>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The version at which everything has been told, and from which a watch goes on.
pub(crate) async fn list<T: Trimmed, O: Send>(
    client: &Client,
    resource: &Resource,
    version: &str,
    told: &mut Told,
    sink: &mut Sink<'_, T, O>,
) -> Result<String, Failure> {
    let mut page = PAGE;
    let mut token: Option<String> = None;
    told.start();
    loop {
        let limit = if page == 1 { LIMIT_OF_ONE } else { LIMIT };
        let answer = get(client, &resource.list(version, page, token.as_deref())).await?.whole(limit).await;
        let body = match answer {
            Err(Failure::TooLarge(_)) if page > 1 => {
                page = (page / 8).max(1);
                continue;
            }
            answer => answer?,
        };
        let (at, next) = {
            let read: Page<'_> = serde_json::from_slice(&body)?;
            for object in read.items {
                if let Some(change) = told.there::<T>(object) {
                    sink.tell(change).await?;
                }
            }
            (read.metadata.resource_version, read.metadata.token)
        };
        if next.is_empty() {
            for key in told.finish() {
                sink.tell(Change::Gone(key)).await?;
            }
            return Ok(at);
        }
        token = Some(next);
    }
}
