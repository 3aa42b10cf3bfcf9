//! Upstream's own inputs, goldens and charts, out of the installed module, and the way its test driver compares them.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its part, and may end at a surprise")]

use std::{collections::BTreeMap, fs, path::PathBuf};

use mizzen_install::{Charts, ChartsError, Folder, Generated, Input, Refused, generate};
use mizzen_template::helm::{ArchiveLimits, Chart, unpack};
use mizzen_testkit::tools;
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use regex::Regex;
use serde_json::Value;

pub(crate) const NEEDS: &[&str] = &["modules/istio"];

pub(crate) fn module(path: &str) -> PathBuf {
    tools::folder("modules/istio").unwrap().join(path)
}

/// The charts of the module itself.
pub(crate) fn live() -> Folder {
    Folder::open(module("manifests")).unwrap()
}

/// The charts as upstream froze them for its goldens.
pub(crate) struct Snapshot(BTreeMap<String, Vec<u8>>);

impl Snapshot {
    pub(crate) fn open() -> Self {
        let archive =
            fs::read(module("operator/cmd/mesh/testdata/manifest-generate/data-snapshot.tar.gz")).unwrap();
        let files = unpack(&archive, &ArchiveLimits::CHART, |_| true).unwrap();
        let inside =
            |path: String| path.trim_start_matches("./").strip_prefix("manifests/").map(str::to_owned);
        Self(files.into_iter().filter_map(|(path, data)| Some((inside(path)?, data.to_vec()))).collect())
    }
}

impl Charts for Snapshot {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        let path = format!("profiles/{name}.yaml");
        let file = self.0.get(&path).ok_or_else(|| ChartsError::no_profile(name, self))?;
        Ok(Source::new(path, file.clone()))
    }

    fn profiles(&self) -> Vec<String> {
        let names = self.0.keys().filter_map(|path| path.strip_prefix("profiles/")?.strip_suffix(".yaml"));
        names.map(str::to_owned).collect()
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let inside = format!("charts/{folder}/");
        let files: Vec<_> = self
            .0
            .iter()
            .filter_map(|(path, data)| Some((path.strip_prefix(&inside)?.to_owned(), data.clone())))
            .collect();
        if files.is_empty() {
            return Err(ChartsError::NoChart { folder: folder.to_owned(), source_name: self.describe() });
        }
        Chart::from_files(files).map_err(|error| ChartsError::Unreadable(error.to_string()))
    }

    fn describe(&self) -> String {
        "the snapshot's charts".to_owned()
    }
}

/// An input file of upstream's.
pub(crate) fn input_file(name: &str) -> Source {
    let path = format!("operator/cmd/mesh/testdata/manifest-generate/input/{name}.yaml");
    Source::new(format!("{name}.yaml"), fs::read(module(&path)).unwrap())
}

pub(crate) fn input(files: &[&str], sets: &[&str]) -> Input {
    Input {
        files: files.iter().map(|name| input_file(name)).collect(),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Input::default()
    }
}

/// `manifest generate` with the module's charts.
pub(crate) fn try_run(files: &[&str], sets: &[&str]) -> Result<Generated, Refused> {
    generate(&input(files, sets), &live())
}

pub(crate) fn run(files: &[&str], sets: &[&str]) -> Generated {
    try_run(files, sets).unwrap_or_else(|refused| panic!("{files:?} {sets:?}: {refused}"))
}

/// The documents of a printed manifest, each with its key and its text.
pub(crate) fn documents(text: &str) -> Vec<(String, String, Value)> {
    let mut parts = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push_str(line);
        }
    }
    let read = |part: String| {
        let part = part.trim().to_owned();
        let source = Source::new("part", part.as_bytes());
        let value = yaml::load_all(&source, &Options::KUBERNETES).next()?.unwrap().value;
        Some((mizzen_install::Manifest::from(value.clone()).key(), part, value))
    };
    parts.into_iter().filter_map(read).collect()
}

/// What upstream's driver keeps of a manifest, joined as it joins it.
pub(crate) fn selected(text: &str, selector: &str) -> (String, Vec<Value>) {
    let expressions: Vec<Regex> = selector.split(',').map(|one| expression(one.trim())).collect();
    let kept: Vec<_> = documents(text)
        .into_iter()
        .filter(|(key, ..)| expressions.iter().any(|expression| expression.is_match(key)))
        .collect();
    let texts: Vec<&str> = kept.iter().map(|(_, text, _)| text.as_str()).collect();
    (texts.join("\n---\n") + "\n", kept.iter().map(|(.., value)| value.clone()).collect())
}

fn expression(selector: &str) -> Regex {
    let parts = selector.split(':').map(|part| if matches!(part, "" | "*") { ".*" } else { part });
    Regex::new(&parts.collect::<Vec<_>>().join(":")).unwrap()
}

/// The first difference of two values, for a message.
pub(crate) fn difference(path: &str, ours: &Value, theirs: &Value) -> Option<String> {
    if ours == theirs {
        return None;
    }
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).find_map(|key| {
            let null = Value::Null;
            let here = format!("{path}.{key}");
            match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => difference(&here, a, b),
                (a, b) => Some(format!("{here}: {} ≠ {}", a.unwrap_or(&null), b.unwrap_or(&null))),
            }
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| difference(&format!("{path}[{at}]"), a, b))
        }
        (Value::String(a), Value::String(b)) if a != b => {
            let line = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let at = |text: &str| text.lines().nth(line).unwrap_or_default().to_owned();
            Some(format!("{path}, line {line}: {:?} ≠ {:?}", at(a), at(b)))
        }
        (a, b) => (a != b).then(|| format!("{path}: {a} ≠ {b}")),
    }
}
