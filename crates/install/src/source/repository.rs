//! A chart repository: `index.yaml` → versions, addresses and digests.

use bytes::Bytes;
use mizzen_text::{Source, yaml};
use serde_json::Value;

use super::{
    cache::{digest_of, is_digest},
    error::SourceError,
    http::{Ask, Client, join},
    oci::{good, matches},
};

const INDEX_LIMIT: usize = 64 << 20;
const CHART_LIMIT: usize = 64 << 20;

/// What `index.yaml` says.
pub(super) struct Index {
    /// With the name of the file behind it, for references.
    url: String,
    entries: Value,
}

/// One version of a chart.
pub(super) struct Entry {
    pub urls: Vec<String>,
    /// Not every repository tells it.
    pub digest: Option<String>,
}

impl Index {
    pub(super) fn fetch(client: &Client, repository: &str) -> Result<Self, SourceError> {
        let url = format!("{repository}/index.yaml");
        let answer = client.get(&Ask { url: &url, limit: INDEX_LIMIT, ..Ask::default() })?;
        let answer = good(&url, answer)?;
        let garbage = |why: String| SourceError::Garbage { url: url.clone(), why };
        let source = Source::new(url.as_str(), answer.body.to_vec());
        let document = yaml::load_all(&source, &yaml::Options::KUBERNETES).next();
        let mut value = match document {
            Some(Ok(document)) => document.value,
            Some(Err(diagnostic)) => return Err(garbage(format!("it is no YAML ({})", diagnostic.message))),
            None => return Err(garbage("it is empty".to_owned())),
        };
        let entries = value.get_mut("entries").map(Value::take).filter(Value::is_object);
        let entries =
            entries.ok_or_else(|| garbage("it has no `entries`, so it is no chart repository".into()))?;
        Ok(Self { url, entries })
    }

    pub(super) fn versions(&self, chart: &str) -> Option<Vec<String>> {
        let entries = self.entries.get(chart)?.as_array()?;
        Some(entries.iter().filter_map(|entry| entry.get("version")?.as_str().map(str::to_owned)).collect())
    }

    pub(super) fn entry(&self, chart: &str, version: &str) -> Result<Entry, SourceError> {
        let all = self.entries.get(chart).and_then(Value::as_array).into_iter().flatten();
        let entry =
            all.into_iter().find(|entry| entry.get("version").and_then(Value::as_str) == Some(version));
        let urls = entry.and_then(|entry| entry.get("urls")?.as_array()).into_iter().flatten();
        let urls: Vec<String> = urls.filter_map(Value::as_str).map(|url| join(&self.url, url)).collect();
        if urls.is_empty() {
            let why = format!("it has no address for {chart} {version}");
            return Err(SourceError::Garbage { url: self.url.clone(), why });
        }
        let digest = entry.and_then(|entry| entry.get("digest")?.as_str());
        // Written with and without the name of the algorithm.
        let digest = digest.map(|digest| format!("sha256:{}", digest.trim_start_matches("sha256:")));
        match digest {
            Some(digest) if !is_digest(&digest) => {
                let why = format!("the digest of {chart} {version} is none of sha256");
                Err(SourceError::Garbage { url: self.url.clone(), why })
            }
            digest => Ok(Entry { urls, digest }),
        }
    }
}

/// The first of the addresses that answers; what it answers must have the digest.
pub(super) fn fetch(
    client: &Client,
    urls: &[String],
    digest: Option<&str>,
) -> Result<(String, Bytes), SourceError> {
    let mut last = None;
    for url in urls {
        let got = client.get(&Ask { url, limit: CHART_LIMIT, ..Ask::default() });
        match got.and_then(|answer| good(url, answer)) {
            Ok(answer) => {
                let found = digest_of(&answer.body);
                matches(url, digest, &found)?;
                return Ok((found, answer.body));
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| SourceError::Garbage {
        url: urls.join(", "),
        why: "there is no address".to_owned(),
    }))
}
