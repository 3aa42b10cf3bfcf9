//! JSON as Istio's own code reads and writes it: the same specs through both.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod common;

use common::{
    generate::{self, Random},
    misspell, paths,
};
use mizzen_api::{Kind, Object};
use mizzen_testkit::{Oracle, needs};
use serde_json::{Value, json};

/// Each field path of each kind once, as Istio would write it and in five other spellings.
fn objects() -> Vec<Value> {
    let mut objects = Vec::new();
    for kind in Kind::ALL {
        let message = kind.descriptor().unwrap();
        for (number, path) in paths::all(&message).iter().enumerate() {
            let mut random = Random::new(number as u64 + 1_000_000);
            let spec = generate::spec(&message, path, &mut random, &mut Vec::new());
            let odd = (0..5).map(|_| misspell::spec(&message, &spec, &mut random)).collect::<Vec<_>>();
            objects.extend([spec].into_iter().chain(odd).map(|spec| {
                let api_version = format!("{}/{}", kind.group(), kind.versions()[0]);
                json!({"apiVersion": api_version, "kind": kind.name(), "metadata": {"name": "a"}, "spec": spec})
            }));
        }
    }
    objects
}

#[test]
fn specs_are_read_and_written_as_istio_does() {
    needs!(Oracle::NEEDS);
    let objects = objects();
    let theirs = Oracle::shared().encode(&objects).unwrap();
    let (mut equal, mut refused, mut wrong) = (0, 0, Vec::new());
    for (object, theirs) in objects.iter().zip(&theirs) {
        let ours = Object::read(object).map(|object| object.to_json().unwrap()["spec"].clone());
        let unknown = mizzen_api::unknown_fields(object).is_empty();
        let strict = theirs.strict.as_ref().is_some_and(|strict| strict.contains("unknown field"));
        match (&ours, &theirs.spec) {
            (Ok(ours), Some(theirs)) if ours == theirs && unknown != strict => equal += 1,
            (Err(_), None) => refused += 1,
            _ => wrong.push(format!("{object}\n  Istio: {theirs:?}\n  we:    {ours:?}")),
        }
    }
    println!("{equal} / {} specs equal, {refused} refused by both", objects.len());
    for line in wrong.iter().take(20) {
        println!("{line}");
    }
    assert!(wrong.is_empty(), "{} differ, see above", wrong.len());
    assert!(refused > 50 && equal > 4_000, "{refused} {equal}");
}
