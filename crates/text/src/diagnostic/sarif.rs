//! Diagnostics as SARIF 2.1.0, which code hosts show beside the changed lines.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Code, Diagnostic};
use crate::{Place, Severity};

/// The log of one run. The rules are those that were broken.
pub fn to_sarif<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>) -> Value {
    let diagnostics: Vec<_> = diagnostics.into_iter().collect();
    let codes: BTreeSet<Code> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    let codes: Vec<Code> = codes.into_iter().collect();
    let results: Vec<_> = diagnostics.iter().map(|diagnostic| result(diagnostic, &codes)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "mizzen",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().copied().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.id(),
        "name": code.name(),
        "shortDescription": {"text": code.summary()},
        "defaultConfiguration": {"level": level(code.severity())},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(diagnostic: &Diagnostic, codes: &[Code]) -> Value {
    let text = match &diagnostic.hint {
        Some(hint) => format!("{}\n{hint}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let mut result = json!({
        "ruleId": diagnostic.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == diagnostic.code),
        "level": level(diagnostic.severity),
        "message": {"text": text},
    });
    let mut location = Map::new();
    if let Some(place) = &diagnostic.place {
        location.insert("physicalLocation".to_owned(), physical(place));
    }
    if let Some(logical) = logical(diagnostic) {
        location.insert("logicalLocations".to_owned(), json!([logical]));
    }
    if !location.is_empty() {
        result["locations"] = json!([location]);
    }
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter().zip(1..);
        let related = related.map(|(one, id)| {
            json!({"id": id, "message": {"text": one.message}, "physicalLocation": physical(&one.place)})
        });
        result["relatedLocations"] = related.collect();
    }
    result
}

fn logical(diagnostic: &Diagnostic) -> Option<Value> {
    let path = diagnostic.path.to_string();
    let name = match (&diagnostic.object, path.as_str()) {
        (None, "") => return None,
        (None, path) => path.to_owned(),
        (Some(object), "") => object.to_string(),
        (Some(object), path) => format!("{object} {path}"),
    };
    let kind = if path.is_empty() { "object" } else { "property" };
    Some(json!({"fullyQualifiedName": name, "kind": kind}))
}

fn physical(place: &Place) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(place.source.name())}});
    if let Some(span) = &place.span {
        let (start_line, start_column) = utf16(place, span.start);
        let (end_line, end_column) = utf16(place, span.end.max(span.start));
        physical["region"] = json!({
            "startLine": start_line,
            "startColumn": start_column,
            "endLine": end_line,
            "endColumn": end_column,
            "byteOffset": span.start,
            "byteLength": span.end.saturating_sub(span.start),
        });
    }
    physical
}

/// Line and column of a byte, both from 1; the column counts UTF-16 code units.
fn utf16(place: &Place, offset: usize) -> (usize, usize) {
    let source = &place.source;
    let offset = offset.min(source.bytes().len());
    let line = source.line_of(offset);
    let before = &source.bytes()[source.line_start(line).min(offset)..offset];
    // One unit for each first byte of a character, and another for those of four bytes.
    let units = before
        .iter()
        .map(|byte| usize::from(byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0))
        .sum::<usize>();
    (line + 1, units + 1)
}

/// A path as a reference: relative ones stay relative, so that the log fits wherever the folder is.
fn uri(name: &str) -> String {
    let mut uri = if name.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in name.strip_prefix("./").unwrap_or(name).bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn a_path_is_a_reference() {
        for (name, reference) in [
            ("a/b.yaml", "a/b.yaml"),
            ("./a b.yaml", "a%20b.yaml"),
            ("/tmp/ä.yaml", "file:///tmp/%C3%A4.yaml"),
            ("c:d", "c%3Ad"),
            ("-", "-"),
        ] {
            assert_eq!(uri(name), reference);
        }
    }

    #[test]
    fn columns_are_utf_16() {
        let place = Place::whole(&Source::new("f", "a\né😀x"));
        assert_eq!(utf16(&place, 2), (2, 1));
        assert_eq!(utf16(&place, 4), (2, 2));
        assert_eq!(utf16(&place, 8), (2, 4));
        assert_eq!(utf16(&place, 9), (2, 5));
    }
}
