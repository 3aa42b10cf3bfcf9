//! What can be wrong with a chart, its values or its templates: one sentence each, with the place and the way out.

use std::{io, path::PathBuf};

use mizzen_text::Diagnostic;

use crate::Failure;

/// Why files are no chart.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    #[error("{place} has no Chart.yaml, so it is no chart: give the folder or the .tgz of one")]
    NotAChart { place: String },
    #[error("{0}")]
    Yaml(String),
    #[error("{place}: {message}")]
    Metadata { place: String, message: String },
    #[error("{file}: the byte at {offset} is not UTF-8: save the file as UTF-8")]
    NotText { file: String, offset: usize },
    #[error("the chart has the file {file} twice: remove one of them")]
    Twice { file: String },
    #[error("{}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{}: {message}", path.display())]
    Folder { path: PathBuf, message: String },
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    #[error("charts are nested more than {limit} deep in {place}: a chart's `charts/` may not hold itself")]
    Nested { place: String, limit: usize },
    #[error("sub-chart {name} of {parent}: {error}")]
    Subchart { name: String, parent: String, error: Box<ChartError> },
}

impl ChartError {
    pub(super) fn yaml(diagnostic: &Diagnostic) -> Self {
        Self::Yaml(sentence(diagnostic))
    }
}

/// `values.yaml:3:7: message (hint)`
pub(super) fn sentence(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let hint = diagnostic.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{place}{}{hint}", diagnostic.message)
}

/// Why an archive was not unpacked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("this is no gzip-compressed tar archive: give a .tgz as `helm package` makes it")]
    NotGzip,
    #[error("the archive is damaged or cut short ({0}): fetch it again")]
    Damaged(String),
    #[error("the archive holds no files: give a .tgz as `helm package` makes it")]
    Empty,
    #[error("the archive's entry {0:?} points outside of the archive: do not use this archive")]
    Outside(String),
    #[error(
        "the archive's entry {0:?} is a link or a device, which no chart may have: pack the file itself instead"
    )]
    Irregular(String),
    #[error("the archive's entry name {0:?} is not UTF-8: rename the file and pack it again")]
    Name(String),
    #[error("the archive has the entry {0:?} twice: pack it again")]
    Twice(String),
    #[error(
        "the archive's entry {name:?} has more than {limit} bytes, which is as much as one file may have"
    )]
    FileTooLarge { name: String, limit: u64 },
    #[error("the archive unpacks to more than {limit} bytes, which is as much as is unpacked")]
    TooLarge { limit: u64 },
    #[error("the archive has more than {limit} files, which is as many as are unpacked")]
    TooMany { limit: usize },
}

/// Why a chart was not rendered.
#[derive(Debug, thiserror::Error)]
pub enum HelmError {
    #[error("{0}")]
    Values(String),
    #[error(
        "the values do not fit the schema of chart {chart}: {}",
        findings.join("; ")
    )]
    Schema { chart: String, findings: Vec<String> },
    #[error("chart {chart}: {message}")]
    BadSchema { chart: String, message: String },
    #[error(
        "chart {chart} needs Kubernetes {wanted}, but it is rendered for {version}: choose another chart version"
    )]
    KubeVersion { chart: String, wanted: String, version: String },
    #[error("chart {chart} is a library chart: use it as a dependency of another chart")]
    Library { chart: String },
    #[error(
        "chart {chart} depends on {missing}, which is not in its charts/ folder: run `helm dependency build`"
    )]
    MissingDependency { chart: String, missing: String },
    #[error("chart {chart}: {message}")]
    Dependencies { chart: String, message: String },
    #[error("{0}")]
    Chart(#[from] ChartError),
    #[error("{0}")]
    Template(#[from] Failure),
    #[error("{file}: what was rendered is no YAML: {message}")]
    Output { file: String, message: String },
}
