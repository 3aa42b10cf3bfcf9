//! The whole verdict, CRD and webhook together, on the documents that Istio's own tests, samples and benchmarks have:
//! the same as Istio's, and where a document names the error that it expects, ours names that field.
#![allow(clippy::unwrap_used, reason = "a test may end at a surprise")]
#![allow(clippy::print_stdout, reason = "the counts of what was compared are what this test is for")]

#[path = "real_crd_verdicts/documents.rs"]
#[allow(dead_code, reason = "the other test uses the rest")]
mod documents;

use mizzen_check::{Finding, Findings, Outcome};
use mizzen_testkit::{
    Oracle, needs,
    oracle::{Verdict, data},
    tools,
};
use serde_json::Value;
use std::path::Path;

fn ours(document: &Value) -> Findings {
    match mizzen_check::document(document, "default").remove(0).outcome {
        Outcome::Findings(findings) => findings,
        Outcome::PassedBy(reason) => panic!("passed by, {reason}: {document}"),
    }
}

/// What Istio would say of an object that is sent to a cluster by kubectl.
fn accepted(verdict: &Verdict) -> bool {
    let crd = verdict.crd.as_ref().expect("an Istio object has its CRD");
    verdict.accepted && crd.accepted && crd.unknown.is_empty()
}

/// Compares every document below a folder; how many there are, and how many of them are refused.
fn compare(set: &str, folder: &Path) -> (usize, usize) {
    let documents = documents::of_folder(folder);
    let objects: Vec<Value> = documents.iter().map(|document| document.object.clone()).collect();
    let verdicts = Oracle::shared().verdicts(&objects).unwrap();
    let (mut equal, mut refused, mut wrong) = (0, 0, Vec::new());
    for (document, verdict) in documents.iter().zip(&verdicts) {
        let found = ours(&document.object);
        refused += usize::from(!found.accepted());
        if found.accepted() == accepted(verdict) {
            equal += 1;
        } else {
            wrong.push(format!("{}: Istio says {verdict:?}, we say {found:?}", document.name));
        }
    }
    println!("{set}: {equal} / {} verdicts equal, {refused} refused", documents.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    (documents.len(), refused)
}

#[test]
fn the_verdict_is_istio_s_on_what_it_tests_its_crds_with() {
    needs!(Oracle::NEEDS);
    let folder = tools::folder("modules/istio/pkg/config/validation/testdata/crds").unwrap();
    let (total, _) = compare("testdata/crds", &folder);
    assert_eq!(total, 111);
}

#[test]
fn all_of_the_dataset_is_accepted() {
    needs!(Oracle::NEEDS);
    let folder = tools::folder("modules/istio/pkg/test/datasets/validation/dataset").unwrap();
    assert_eq!(compare("dataset", &folder), (33, 0));
}

#[test]
fn the_verdict_is_istio_s_on_its_samples_and_benchmarks() {
    needs!(Oracle::NEEDS, data::NEEDS);
    let (total, _) = compare("samples", &tools::folder("modules/istio/samples").unwrap());
    assert_eq!(total, 67);
    let (total, _) = compare("benchmarks", &tools::folder("data/istio-oracle/benchmarks").unwrap());
    assert!(total > 1_000, "{total}");
}

#[test]
fn where_a_document_says_which_error_it_expects_ours_names_the_field() {
    needs!(Oracle::NEEDS);
    let folder = tools::folder("modules/istio/pkg/config/validation/testdata/crds").unwrap();
    let (mut named, mut expecting, mut wrong) = (0, 0, Vec::new());
    for document in documents::of_folder(&folder) {
        let Some(expected) = &document.expected else { continue };
        expecting += 1;
        let verdict = Oracle::shared().verdicts(std::slice::from_ref(&document.object)).unwrap().remove(0);
        let crd = verdict.crd.unwrap_or_default();
        // The expectation names the field, or the server does with the same words.
        let told = crd.errors.iter().filter(|error| error.contains(expected)).chain([expected]);
        let theirs: Vec<String> = told.filter_map(|error| field(error)).collect();
        let found = ours(&document.object);
        let same = |finding: &Finding| theirs.contains(&finding.path.to_string());
        if found.errors().any(same) {
            named += 1;
        } else {
            wrong.push(format!("{}: {expected:?} is at {theirs:?}, we say {found:?}", document.name));
        }
    }
    println!("expected errors: {named} / {expecting} fields named");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(expecting >= 70, "{expecting}");
}

/// The field in front of what an API server says: `spec.a[0].b: Required value`, `spec.a in body must be …`. A map's key
/// is in brackets there.
fn field(error: &str) -> Option<String> {
    let end = error.find([':', ' ']).unwrap_or(error.len());
    let mut field = error.get(..end).filter(|field| field.starts_with("spec"))?.to_owned();
    while let Some((start, end)) = key(&field) {
        field = format!("{}.{}{}", &field[..start], &field[start + 1..end], &field[end + 1..]);
    }
    Some(field)
}

fn key(field: &str) -> Option<(usize, usize)> {
    let keys =
        field.match_indices('[').filter_map(|(start, _)| Some((start, start + field[start..].find(']')?)));
    keys.into_iter().find(|(start, end)| field[start + 1..*end].parse::<usize>().is_err())
}
