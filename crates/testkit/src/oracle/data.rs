//! What `cargo xtask tools` has found out about Istio's own tests: their rows, recorded while they ran, and the
//! configurations of its benchmarks.

use std::{fs, path::PathBuf};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    error::{During, Error, Result},
    tools,
};

pub const NEEDS: &[&str] = &[FOLDER];
const FOLDER: &str = "data/istio-oracle";

/// A call that one of Istio's tests makes of one of its functions, and what it was told. The test passed: what is
/// recorded is what it expects.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `validation/validation_test.go`
    pub file: String,
    pub test: String,
    /// Whether it belongs to a row of a table; otherwise it is one of a test's other calls.
    pub table: bool,
    /// Which row, or which of the other calls. A row may make several calls.
    pub index: usize,
    /// The row's name, where the table has names.
    #[serde(default)]
    pub row: String,
    /// The table is a map, and the name its key.
    #[serde(default)]
    pub keyed: bool,
    pub function: String,
    pub arguments: Vec<Argument>,
    pub accepted: bool,
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    /// What it returned besides errors and warnings.
    #[serde(default)]
    pub results: Vec<Argument>,
    /// All arguments once more as it left them, where it changed one; of a method, the first is what it is called on.
    #[serde(default)]
    pub after: Vec<Argument>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// The full name of a protobuf message or enum, `config.Config` for a whole object (`{metadata, spec, specType}`,
    /// seldom with `apiVersion` and `kind`), or a Go type; in front of it `[]` for a list.
    #[serde(rename = "type")]
    pub kind: String,
    pub value: Value,
    /// Paths to what the test gave and no JSON can say, as Istio reads JSON: a nil in a list, a map or a oneof, for which
    /// the value has an empty message, and a list that is empty but not nil, of which the value has nothing. Where that
    /// matters, no object that comes over the wire gets this answer.
    #[serde(default)]
    pub unsaid: Vec<String>,
    /// The message in protobuf's own encoding, base64, where JSON cannot say what is in it.
    #[serde(default)]
    pub proto: Option<String>,
    /// The value is only told in Go's words.
    #[serde(default)]
    pub opaque: bool,
}

/// How many rows a test has by its source, and how many of them were recorded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    pub file: String,
    pub test: String,
    pub rows: usize,
    pub recorded: usize,
    pub calls: usize,
}

/// Every recorded call of validation, in the order of the tests.
pub fn rows() -> Result<Vec<Row>> {
    read_rows("rows.jsonl")
}

pub fn tests() -> Result<Vec<Test>> {
    read_tests("tests.json")
}

/// Every recorded call of the installer's own functions (trees, paths, versions, IstioOperators) and of `istioctl
/// validate`. A cluster among the arguments is a list of the objects in it, `kube.Client`. In `accepted` is only whether
/// no error was returned. A row of `TestValidateCommand` has a call for each object in its files, and not what the
/// command made of them all.
pub fn operator_rows() -> Result<Vec<Row>> {
    read_rows("operator-rows.jsonl")
}

pub fn operator_tests() -> Result<Vec<Test>> {
    read_tests("operator-tests.json")
}

fn read_rows(name: &str) -> Result<Vec<Row>> {
    let file = tools::folder(FOLDER)?.join(name);
    let text = fs::read_to_string(&file).during("read the rows of Istio's tests")?;
    text.lines().map(parse).collect()
}

fn read_tests(name: &str) -> Result<Vec<Test>> {
    let file = tools::folder(FOLDER)?.join(name);
    parse(&fs::read_to_string(&file).during("read the list of Istio's tests")?)
}

/// The files of Istio's benchmark configurations: YAML with many documents, not only of Istio's kinds.
pub fn benchmarks() -> Result<Vec<PathBuf>> {
    let folder = tools::folder(FOLDER)?.join("benchmarks");
    let entries = fs::read_dir(folder).during("list Istio's benchmarks")?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::other(format_args!("{FOLDER}: {error}")))
}
