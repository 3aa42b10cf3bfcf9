//! Documents in: what is read, what is refused and where, and that neighbours are left alone.

#![allow(clippy::unwrap_used, reason = "test helpers")]

use mizzen_text::{
    Code, Diagnostic, Path, Severity, Source, Step,
    yaml::{Document, Options, load_all},
};
use serde_json::{Value, json};

type Read = Result<Document, Box<Diagnostic>>;

fn read(text: impl AsRef<[u8]>) -> Vec<Read> {
    load_all(&Source::new("in.yaml", text.as_ref()), &Options::KUBERNETES).collect()
}

fn values(text: impl AsRef<[u8]>) -> Vec<Value> {
    read(text).into_iter().map(|document| document.unwrap().value).collect()
}

/// Code and place of the one document that is refused.
fn refused(text: impl AsRef<[u8]>) -> (Code, String) {
    let refusals: Vec<_> = read(text).into_iter().filter_map(Result::err).collect();
    let [refusal] = refusals.as_slice() else { panic!("{refusals:?}") };
    (refusal.code, refusal.place.as_ref().unwrap().to_string())
}

fn path(steps: &[&str]) -> Path {
    Path(
        steps
            .iter()
            .map(|step| step.parse().map_or_else(|_| Step::Field((*step).to_owned()), Step::Index))
            .collect(),
    )
}

#[test]
fn words_in_keys_and_values_are_resolved_as_kubectl_does() {
    let text = "on: yes\n0644: 0644\n1.50: 1.0\n~x: '0644'\nt: 2026-01-02\nb: !!binary aGk=\nu: !own 5\n";
    let value = json!({
        "true": true, "420": 420, "1.5": 1, "~x": "0644", "t": "2026-01-02", "b": "hi", "u": "5"
    });
    assert_eq!(values(text), [value]);
}

#[test]
fn aliases_are_followed_and_merged() {
    let text = "a: &a {x: 1, z: 2}\nb: *a\nc:\n  x: 0\n  <<: [{x: 5}, *a]\n  z: 3\n";
    let value = json!({"a": {"x": 1, "z": 2}, "b": {"x": 1, "z": 2}, "c": {"x": 5, "z": 3}});
    assert_eq!(values(text), [value]);
}

#[test]
fn empty_documents_are_passed_by() {
    assert_eq!(values("\n---\n# only this\n---\n---\nnull\n---\na: 1\n"), [json!({"a": 1})]);
    assert!(values("").is_empty());
}

#[test]
fn a_mark_at_the_start_and_windows_line_ends_do_not_matter() {
    assert_eq!(
        values("\u{feff}a: |\r\n  x\r\n  y\r\n---\r\nb: 1\r\n"),
        [json!({"a": "x\ny\n"}), json!({"b": 1})]
    );
}

#[test]
fn a_broken_document_leaves_its_neighbours_alone() {
    let read = read("a: 1\n---\nb: [1, 2\n---\nc: 3\n");
    assert_eq!(read.len(), 3);
    assert_eq!(read[0].as_ref().unwrap().value, json!({"a": 1}));
    assert_eq!(read[1].as_ref().unwrap_err().code, Code::Syntax);
    assert_eq!(read[2].as_ref().unwrap().value, json!({"c": 3}));
}

#[test]
fn a_place_is_counted_from_the_top_of_the_file() {
    let document = read("x: 1\n---\nspec:\n  hosts:\n  - a\n  - \"bé\": c\n").pop().unwrap().unwrap();
    for (steps, value, key) in [
        (vec![], "in.yaml:3:1", "in.yaml:3:1"),
        (vec!["spec"], "in.yaml:4:3", "in.yaml:3:1"),
        (vec!["spec", "hosts"], "in.yaml:5:3", "in.yaml:4:3"),
        (vec!["spec", "hosts", "1", "bé"], "in.yaml:6:11", "in.yaml:6:5"),
        (vec!["spec", "hosts", "7"], "in.yaml:5:3", "in.yaml:4:3"),
        (vec!["spec", "http", "0"], "in.yaml:4:3", "in.yaml:3:1"),
    ] {
        let path = path(&steps);
        assert_eq!(document.place(&path).to_string(), value, "{path}");
        assert_eq!(document.key_place(&path).to_string(), key, "the key of {path}");
    }
}

#[test]
fn a_value_that_came_by_alias_or_merge_is_where_it_was_written() {
    let document = read("a: &a\n  x: 1\nb: *a\nc:\n  <<: *a\n").pop().unwrap().unwrap();
    assert_eq!(document.place(&path(&["b"])).to_string(), "in.yaml:3:4");
    assert_eq!(document.place(&path(&["b", "x"])).to_string(), "in.yaml:2:6");
    assert_eq!(document.place(&path(&["c", "x"])).to_string(), "in.yaml:2:6");
}

#[test]
fn a_duplicate_key_is_a_warning_in_kubernetes_objects() {
    let document = read("a: 1\nb: {x: 1, x: 2}\na: 3\n").pop().unwrap().unwrap();
    assert_eq!(document.value, json!({"a": 3, "b": {"x": 2}}));
    let told: Vec<_> = document
        .warnings
        .iter()
        .map(|warning| {
            let first = &warning.related[0].place;
            (
                warning.code,
                warning.severity,
                warning.path.to_string(),
                warning.place.clone().unwrap().to_string(),
                first.to_string(),
            )
        })
        .collect();
    let told: Vec<_> = told.iter().map(|t| (t.0, t.1, t.2.as_str(), t.3.as_str(), t.4.as_str())).collect();
    assert_eq!(
        told,
        [
            (Code::DuplicateKey, Severity::Warning, "b.x", "in.yaml:2:11", "in.yaml:2:5"),
            (Code::DuplicateKey, Severity::Warning, "a", "in.yaml:3:1", "in.yaml:1:1"),
        ]
    );
}

#[test]
fn a_duplicate_key_is_an_error_in_our_own_formats() {
    let read: Vec<_> = load_all(&Source::new("app", "a: 1\non: 1\n'on': 2\n"), &Options::OWN).collect();
    let error = read[0].as_ref().unwrap_err();
    assert_eq!((error.code, error.severity), (Code::DuplicateKey, Severity::Error));
    assert_eq!(error.place.as_ref().unwrap().to_string(), "app:3:1");
}

#[test]
fn a_key_of_our_own_formats_is_its_text() {
    let text = "on: 1\n'true': 2\n1.10: 3\n080: 4\n";
    let document = load_all(&Source::new("app", text), &Options::OWN).next().unwrap().unwrap();
    assert_eq!(document.value, json!({ "on": 1, "true": 2, "1.10": 3, "080": 4 }));
}

#[test]
fn overriding_what_was_merged_is_no_duplicate() {
    let document = read("a: &a {x: 1}\nb: {<<: *a, x: 2}\n").pop().unwrap().unwrap();
    assert!(document.warnings.is_empty(), "{:?}", document.warnings);
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (text, code, place) in [
        ("a: 1\nb: .inf\n", Code::NotJson, "in.yaml:2:4"),
        ("a: {~: 1}\n", Code::NotJson, "in.yaml:1:5"),
        ("? [a]\n: 1\n", Code::NotJson, "in.yaml:1:3"),
        ("a: *b\n", Code::Alias, "in.yaml:1:4"),
        ("a: &a\n- *a\n", Code::Alias, "in.yaml:2:3"),
        ("a:\n  <<: 5\n", Code::Merge, "in.yaml:2:7"),
        ("a: !!int x\n", Code::Tag, "in.yaml:1:10"),
        ("a: !!binary '***'\n", Code::Tag, "in.yaml:1:13"),
        ("a: 1\n--- b: 2\n", Code::Separator, "in.yaml:2:5"),
    ] {
        assert_eq!(refused(text), (code, place.to_owned()), "{text}");
    }
}
