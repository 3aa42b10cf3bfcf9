//! The rows under `tests/rows`: for each attribute a good block and what it gives, a bad one and what is said of it.

use super::{Texts, app};
use mizzen_text::{Source, yaml};
use serde_json::{Map, Value, json};
use std::{fs, path};

pub(crate) struct Rows {
    pub(crate) word: String,
    pub(crate) base: Value,
    /// Blocks that are written like another one, so that they are tested there.
    pub(crate) same: Map<String, Value>,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) attribute: String,
    pub(crate) good: Value,
    pub(crate) gives: Value,
    pub(crate) bad: Value,
    pub(crate) says: String,
}

pub(crate) fn all() -> Vec<Rows> {
    let folder = path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rows");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| rows(file)).collect()
}

pub(crate) fn rows(file: &path::Path) -> Rows {
    let source = Source::new(file.display().to_string(), fs::read(file).unwrap());
    let value: Value = yaml::load_first(&source, &yaml::Options::OWN).unwrap().unwrap();
    let row = |row: &Value| {
        let [attribute, good, gives, bad, says] = row.as_array().unwrap().as_slice() else {
            panic!("a row has five parts: {row}")
        };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (attribute, says) = (text(attribute), text(says));
        Row { attribute, good: good.clone(), gives: gives.clone(), bad: bad.clone(), says }
    };
    Rows {
        word: file.file_stem().unwrap().to_str().unwrap().to_owned(),
        base: value["base"].clone(),
        same: value["same"].as_object().unwrap().clone(),
        rows: value["rows"].as_array().unwrap().iter().map(row).collect(),
    }
}

/// A block over the whole one, as an overlay would be.
pub(crate) fn merged(base: &Value, over: &Value) -> Value {
    let mut block = base.as_object().unwrap().clone();
    for (name, value) in over.as_object().unwrap() {
        block.insert(name.clone(), value.clone());
    }
    Value::Object(block.into_iter().filter(|(_, value)| !value.is_null()).collect())
}

pub(crate) fn written(word: &str, block: &Value) -> Texts {
    app(&format!("{:#}", json!({"name": "shop", "istio": {word: {"one": block}}})))
}

/// Every good block in one application, and how many they are.
pub(crate) fn together() -> (Texts, usize) {
    let mut kinds = Map::new();
    let mut count = 0;
    for Rows { word, base, rows, .. } in all() {
        count += rows.len();
        let blocks =
            rows.iter().enumerate().map(|(number, row)| (format!("b{number}"), merged(&base, &row.good)));
        kinds.insert(word, blocks.collect());
    }
    (app(&format!("{:#}", json!({"name": "shop", "istio": kinds}))), count)
}
