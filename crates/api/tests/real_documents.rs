//! Objects that Istio's own tests and users write come back from the typed form as they were.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod common;

use common::{documents, plain};
use mizzen_api::{Object, unknown_fields};
use mizzen_testkit::{needs, oracle::data};
use serde_json::json;

/// Reads and writes every object below a folder; what cannot be read is named and returned.
fn round_trip(folder: &str) -> (usize, Vec<String>) {
    let (mut equal, mut unread) = (0, Vec::new());
    for documents::Found { file, object: mut document } in documents::below(folder) {
        // What Istio's test expects of it, beside the object.
        document.as_object_mut().unwrap().remove("_err");
        let name = format!("{file}: {}", document["metadata"]["name"]);
        let object = match Object::read(&document) {
            Ok(object) => object,
            Err(error) => {
                unread.push(format!("{name}: {error}"));
                continue;
            }
        };
        let message = object.kind().descriptor().unwrap();
        let mut expected =
            plain::spec(&message, document.get("spec").filter(|spec| !spec.is_null()).unwrap_or(&json!({})));
        // A field that is not Istio's cannot be in the typed form; the raw document keeps it.
        for path in unknown_fields(&document) {
            println!("unknown: {name}: {path}");
            forget(&mut expected, &path);
        }
        assert_eq!(object.to_json().unwrap()["spec"], expected, "{name}");
        equal += 1;
    }
    println!("{folder}: {equal} equal, {} cannot be read", unread.len());
    for line in &unread {
        println!("  {line}");
    }
    (equal, unread)
}

fn forget(spec: &mut serde_json::Value, path: &mizzen_text::Path) {
    use mizzen_text::Step;
    let [Step::Field(top), way @ .., Step::Field(last)] = &*path.0 else { return };
    if top != "spec" {
        return;
    }
    let mut here = Some(spec);
    for step in way {
        here = here.and_then(|value| match step {
            Step::Field(name) => value.get_mut(name),
            Step::Index(index) => value.get_mut(index),
        });
    }
    if let Some(fields) = here.and_then(|value| value.as_object_mut()) {
        fields.remove(last);
    }
}

#[test]
fn nothing_is_lost_of_what_istio_s_tests_samples_and_benchmarks_have() {
    needs!(&["modules/istio"], data::NEEDS);
    let (equal, unread) = round_trip("modules/istio/pkg/test/datasets/validation/dataset");
    assert_eq!((equal, unread.len()), (33, 0));
    let (equal, unread) = round_trip("modules/istio/samples");
    assert_eq!((equal, unread.len()), (67, 0));
    let (equal, unread) = round_trip("data/istio-oracle/benchmarks");
    assert!(equal > 8_000 && unread.is_empty(), "{equal} {unread:?}");
    // Some of these are there to be refused, a few of them while they are read.
    let (equal, unread) = round_trip("modules/istio/pkg/config/validation/testdata/crds");
    assert_eq!(equal + unread.len(), 111);
    assert!(unread.iter().all(|line| line.contains("-invalid.yaml")), "{unread:?}");
}
