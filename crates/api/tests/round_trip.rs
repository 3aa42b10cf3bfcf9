//! No field of any kind is lost between JSON and the typed object.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod common;

use common::{
    generate::{self, Random},
    paths,
};
use mizzen_api::{Kind, Object};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const OBJECTS: usize = 10_000;

fn object(kind: Kind, version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("{}/{version}", kind.group()),
        "kind": kind.name(),
        "metadata": {"name": "a", "namespace": "b"},
        "spec": spec,
    })
}

/// The more paths a kind has, the more objects it gets; every kind has some.
fn shares() -> Vec<(Kind, Vec<paths::FieldPath>, usize)> {
    let kinds: Vec<_> =
        Kind::ALL.iter().map(|kind| (*kind, paths::all(&kind.descriptor().unwrap()))).collect();
    let total: usize = kinds.iter().map(|(_, paths)| paths.len()).sum();
    assert!(total < OBJECTS, "{total} paths are more than {OBJECTS} objects can reach");
    kinds
        .into_iter()
        .map(|(kind, paths)| {
            let share = OBJECTS * paths.len() / total;
            (kind, paths, share)
        })
        .collect()
}

#[test]
fn generated_objects_of_every_kind_and_field_come_back_as_they_were() {
    let (mut made, mut reached, mut total) = (0, 0, 0);
    for (kind, paths, share) in shares() {
        let message = kind.descriptor().unwrap();
        let mut seen = Vec::new();
        for (round, path) in paths.iter().cycle().take(share).enumerate() {
            let mut random = Random::new(round as u64);
            let spec = generate::spec(&message, path, &mut random, &mut seen);
            let versions = kind.versions();
            let document = object(kind, versions[round % versions.len()], &spec);
            let object = Object::read(&document).unwrap_or_else(|error| panic!("{error} in {document:#}"));
            assert_eq!(object.to_json().unwrap(), document, "{}", paths::name(path));
            assert_eq!(mizzen_api::unknown_fields(&document), []);
        }
        let names: BTreeSet<_> = paths.iter().map(paths::name).collect();
        let seen = BTreeSet::from_iter(seen);
        let missed: Vec<_> = names.difference(&seen).collect();
        assert!(missed.is_empty(), "{} was never seen with {missed:?}", kind.name());
        println!("{}: {} / {} field paths in {share} objects", kind.name(), seen.len(), names.len());
        made += share;
        reached += seen.intersection(&names).count();
        total += names.len();
    }
    println!("reached {reached} / {total} field paths in {made} objects");
}
