//! Every attribute that the reference asks for is there and has its row: the list is read from the reference itself, so that nothing
//! can be forgotten on both sides.

#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the list of rows is what is asked for")]

mod common;

use common::{
    reference::{ALL_KINDS, Asked, asked},
    rows::{Rows, all},
};
use mizzen_testkit::compared_with;
use std::{collections::BTreeMap, fs};

/// `AuthorizationPolicy` stands under `authorizationPolicies`, and `Gateway` under `gateways`.
fn word(kind: &str) -> String {
    let word = format!("{}{}", kind[..1].to_lowercase(), &kind[1..]);
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with('a') => format!("{stem}ies"),
        _ => format!("{word}s"),
    }
}

/// Whether a row is about these names, in this order, the last one last.
fn is_about(row: &str, names: &[String]) -> bool {
    let mut steps = row.split('.').map(|step| step.trim_end_matches("[]")).filter(|step| *step != "*");
    let last = row.rsplit('.').next().map(|step| step.trim_end_matches("[]"));
    last == names.last().map(String::as_str) && names.iter().all(|name| steps.any(|step| step == name))
}

#[test]
fn every_attribute_of_the_reference_has_its_row() {
    let place = compared_with!("../reference/app-model.md");
    let asked = asked(&fs::read_to_string(place).unwrap());
    let rows: BTreeMap<String, Vec<String>> = all()
        .into_iter()
        .map(|Rows { word, rows, .. }| (word, rows.into_iter().map(|row| row.attribute).collect()))
        .collect();
    let (mut missing, mut counts) = (Vec::new(), BTreeMap::<String, usize>::new());
    for Asked { kind, names } in &asked {
        let found = if kind == ALL_KINDS {
            rows.values().flatten().find(|row| is_about(row, names))
        } else {
            rows.get(&word(kind))
                .unwrap_or_else(|| panic!("no rows for {kind}"))
                .iter()
                .find(|row| is_about(row, names))
        };
        let told = format!("{} {}", if kind == ALL_KINDS { "all kinds" } else { kind }, names.join("."));
        match found {
            Some(row) => println!("{told}: {row}"),
            None => missing.push(told),
        }
        *counts.entry(kind.clone()).or_default() += 1;
    }
    println!("{} attributes of the reference, {} without a row; {counts:?}", asked.len(), missing.len());
    assert!(missing.is_empty(), "{missing:#?}");
    // Each kind's section, and that of all, has said something.
    assert_eq!(counts.len(), rows.len() + 1, "{counts:?}");
    assert!(asked.len() > 200, "{} were read", asked.len());
}
