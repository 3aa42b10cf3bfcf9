//! Rows of Istio's own validation tests as the tools cache has them: what was validated, and Istio's verdict.

pub(crate) mod embed;

use mizzen_testkit::tools;
use serde::Deserialize;
use serde_json::Value;
use std::fs;

#[derive(Deserialize)]
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) test: String,
    #[serde(default)]
    row: String,
    index: usize,
    pub(crate) function: String,
    arguments: Vec<Argument>,
    pub(crate) accepted: bool,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Argument {
    value: Value,
}

impl Row {
    /// As `go test` would name it; a row without a name has its number.
    pub(crate) fn name(&self) -> String {
        let row =
            if self.row.is_empty() { format!("#{:02}", self.index) } else { self.row.replace('\n', "\\n") };
        format!("{}/{row}", self.test)
    }

    fn value(&self, argument: usize) -> &Value {
        self.arguments.get(argument).map_or(&Value::Null, |argument| &argument.value)
    }

    fn is_true(&self, argument: usize) -> bool {
        self.value(argument) == &Value::Bool(true)
    }
}

pub(crate) fn all() -> Vec<Row> {
    let text = fs::read_to_string(tools::folder("data/istio-oracle").unwrap().join("rows.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
