//! What tests of validators say: this object is accepted, refused there, warned of there.

use crate::validate;
use mizzen_api::Object;
use mizzen_text::Severity;
use serde_json::Value;

fn paths(document: &Value, severity: Severity) -> Vec<String> {
    let object = Object::read(document).unwrap_or_else(|error| panic!("{error}: {document}"));
    let found = validate(&object);
    found.iter().filter(|one| one.severity == severity).map(|one| one.path.to_string()).collect()
}

pub(crate) fn accepted(document: &Value) {
    refused_at(document, &[]);
}

/// Exactly these fields are wrong, in the order of the walk.
pub(crate) fn refused_at(document: &Value, expected: &[&str]) {
    assert_eq!(paths(document, Severity::Error), expected, "{document}");
}

/// Accepted, and exactly these fields are warned of.
pub(crate) fn warned_at(document: &Value, expected: &[&str]) {
    accepted(document);
    assert_eq!(paths(document, Severity::Warning), expected, "{document}");
}
