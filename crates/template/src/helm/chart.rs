//! A chart: its files sorted by what they are for. Plain data, shared freely.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use bytes::Bytes;
use serde_json::Value;

use super::{
    archive::{self, ArchiveLimits},
    error::ChartError,
    folder,
    metadata::Metadata,
    values::{self, Table},
};

/// Charts in charts: far more than anybody has, far less than a stack has.
const NESTING: usize = 32;

#[derive(Clone, Debug)]
pub struct File {
    /// From the chart's own folder: `templates/service.yaml`
    pub name: String,
    pub data: Bytes,
}

impl File {
    pub(super) fn text(&self) -> Result<&str, ChartError> {
        str::from_utf8(&self.data)
            .map_err(|error| ChartError::NotText { file: self.name.clone(), offset: error.valid_up_to() })
    }
}

#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub metadata: Metadata,
    /// The defaults, always a map.
    pub values: Value,
    /// `values.schema.json`, as it is in the file.
    pub schema: Option<Bytes>,
    pub templates: Vec<File>,
    /// All that is nothing else: what `.Files` gives, custom resource definitions in `crds/` among it.
    pub files: Vec<File>,
    /// The charts in `charts/`, sorted by the names of their folders.
    pub dependencies: Vec<Chart>,
    /// What is odd but no reason to refuse it.
    pub warnings: Vec<String>,
}

impl Chart {
    /// From files whose paths begin in the chart's folder: `Chart.yaml`, `templates/service.yaml`.
    pub fn from_files<D: Into<Bytes>>(
        files: impl IntoIterator<Item = (String, D)>,
    ) -> Result<Self, ChartError> {
        let files = files.into_iter().map(|(name, data)| File { name, data: data.into() });
        assemble("the chart", files.collect(), 0)
    }

    pub fn from_folder(path: impl AsRef<Path>) -> Result<Self, ChartError> {
        let path = path.as_ref();
        assemble(&path.display().to_string(), folder::read(path)?, 0)
    }

    /// Out of a `.tgz`, as `helm package` makes it.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, ChartError> {
        from_archive("the archive", bytes, 0)
    }

    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The files of `crds/` with Kubernetes objects in them, of this chart and then of its dependencies. The names have
    /// the chart's path in front.
    pub fn crds(&self) -> Vec<(String, Bytes)> {
        let mut all = Vec::new();
        self.add_crds(&self.metadata.name, &mut all);
        all
    }

    fn add_crds(&self, path: &str, all: &mut Vec<(String, Bytes)>) {
        for file in &self.files {
            let extension = file.name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
            if file.name.starts_with("crds/") && matches!(extension.as_deref(), Some("yaml" | "yml" | "json"))
            {
                all.push((format!("{path}/{}", file.name), file.data.clone()));
            }
        }
        for dependency in &self.dependencies {
            dependency.add_crds(&format!("{path}/charts/{}", dependency.name()), all);
        }
    }

    pub(super) fn defaults(&self) -> Table {
        match &self.values {
            Value::Object(map) => map.clone(),
            _ => Table::new(),
        }
    }
}

fn from_archive(place: &str, bytes: &[u8], depth: usize) -> Result<Chart, ChartError> {
    let entries = archive::unpack(bytes, &ArchiveLimits::CHART, |_| true)?;
    let mut files = Vec::with_capacity(entries.len());
    for (path, data) in entries {
        // The first folder is the chart's own, whatever its name.
        match path.split_once('/') {
            Some((_, name)) => files.push(File { name: name.to_owned(), data }),
            None if path == "Chart.yaml" => {
                let message = "Chart.yaml must be in a folder of the archive: pack it with `helm package`";
                return Err(ChartError::Metadata { place: place.to_owned(), message: message.to_owned() });
            }
            None => return Err(archive::outside(path).into()),
        }
    }
    assemble(place, files, depth)
}

fn assemble(place: &str, mut files: Vec<File>, depth: usize) -> Result<Chart, ChartError> {
    if depth > NESTING {
        return Err(ChartError::Nested { place: place.to_owned(), limit: NESTING });
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = files.iter().find(|file| !names.insert(file.name.as_str())) {
        return Err(ChartError::Twice { file: twice.name.clone() });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    for file in &mut files {
        if file.data.starts_with(b"\xef\xbb\xbf") {
            file.data = file.data.slice(3..);
        }
    }
    let Some(chart_file) = files.iter().find(|file| file.name == "Chart.yaml") else {
        return Err(ChartError::NotAChart { place: place.to_owned() });
    };
    let mut chart = Chart {
        metadata: Metadata::read("Chart.yaml", &chart_file.data)?,
        values: Value::Object(Table::new()),
        ..Chart::default()
    };
    let subcharts = sort_in(&mut chart, files)?;
    for (name, files) in subcharts {
        let subchart = subchart(&name, files, depth + 1).map_err(|error| ChartError::Subchart {
            name: name.clone(),
            parent: chart.metadata.name.clone(),
            error: Box::new(error),
        })?;
        chart.dependencies.extend(subchart);
    }
    Ok(chart)
}

/// Everything to its place; what is left are the files of sub-charts by their first folder or archive name.
fn sort_in(chart: &mut Chart, files: Vec<File>) -> Result<BTreeMap<String, Vec<File>>, ChartError> {
    let mut subcharts: BTreeMap<String, Vec<File>> = BTreeMap::new();
    let first_version = chart.metadata.api_version == "v1";
    for file in files {
        match file.name.as_str() {
            "Chart.yaml" | "Chart.lock" => {}
            "values.yaml" => {
                let name = format!("{}/{}", chart.metadata.name, file.name);
                chart.values = Value::Object(values::table(&name, &file.data)?);
            }
            "values.schema.json" => chart.schema = Some(file.data),
            "requirements.yaml" | "requirements.lock" => {
                if file.name == "requirements.yaml" {
                    chart.metadata.read_requirements(&file.name, &file.data)?;
                }
                if first_version {
                    chart.files.push(file);
                } else {
                    let message = "belongs to charts of apiVersion v1: write dependencies into Chart.yaml";
                    chart.warnings.push(format!("{} {message}", file.name));
                }
            }
            name if name.starts_with("templates/") => chart.templates.push(file),
            name if name.starts_with("charts/") && !name.ends_with(".prov") => {
                let name = &name["charts/".len()..];
                let first = name.split('/').next().unwrap_or(name).to_owned();
                let inner = File { name: name.to_owned(), data: file.data };
                subcharts.entry(first).or_default().push(inner);
            }
            _ => chart.files.push(file),
        }
    }
    Ok(subcharts)
}

/// None where it is only a file that lies among the charts.
fn subchart(name: &str, files: Vec<File>, depth: usize) -> Result<Option<Chart>, ChartError> {
    if name.starts_with(['_', '.']) {
        return Ok(None);
    }
    if name.ends_with(".tgz") {
        return match files.as_slice() {
            [file] if file.name == name => from_archive(name, &file.data, depth).map(Some),
            _ => Err(ChartError::Metadata {
                place: format!("charts/{name}"),
                message: "this is a folder with the name of an archive: rename it".to_owned(),
            }),
        };
    }
    let within = files.into_iter().filter_map(|file| {
        file.name.split_once('/').map(|(_, rest)| File { name: rest.to_owned(), data: file.data })
    });
    let within: Vec<File> = within.collect();
    // A README in charts/ is no chart; Helm says of it that its Chart.yaml is missing.
    if within.is_empty() { Ok(None) } else { assemble(&format!("charts/{name}"), within, depth).map(Some) }
}
