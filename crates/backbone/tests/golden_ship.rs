//! One definition in every language, as reviewed; and the Rust that is written compiles and works.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

mod common;

#[rustfmt::skip]
#[allow(dead_code, unreachable_pub, reason = "it is written for crates that publish it")]
#[path = "golden/rust/mod.rs"]
mod models;

use common::definitions;
use mizzen_backbone::{
    Language, files,
    kcl::{Names, Style},
};
use serde_json::json;
use std::{fs, path::Path};

fn golden(folder: &str, language: Language) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let definitions = definitions("ship.yaml", fs::read(top.join("ship.yaml")).unwrap());
    for file in files(&definitions, language, "models") {
        // The same in every package, and looked at with kcl-openapi's cases.
        if file.path.starts_with("k8s/") {
            continue;
        }
        let path = top.join(folder).join(&file.path);
        if std::env::var_os("MIZZEN_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &file.text).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(file.text, expected, "{} is not as reviewed", path.display());
    }
}

#[test]
fn kcl_is_as_reviewed() {
    golden("kcl", Language::Kcl(Style::default()));
    golden("kcl-exact", Language::Kcl(Style { exact: true, names: Names::Long }));
    golden("kcl-short", Language::Kcl(Style { exact: false, names: Names::Short }));
}

#[test]
fn json_schema_is_as_reviewed() {
    golden("json-schema", Language::JsonSchema);
}

#[test]
fn rust_is_as_reviewed() {
    golden("rust", Language::Rust);
}

#[test]
fn what_is_read_by_the_rust_is_written_again() {
    use models::harbour_example_com_v1_ship::{API_VERSION, KIND, Ship, ShipSpecType};
    let written = json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "a", "labels": {"b": "c"}},
        "spec": {
            "name": "Brig",
            "type": "full-rigged",
            "masts": 2,
            "engine": {"power": "12kW", "maker": {"name": "x"}},
            "crew": {"anne": {"rank": "COOK", "self": true}},
            "log": [["a"], []],
            "any": [1, null],
            "jwksUri": "one",
            "jwks_uri": "two",
            "every-day": "1h",
            "topSail": {"area": 3},
            "top_sail": {"torn": true},
        },
    });
    let ship: Ship = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(ship.spec.r#type, ShipSpecType::FullRigged);
    assert_eq!(ship.spec.engine.as_ref().unwrap().more["maker"]["name"], "x");
    assert_eq!(serde_json::to_value(&ship).unwrap(), written);
    assert!(
        serde_json::from_value::<Ship>(json!({"apiVersion": API_VERSION, "kind": KIND, "metadata": {}}))
            .is_err()
    );
}
