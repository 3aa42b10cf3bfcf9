//! Our custom resource definitions against those of the installed module, leaf by leaf and in both directions.
//!
//! Upstream's side is walked here along the grammar of a definition, and a description is left out only where that
//! grammar has one; nothing of the generator is used, not even its YAML reader.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "the count of what was compared is what this test is for")]

use std::{collections::BTreeMap, fs};

use mizzen_api::crd::Crd;
use mizzen_testkit::{needs, tools};
use mizzen_text::{Source, yaml};
use serde_json::Value;

/// Every leaf of a definition by its path: types, enums, required, defaults, rules, columns, names, versions, …
type Leaves = BTreeMap<String, String>;

#[test]
fn every_leaf_of_upstreams_definitions_is_in_ours_and_nothing_else() {
    needs!(&["modules/istio-api"]);
    let file =
        tools::folder("modules/istio-api").unwrap().join("kubernetes/customresourcedefinitions.gen.yaml");
    let source = Source::new("upstream", fs::read(file).unwrap());
    let options = yaml::Options::default();
    let upstream: Vec<Value> =
        yaml::load_all(&source, &options).map(|document| document.unwrap().value).collect();
    assert_eq!(upstream.len(), Crd::all().count());

    let mut sums = [0; 3];
    for theirs in &upstream {
        let kind = theirs["spec"]["names"]["kind"].as_str().unwrap();
        let crd = Crd::of(theirs["spec"]["group"].as_str().unwrap(), kind).unwrap();
        let (mut expected, mut ours) = (Leaves::new(), Leaves::new());
        let described = definition(theirs, &mut expected);
        everything("", &crd.object(), &mut ours);
        let equal = expected.iter().filter(|(path, value)| ours.get(*path) == Some(value)).count();
        println!("{kind:<22} {equal:>6} / {:<6} equal, {described} descriptions left out", expected.len());
        for (path, value) in expected.iter().filter(|(path, value)| ours.get(*path) != Some(value)) {
            println!("  {path}: {value} is {:?} in ours", ours.get(path));
        }
        for (path, value) in ours.iter().filter(|(path, _)| !expected.contains_key(*path)) {
            println!("  {path}: {value} is in ours only");
        }
        assert_eq!((equal, expected.len()), (ours.len(), ours.len()), "{kind} differs, see above");
        sums[0] += equal;
        sums[1] += expected.len();
        sums[2] += described;
    }
    println!("{:<22} {:>6} / {:<6} equal, {} descriptions left out", "all kinds", sums[0], sums[1], sums[2]);
    assert!(sums[1] > 7_000 && sums[2] > 2_000, "too little was compared: {sums:?}");
}

/// Returns how many descriptions there were, as do the others.
fn definition(definition: &Value, leaves: &mut Leaves) -> usize {
    let mut described = 0;
    for (key, value) in definition.as_object().unwrap() {
        if key != "spec" {
            everything(&format!(".{key}"), value, leaves);
        }
    }
    for (key, value) in definition["spec"].as_object().unwrap() {
        match (key.as_str(), value) {
            ("versions", Value::Array(versions)) => {
                for (index, version) in versions.iter().enumerate() {
                    described += self::version(&format!(".spec.versions[{index}]"), version, leaves);
                }
            }
            _ => everything(&format!(".spec.{key}"), value, leaves),
        }
    }
    described
}

fn version(path: &str, version: &Value, leaves: &mut Leaves) -> usize {
    let mut described = 0;
    for (key, value) in version.as_object().unwrap() {
        let path = format!("{path}.{key}");
        match key.as_str() {
            "additionalPrinterColumns" => {
                for (index, column) in value.as_array().unwrap().iter().enumerate() {
                    for (key, value) in column.as_object().unwrap() {
                        match key.as_str() {
                            "description" => described += 1,
                            _ => everything(&format!("{path}[{index}].{key}"), value, leaves),
                        }
                    }
                }
            }
            "schema" => {
                assert_eq!(value.as_object().unwrap().len(), 1);
                described += schema(&format!("{path}.openAPIV3Schema"), &value["openAPIV3Schema"], leaves);
            }
            _ => everything(&path, value, leaves),
        }
    }
    described
}

fn schema(path: &str, words: &Value, leaves: &mut Leaves) -> usize {
    let mut described = 0;
    for (word, value) in words.as_object().unwrap() {
        let path = format!("{path}.{word}");
        match (word.as_str(), value) {
            ("description", Value::String(_)) => described += 1,
            ("properties", Value::Object(fields)) => {
                for (name, field) in fields {
                    described += schema(&format!("{path}.{name}"), field, leaves);
                }
            }
            ("items" | "additionalProperties" | "not", Value::Object(_)) => {
                described += schema(&path, value, leaves);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                for (index, part) in parts.iter().enumerate() {
                    described += schema(&format!("{path}[{index}]"), part, leaves);
                }
            }
            _ => everything(&path, value, leaves),
        }
    }
    described
}

fn everything(path: &str, value: &Value, leaves: &mut Leaves) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                everything(&format!("{path}.{key}"), value, leaves);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                everything(&format!("{path}[{index}]"), value, leaves);
            }
        }
        leaf => assert_eq!(leaves.insert(path.to_owned(), leaf.to_string()), None, "{path} comes twice"),
    }
}
