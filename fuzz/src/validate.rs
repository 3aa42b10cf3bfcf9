//! From text over objects to a verdict.

use mizzen_api::Object;
use mizzen_check::Outcome;
use mizzen_text::{
    Diagnostic, Source,
    yaml::{self, Options},
};
use serde_json::Value;

pub fn validate(bytes: &[u8]) {
    let source = Source::new("fuzz.yaml", bytes);
    let mut told = Vec::new();
    for document in yaml::load_all(&source, &Options::KUBERNETES) {
        let mut document = match document {
            Ok(document) => document,
            Err(diagnostic) => {
                told.push(*diagnostic);
                continue;
            }
        };
        told.append(&mut document.warnings);
        printed_and_read_back(&document.value);
        for checked in mizzen_check::document(&document.value, "default") {
            let Outcome::Findings(findings) = checked.outcome else { continue };
            for finding in findings.iter() {
                let place = document.place(&finding.path);
                assert!(place.span.as_ref().is_some_and(|span| span.end <= bytes.len()), "{finding:?}");
                told.push(
                    Diagnostic::new(finding.code, &finding.message).at(place).path(finding.path.clone()),
                );
            }
        }
        typed_and_back(&document.value);
    }
    for diagnostic in &told {
        drop(diagnostic.for_people(false));
    }
}

/// What is printed is read as the same.
fn printed_and_read_back(value: &Value) {
    let text = yaml::to_string(value);
    let source = Source::new("printed.yaml", text.as_bytes());
    let mut documents = yaml::load_all(&source, &Options::KUBERNETES);
    match documents.next() {
        Some(Ok(again)) => assert!(same(&again.value, value), "{:?} is not {value:?}: {text}", again.value),
        // Aliases are written out, so what was short may now be too much.
        Some(Err(_)) => {}
        None => assert!(value.is_null(), "{text}"),
    }
}

/// Go prints a large float with all of its digits, which is then read as a whole number: the same, in another type.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() != other.is_f64() => {
            one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| one.0 == other.0 && same(one.1, other.1))
        }
        (one, other) => one == other,
    }
}

/// An object that was read and written is read and written the same.
fn typed_and_back(value: &Value) {
    let Ok(object) = Object::read(value) else { return };
    let Ok(json) = object.to_json() else { return };
    let again = Object::read(&json).expect("what was written can be read");
    assert_eq!(again.to_json().ok().as_ref(), Some(&json));
}
