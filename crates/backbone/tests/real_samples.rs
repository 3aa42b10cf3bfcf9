//! JSON Schema takes every object of Istio's own samples that its definitions take.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the count of objects is what this test is for")]

mod common;
#[path = "common/samples.rs"]
mod samples;

use common::{fits::fits, istio, models};
use mizzen_backbone::Language;
use mizzen_check::schema::{Unknown, check};
use mizzen_testkit::needs;
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn what_the_definitions_take_is_taken() {
    needs!(&["modules/istio"]);
    let files = models(&istio(), Language::JsonSchema).into_iter();
    let schemas: BTreeMap<String, Value> =
        files.map(|file| (file.path, serde_json::from_str(&file.text).unwrap())).collect();
    let mut taken = 0;
    for samples::Sample { file, object, group, version, kind } in samples::all() {
        let schema = &schemas[&format!("{group}/{}_{version}.json", kind.to_lowercase())];
        if check(&object, Unknown::Refuse).unwrap().accepted() {
            assert!(fits(schema, &object), "{file}: {object}");
            taken += 1;
        }
    }
    println!("{taken} objects of Istio's samples are taken");
    assert!(taken > 50);
}
