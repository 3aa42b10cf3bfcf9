//! Objects that scenarios have in common: our bases, files of the installed Istio, its benchmarks' configurations.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use mizzen_testkit::{Oracle, tools};
use mizzen_text::{
    Source,
    yaml::{Options, load_all},
};
use serde_json::{Value, json};

/// How large benchmarks are made: upstream has 100 services and 1,000 instances, which shows nothing more.
const SERVICES: &str = "5";
const INSTANCES: &str = "12";

/// Where the scenarios and bases are.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// `bookinfo.yaml`, `istio:samples/…` or `benchmark:http`.
pub fn read(word: &str) -> Result<Vec<Value>> {
    let (name, text) = if let Some(path) = word.strip_prefix("istio:") {
        (word, load(&tools::folder("modules/istio")?.join(path))?)
    } else if let Some(benchmark) = word.strip_prefix("benchmark:") {
        (word, render(benchmark)?)
    } else {
        (word, load(&folder().join("bases").join(word))?)
    };
    documents(name, &text)
}

pub fn documents(name: &str, text: &str) -> Result<Vec<Value>> {
    let (source, options) = (Source::new(name, text.as_bytes()), Options::KUBERNETES);
    let read = load_all(&source, &options).map(|document| match document {
        Ok(document) => Ok(document.value),
        Err(problem) => bail!("{name}: {problem:?}"),
    });
    Ok(read.collect::<Result<Vec<_>>>()?.into_iter().filter(|value| !value.is_null()).collect())
}

fn load(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}

fn render(benchmark: &str) -> Result<String> {
    let path = format!("pilot/pkg/xds/testdata/benchmarks/{benchmark}.yaml");
    // The numbers go into the text: JSON has no whole numbers, and the templates want nothing else.
    let template = load(&tools::folder("modules/istio")?.join(path))?
        .replace("$.Services", SERVICES)
        .replace(".Services", SERVICES)
        .replace(".Instances", INSTANCES)
        // A comment has these words, too; there they only read oddly.
        .replace("# Set up", "# set up");
    let answers = Oracle::shared().injection(&[json!({ "template": template, "data": {} })])?;
    let answer = answers.into_iter().next().context("the oracle gave no answer")?;
    match answer.error.or(answer.panic) {
        Some(error) => bail!("benchmark {benchmark}: {error}"),
        None => Ok(answer.output),
    }
}
