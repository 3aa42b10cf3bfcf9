//! What can go wrong on the way to a chart: one sentence each, with the place and the way out.

use std::{io, path::PathBuf};

use mizzen_template::helm::{ArchiveError, ChartError};

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("{text:?} names no charts: {why}")]
    Place { text: String, why: String },
    #[error("{what} have no versions to choose from, but --version {version} is given: leave it out")]
    NoVersions { what: String, version: String },
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{place}: {error}")]
    Archive { place: String, error: ArchiveError },
    #[error("{place}: {error}")]
    Chart { place: String, error: ChartError },
    #[error(
        "{place} holds neither `charts` and `profiles` nor a chart: give an Istio release or a chart's .tgz"
    )]
    Neither { place: String },
    /// Nobody answered: what was kept may be used instead.
    #[error("{url} cannot be reached: {why}")]
    Unreachable { url: String, why: String },
    #[error("{url} answers {status}{}", hint(*.status))]
    Status { url: String, status: u16 },
    #[error("{url} answers what cannot be understood: {why}")]
    Garbage { url: String, why: String },
    #[error("{url} has more than {limit} bytes, which is as much as is fetched")]
    TooLarge { url: String, limit: usize },
    #[error("{url} is not what it should be: its digest is {found}, but {wanted} is wanted; do not use it")]
    Digest { url: String, wanted: String, found: String },
    #[error("there is no chart {name} in {place}")]
    NoChart { name: String, place: String },
    #[error("there is no version {wanted} of chart {name} in {place}; {}", known(.near))]
    NoVersion { name: String, wanted: String, place: String, near: Vec<String> },
    #[error("{wanted:?} is neither a version nor a range of versions: write one such as 1.26.0 or ~1.26")]
    BadVersion { wanted: String },
    #[error("{what} is not in the cache {}: leave --offline out once", cache.display())]
    NotCached { what: String, cache: PathBuf },
    #[error("there is no folder to keep charts in (set HOME or XDG_CACHE_HOME), and --offline needs one")]
    NoCache,
}

fn hint(status: u16) -> &'static str {
    match status {
        401 | 403 => " (not allowed): log in with `docker login` or `helm registry login`",
        404 => " (not found): look at the address",
        429 => " (too many requests): try again later",
        500.. => ": try again later",
        _ => "",
    }
}

fn known(near: &[String]) -> String {
    if near.is_empty() { "it has none".to_owned() } else { format!("there are {}", near.join(", ")) }
}
