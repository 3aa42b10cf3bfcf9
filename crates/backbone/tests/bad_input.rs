//! What is wrong with definitions is told at its place, all of it, and neighbours are read.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

mod common;

use mizzen_backbone::read;
use mizzen_text::Source;

fn said(text: &str) -> (Vec<String>, Vec<String>) {
    let mut diagnostics = Vec::new();
    let definitions = read(&Source::new("crds.yaml", text), &mut diagnostics);
    let told = diagnostics.iter().map(|diagnostic| {
        let place = diagnostic.place.as_ref().unwrap();
        format!("{} {place}: {}", diagnostic.severity.name(), diagnostic.message)
    });
    (definitions.iter().map(|definition| definition.kind.clone()).collect(), told.collect())
}

const GOOD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: { kind: Good }
  versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }]
";

#[test]
fn a_broken_document_leaves_its_neighbours_alone() {
    let (kinds, told) = said(&format!("a: [\n---\n{GOOD}---\nkind: Pod\napiVersion: v1\n---\n- 1\n"));
    assert_eq!(kinds, ["Good"]);
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].starts_with("error crds.yaml:1:"), "{told:#?}");
    assert!(told[1].starts_with("warning crds.yaml:10:1: this is a Pod"), "{told:#?}");
    assert!(told[2].starts_with("warning crds.yaml:13:1: this is no object"), "{told:#?}");
}

#[test]
fn everything_wrong_in_one_definition_is_told_at_its_line() {
    let bad = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: ../etc
  names: {}
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: objct
          required: name
          properties:
            a: { type: string, maxLength: -1, minimum: x }
            b: text
            c: { $ref: '#/d' }
            d: { oneOf: { type: string }, x-kubernetes-validations: [{ message: no }] }
    - name: v2
";
    let (kinds, told) = said(bad);
    assert!(kinds.is_empty());
    let lines: Vec<&str> = told.iter().map(|line| line.split(':').nth(1).unwrap()).collect();
    assert_eq!(lines, ["4", "5", "10", "13", "13", "14", "15", "16", "16", "11", "17"], "{told:#?}");
}

#[test]
fn older_forms_are_read() {
    let old = "\
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
spec:
  group: example.com
  version: v1
  names: { kind: Old }
  validation: { openAPIV3Schema: { properties: { spec: { type: object } } } }
";
    let (kinds, told) = said(old);
    assert_eq!((kinds, told), (vec!["Old".to_owned()], vec![]));
    let (kinds, told) = said(&old.replace("v1beta1", "v1"));
    assert!(kinds.is_empty() && told[0].contains("must be a list of versions"), "{told:#?}");
    let (_, told) = said(&GOOD.replace("k8s.io/v1", "k8s.io/v2"));
    assert!(told[0].contains("must be apiextensions.k8s.io/v1 or"), "{told:#?}");
    let (kinds, told) = said(&GOOD.replace("schema", "scheme"));
    assert!(kinds.is_empty());
    assert!(told.iter().any(|line| line.contains("no schema in any version")), "{told:#?}");
}
