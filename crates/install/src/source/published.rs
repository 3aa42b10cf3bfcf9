//! Charts that somebody has published, by name and version: each is resolved to a digest, fetched once and kept.
//!
//! All charts are taken in one version: what the first one was resolved to counts for the others. What a name stood for is
//! remembered, so that without a network the same charts come out of the cache.

use std::sync::{Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use mizzen_template::helm::Chart;
use mizzen_text::Source;

use super::{
    BuiltIn, PUBLISHED, SourceOptions,
    cache::{Cache, Record, digest_of},
    error::SourceError,
    http::Client,
    local,
    oci::{Reference, Registry},
    repository::{self, Index},
    unreadable,
    versions::choose,
};
use crate::{Charts, ChartsError};

pub(super) struct Published {
    from: From,
    /// For sentences.
    what: String,
    wanted: Option<String>,
    cache: Cache,
    offline: bool,
    /// What was chosen for the first chart.
    chosen: Mutex<Option<String>>,
}

enum From {
    Repository { url: String, client: Client, index: OnceLock<Index> },
    Registry { reference: Reference, registry: Registry },
}

impl Published {
    pub(super) fn repository(url: String, options: &SourceOptions) -> Result<Self, SourceError> {
        let client = Client::new(options.roots.as_deref())?;
        let what = format!("the chart repository {url}");
        Ok(Self::new(
            From::Repository { url, client, index: OnceLock::new() },
            what,
            options.version.clone(),
            options,
        ))
    }

    pub(super) fn registry(reference: Reference, options: &SourceOptions) -> Result<Self, SourceError> {
        let client = Client::new(options.roots.as_deref())?;
        let what = format!("the registry {}", reference.name());
        let wanted = match (&reference.tag, &options.version) {
            (Some(tag), Some(version)) if tag != version => {
                return Err(SourceError::Place {
                    text: format!("{}:{tag}", reference.name()),
                    why: format!(
                        "it has a tag, and --version {version} is given, too; leave one of them out"
                    ),
                });
            }
            (tag, version) => tag.clone().or_else(|| version.clone()),
        };
        let registry = Registry::new(client, options.docker_config.clone());
        Ok(Self::new(From::Registry { reference, registry }, what, wanted, options))
    }

    fn new(from: From, what: String, wanted: Option<String>, options: &SourceOptions) -> Self {
        let cache = Cache::new(options.cache.as_deref());
        Self { from, what, wanted, cache, offline: options.offline, chosen: Mutex::default() }
    }

    fn fetch(&self, chart: &str) -> Result<Bytes, SourceError> {
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let wanted = chosen.as_deref().or(self.wanted.as_deref());
        let name = self.name(chart, wanted);
        let (record, bytes) = match self.online(chart, wanted) {
            Ok(found) => found,
            Err(SourceError::Unreachable { url, why }) => {
                let kept = self.cache.record(&name).and_then(|record| {
                    let bytes = self.cache.blob(&record.digest)?;
                    Some((record, bytes))
                });
                match kept {
                    Some(kept) => {
                        if !self.offline {
                            tracing::warn!("{url} cannot be reached ({why}): {name} is taken from the cache");
                        }
                        kept
                    }
                    None if self.offline => {
                        return Err(SourceError::NotCached {
                            what: name,
                            cache: self.cache.folder()?.to_owned(),
                        });
                    }
                    None => return Err(SourceError::Unreachable { url, why }),
                }
            }
            Err(error) => return Err(error),
        };
        self.cache.keep(&record.digest, &bytes);
        // Also as the user asked for it, who may ask for this chart first the next time.
        self.cache.remember(&self.name(chart, self.wanted.as_deref()), &record);
        // The next ones ask for this very version, with and without a network.
        if !record.version.is_empty() {
            self.cache.remember(&self.name(chart, Some(&record.version)), &record);
            *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = Some(record.version);
        }
        Ok(bytes)
    }

    /// What is looked for, in one word.
    fn name(&self, chart: &str, wanted: Option<&str>) -> String {
        let place = match &self.from {
            From::Repository { url, .. } => url.clone(),
            From::Registry { reference, .. } => match &reference.digest {
                Some(digest) => return format!("{}@{digest}", reference.name()),
                None => reference.name(),
            },
        };
        format!("{place} {chart} {}", wanted.unwrap_or("latest"))
    }

    /// From where it is published; without a network, as if nobody answered.
    fn online(&self, chart: &str, wanted: Option<&str>) -> Result<(Record, Bytes), SourceError> {
        let offline = || {
            let why = "--offline is given".to_owned();
            if self.offline { Err(SourceError::Unreachable { url: self.what.clone(), why }) } else { Ok(()) }
        };
        match &self.from {
            From::Repository { url, client, index } => {
                offline()?;
                if index.get().is_none() {
                    let _ = index.set(Index::fetch(client, url)?);
                }
                let missing = || SourceError::NoChart { name: chart.to_owned(), place: self.what.clone() };
                let index = index.get().ok_or_else(missing)?;
                let known = index.versions(chart).ok_or_else(missing)?;
                let version = choose(&known, wanted, chart, &self.what)?;
                let entry = index.entry(chart, version)?;
                let kept =
                    entry.digest.as_ref().and_then(|digest| Some((digest.clone(), self.cache.blob(digest)?)));
                let (digest, bytes) = match kept {
                    Some(kept) => kept,
                    None => repository::fetch(client, &entry.urls, entry.digest.as_deref())?,
                };
                Ok((Record { digest, version: version.to_owned() }, bytes))
            }
            From::Registry { reference, registry } => {
                self.of_registry(reference, registry, chart, wanted, offline)
            }
        }
    }

    fn of_registry(
        &self,
        reference: &Reference,
        registry: &Registry,
        chart: &str,
        wanted: Option<&str>,
        offline: impl Fn() -> Result<(), SourceError>,
    ) -> Result<(Record, Bytes), SourceError> {
        let host = &reference.host;
        let path = path(reference, chart);
        let place = format!("oci://{host}/{path}");
        let (tag, version) = match &reference.digest {
            Some(digest) => (digest.clone(), String::new()),
            None => {
                offline()?;
                let tags = registry.tags(host, &path)?;
                // A plus cannot stand in a tag.
                let versions: Vec<String> = tags.iter().map(|tag| tag.replace('_', "+")).collect();
                let wanted = wanted.map(|wanted| wanted.replace('_', "+"));
                let version = choose(&versions, wanted.as_deref(), chart, &place)?;
                (version.replace('+', "_"), version.to_owned())
            }
        };
        let manifest = match self.cache.blob(&tag) {
            Some(manifest) => manifest,
            None => {
                offline()?;
                let (digest, manifest) = registry.manifest(host, &path, &tag)?;
                self.cache.keep(&digest, &manifest);
                manifest
            }
        };
        let layer = Registry::layer(&place, &manifest)?;
        let bytes = match self.cache.blob(&layer) {
            Some(bytes) => bytes,
            None => {
                offline()?;
                registry.blob(host, &path, &layer)?
            }
        };
        Ok((Record { digest: layer, version }, bytes))
    }

    /// The chart's name; where a single chart is named by the reference itself, only that one.
    fn published_name(&self, folder: &str) -> Option<&'static str> {
        let (_, name) = PUBLISHED.iter().find(|(known, _)| *known == folder)?;
        match &self.from {
            From::Registry { reference, .. } => match single(reference) {
                Some(only) => (only == *name).then_some(*name),
                None => Some(*name),
            },
            From::Repository { .. } => Some(*name),
        }
    }
}

/// The chart that a reference names by its last part; a digest can only be one chart's.
fn single(reference: &Reference) -> Option<&str> {
    let last = reference.path.rsplit('/').next()?;
    let known = PUBLISHED.iter().any(|(_, name)| *name == last);
    (known || reference.digest.is_some()).then_some(last)
}

fn path(reference: &Reference, chart: &str) -> String {
    match single(reference) {
        Some(_) => reference.path.clone(),
        None => format!("{}/{chart}", reference.path),
    }
}

impl Charts for Published {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        BuiltIn.profile(name)
    }

    fn profiles(&self) -> Vec<String> {
        BuiltIn.profiles()
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let Some(name) = self.published_name(folder) else {
            return Err(ChartsError::NoChart { folder: folder.to_owned(), source_name: self.describe() });
        };
        let bytes = self.fetch(name).map_err(unreadable)?;
        let place = || self.name(name, None);
        Chart::from_archive(&bytes).map_err(|error| unreadable(SourceError::Chart { place: place(), error }))
    }

    fn describe(&self) -> String {
        let names: Vec<&str> = PUBLISHED.iter().map(|(_, name)| *name).collect();
        match &self.from {
            From::Registry { reference, .. } if single(reference).is_some() => self.what.clone(),
            _ => format!("{}, which has {}", self.what, names.join(", ")),
        }
    }
}

/// The charts in an archive behind a URL.
pub(super) fn archive(url: &str, options: &SourceOptions) -> Result<Box<dyn Charts>, SourceError> {
    let cache = Cache::new(options.cache.as_deref());
    let kept = || cache.record(url).and_then(|record| cache.blob(&record.digest));
    let fetched = if options.offline {
        Err(SourceError::Unreachable { url: url.to_owned(), why: "--offline is given".to_owned() })
    } else {
        let client = Client::new(options.roots.as_deref())?;
        repository::fetch(&client, &[url.to_owned()], None)
    };
    let bytes = match fetched {
        Ok((digest, bytes)) => {
            cache.keep(&digest, &bytes);
            cache.remember(url, &Record { digest: digest_of(&bytes), version: String::new() });
            bytes
        }
        Err(SourceError::Unreachable { url, why }) => match kept() {
            Some(bytes) => {
                if !options.offline {
                    tracing::warn!("{url} cannot be reached ({why}): it is taken from the cache");
                }
                bytes
            }
            None if options.offline => {
                return Err(SourceError::NotCached { what: url, cache: cache.folder()?.to_owned() });
            }
            None => return Err(SourceError::Unreachable { url, why }),
        },
        Err(error) => return Err(error),
    };
    local::archive(url, &bytes)
}
