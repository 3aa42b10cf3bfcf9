//! IstioOperators beside istioctl's own validation: documents by hand, those of the module, the rows of upstream's tests, and
//! every field of the schema with every sort of value.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

#[path = "real_validation/documents.rs"]
mod documents;
#[path = "real_validation/sweep.rs"]
mod sweep;

use mizzen_install::validation::{self, Findings};
use mizzen_testkit::{
    Oracle, needs,
    oracle::{data, render::Opinion},
};
use mizzen_text::Step;
use serde_json::{Value, json};

/// Both opinions of each document.
fn both(operators: &[Value]) -> Vec<(Findings, Opinion)> {
    let questions: Vec<Value> = operators.iter().map(|iop| json!({ "iop": iop })).collect();
    let theirs = Oracle::shared().operator(&questions).unwrap();
    operators.iter().map(validation::check).zip(theirs).collect()
}

fn same_verdict(ours: &Findings, theirs: &Opinion) -> bool {
    theirs.panic.is_none() && ours.accepted() == theirs.errors.is_empty()
}

/// Whether the original's words name a field, and ours has the same one on its path. Its decoders end at the first error
/// and take fields in no order, so any of ours will do.
fn names_the_same(ours: &Findings, theirs: &Opinion) -> Option<bool> {
    let message = theirs.errors.first()?;
    let quoted =
        |before: &str| message.split_once(before)?.1.split_once('"').map(|(name, _)| name.to_owned());
    let name = quoted("unknown field \"").or_else(|| {
        let path = message.split_once("Go struct field ")?.1.split_once(" of type")?.0;
        path.rsplit('.').next().map(str::to_owned)
    })?;
    Some(ours.errors.iter().any(|finding| {
        finding.path.0.iter().any(|step| matches!(step, Step::Field(field) if *field == name))
    }))
}

#[test]
fn documents_are_judged_as_istioctl_does_and_errors_name_the_field() {
    needs!(Oracle::NEEDS);
    let rows = documents::table();
    let documents: Vec<Value> = rows.iter().map(|row| row.document.clone()).collect();
    let (mut equal, mut refused, mut named) = (0, 0, 0);
    for (row, (ours, theirs)) in rows.iter().zip(both(&documents)) {
        let same = same_verdict(&ours, &theirs) && ours.accepted() == row.refused_at.is_none();
        let paths: Vec<String> = ours.errors.iter().map(|finding| finding.path.to_string()).collect();
        let at_field = row.refused_at.as_ref().is_none_or(|path| paths.contains(path));
        if !same || !at_field {
            println!(
                "{}\n  expected {:?}\n  ours     {paths:?}\n  theirs   {theirs:?}",
                row.document, row.refused_at
            );
        }
        equal += usize::from(same && at_field);
        refused += usize::from(row.refused_at.is_some());
        named += usize::from(names_the_same(&ours, &theirs) != Some(false));
    }
    println!(
        "documents: {equal} / {} equal, {refused} of them refused, {named} name the same field",
        rows.len()
    );
    assert_eq!((equal, named), (rows.len(), rows.len()));
    assert!(rows.len() >= 120 && refused >= 70);
}

#[test]
fn warnings_are_those_of_istioctl() {
    needs!(Oracle::NEEDS);
    let rows = documents::warned();
    let documents: Vec<Value> = rows.iter().map(|(document, _)| document.clone()).collect();
    for ((document, paths), (ours, theirs)) in rows.iter().zip(both(&documents)) {
        assert_eq!((&ours.errors, &theirs.errors), (&vec![], &vec![]), "{document}");
        let found: Vec<String> = ours.warnings.iter().map(|finding| finding.path.to_string()).collect();
        assert_eq!(found, *paths, "{document}: {theirs:?}");
        assert_eq!(ours.warnings.len(), theirs.warnings.len(), "{document}: {theirs:?}");
    }
    println!("documents with warnings: {0} / {0} equal", rows.len());
}

#[test]
fn the_modules_own_documents_are_judged_as_istioctl_does() {
    needs!(Oracle::NEEDS);
    let documents = documents::of_the_module();
    let mut equal = 0;
    for ((name, document), (ours, theirs)) in documents
        .iter()
        .zip(both(&documents.iter().map(|(_, document)| document.clone()).collect::<Vec<_>>()))
    {
        if same_verdict(&ours, &theirs) {
            equal += 1;
        } else {
            println!("{name}: {document}\n  ours   {:?}\n  theirs {theirs:?}", ours.errors);
        }
    }
    println!("documents of the module: {equal} / {} equal", documents.len());
    assert_eq!(equal, documents.len());
    assert!(documents.len() > 40);
}

#[test]
fn the_rows_of_upstreams_tests_hold() {
    needs!(data::NEEDS);
    let (mut equal, mut total) = (0, 0);
    let rows = data::operator_rows().unwrap();
    for row in rows.iter().filter(|row| row.function == "ParseAndValidateIstioOperator") {
        total += 1;
        let (operator, cluster) = (&row.arguments[0].value, &row.arguments[1].value);
        let mut ours = validation::check(operator);
        let objects = cluster.as_array().cloned().unwrap_or_default();
        let of_kind = |kind: &str| objects.iter().find(|object| object["kind"] == kind);
        ours.warnings.extend(validation::cni_conflicts(
            operator,
            of_kind("FelixConfiguration"),
            of_kind("ConfigMap"),
        ));
        // Errors of one list are told one by one on both sides.
        let same = ours.errors.len() == row.errors.len() && ours.warnings.len() == row.warnings.len();
        equal += usize::from(same);
        if !same {
            println!("{}: ours {ours:?}\n  theirs {:?} {:?}", row.row, row.errors, row.warnings);
        }
    }
    println!("rows of upstream's tests: {equal} / {total} equal");
    assert_eq!(equal, total);
    assert_eq!(total, 27);
}

#[test]
fn every_field_takes_the_values_that_istioctl_takes() {
    needs!(Oracle::NEEDS);
    for (name, planted) in [("values", sweep::values()), ("IstioOperator", sweep::operator())] {
        let documents: Vec<Value> = planted.iter().map(|planted| planted.document.clone()).collect();
        let (mut equal, mut accepted, mut at_field, mut with_name, mut same_name, mut shown) =
            (0, 0, 0, 0, 0, 0);
        for (planted, (ours, theirs)) in planted.iter().zip(both(&documents)) {
            let same = same_verdict(&ours, &theirs);
            equal += usize::from(same);
            accepted += usize::from(ours.accepted());
            let here = ours.accepted() || ours.errors.iter().any(|finding| planted.covers(&finding.path));
            at_field += usize::from(here);
            let names = names_the_same(&ours, &theirs);
            with_name += usize::from(names.is_some());
            same_name += usize::from(names == Some(true));
            if (!same || !here || names == Some(false)) && shown < 12 {
                shown += 1;
                println!("{}\n  ours   {:?}\n  theirs {theirs:?}", planted.document, ours.errors);
            }
        }
        let total = planted.len();
        let fields =
            planted.iter().map(|planted| &planted.path).collect::<std::collections::BTreeSet<_>>().len();
        println!(
            "{name}: {fields} fields, {equal} / {total} verdicts equal ({accepted} accepted), {at_field} at the field, \
             {same_name} / {with_name} with the name that istioctl gives"
        );
        assert_eq!((equal, at_field, same_name), (total, total, with_name));
        assert!(accepted > total / 10 && accepted < total * 9 / 10);
    }
}
