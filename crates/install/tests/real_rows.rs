//! Every row of the unit tests of Istio's installer, recorded while they ran, through our own functions. The list of them
//! is `tests/golden/rows.txt`; `MIZZEN_BLESS=1` writes it anew.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

use std::{env, fmt::Write as _, fs, path::Path};

use mizzen_check::{Outcome, document};
use mizzen_install::{
    Assignment, Version, get_path, merge_trees, patch::overlay, set_path, typed, validation,
};
use mizzen_testkit::{
    needs,
    oracle::data::{self, Row},
};
use mizzen_text::Step;
use serde_json::{Value, json};

/// What we have beside a row.
enum Ours {
    Equal,
    Different(String),
    None(&'static str),
}

fn same(ours: &Value, theirs: &Value) -> Ours {
    if numbers(ours) == numbers(theirs) {
        Ours::Equal
    } else {
        Ours::Different(format!("ours {ours}, theirs {theirs}"))
    }
}

fn same_verdict(accepted: bool, row: &Row, why: impl FnOnce() -> String) -> Ours {
    if accepted == row.accepted { Ours::Equal } else { Ours::Different(why()) }
}

fn numbers(tree: &Value) -> Value {
    match tree {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(numbers).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), numbers(value))).collect(),
        other => other.clone(),
    }
}

/// What a path picks of a list: the list after an `x` was written there.
fn picked(list: &Value, element: &str, below: &str) -> Value {
    let mut object = json!({"list": list});
    let _ = overlay(&mut object, &[(format!("list.{element}{below}"), Some(json!("x")))]);
    object["list"].clone()
}

/// Whether an element picks something out of a list of maps, or of texts.
fn picks(list: &Value, element: &str, below: &str) -> bool {
    let after = picked(list, element, below);
    after.is_array() && after != *list
}

fn compare(row: &Row) -> Ours {
    let argument =
        |at: usize| row.arguments.get(at).map(|argument| argument.value.clone()).unwrap_or_default();
    let text = |at: usize| argument(at).as_str().unwrap_or_default().to_owned();
    let result = |at: usize| row.results.get(at).map(|result| result.value.clone()).unwrap_or_default();
    let after = || row.after.first().map_or_else(|| argument(0), |after| after.value.clone());
    let maps = json!([{"1": "2", "foo": "bar"}]);
    match row.function.as_str() {
        "Map.SetPath" => {
            let mut tree = argument(0);
            match set_path(&mut tree, &text(1), argument(2)) {
                Ok(_) if row.accepted => same(&tree, &after()),
                outcome => same_verdict(outcome.is_ok(), row, || format!("{outcome:?}")),
            }
        }
        "Map.SetPaths" => {
            let mut tree = argument(0);
            for set in argument(1).as_array().unwrap() {
                let set = set.as_str().unwrap().strip_prefix("spec.").unwrap();
                Assignment::read(set).apply(&mut tree).unwrap();
            }
            same(&tree, &after())
        }
        "Map.GetPath" => same(get_path(&argument(0), &text(1)).unwrap_or(&Value::Null), &result(0)),
        "GetValueForSetFlag" => {
            let set = argument(0)[0].as_str().unwrap().strip_prefix("spec.").unwrap().to_owned();
            same(&Assignment::read(&set).value, &result(0))
        }
        "parseValue" => same(&typed("spec.values.x", &text(0)), &result(0)),
        "Map.MergeFrom" => {
            let mut tree = argument(0);
            merge_trees(&mut tree, &argument(1));
            same(&tree, &after())
        }
        "PathFromString" => {
            let path = set_path(&mut json!({}), &text(0), json!(1)).map(|path| path.0).unwrap_or_default();
            let name = |step: Step| match step {
                Step::Field(name) => json!(name),
                Step::Index(index) => json!(index),
            };
            same(&path.into_iter().map(name).collect(), &result(0))
        }
        "IsNPathElement" => same(&json!(picks(&json!(["a"]), &text(0), "")), &result(0)),
        "IsKVPathElement" => same(&json!(picks(&maps, &text(0), ".new")), &result(0)),
        "PathKV" => same_verdict(picks(&maps, &text(0), ".new"), row, || text(0)),
        "IsVPathElement" => same(&json!(picks(&json!(["1"]), &text(0), "")), &result(0)),
        "PathV" => {
            let list = json!([result(0).as_str().unwrap_or_default()]);
            same_verdict(picks(&list, &text(0), ""), row, || text(0))
        }
        "RemoveBrackets" => same(&json!(picks(&json!(["yo"]), &text(0), "")), &result(1)),
        "splitEscaped" => {
            // Two parts pick an item by its field; a field has only plain letters, so those with escapes cannot be asked.
            let parts = result(0).as_array().unwrap().clone();
            if text(0).contains('\\') {
                return Ours::None("an inner function: no path can ask for it");
            }
            let pair = parts.len() == 2 && parts.iter().all(|part| part != "");
            same(&json!(picks(&maps, &format!("[{}]", text(0)), ".new")), &json!(pair))
        }
        "NewVersionFromString" => {
            let ours = Version::read(&text(0)).map_or(Value::Null, |version| {
                json!({"Major": version.major, "Minor": version.minor, "Patch": version.patch, "Suffix": version.suffix})
            });
            same(&ours, &result(0))
        }
        "IsVersionString" => same(&json!(Version::of_tag(&text(0)).is_some()), &result(0)),
        "TagToVersionString" => same(
            &json!(Version::of_tag(&text(0)).map(|version| version.to_string()).unwrap_or_default()),
            &result(0),
        ),
        "Version.String" => {
            let number = |name: &str| u32::try_from(argument(0)[name].as_u64().unwrap()).unwrap();
            let suffix = argument(0)["Suffix"].as_str().unwrap().to_owned();
            let version =
                Version { major: number("Major"), minor: number("Minor"), patch: number("Patch"), suffix };
            same(&json!(version.to_string()), &result(0))
        }
        "validator.validateResource" => validated(row, &argument(3)),
        "GetTemplateLabels" => Ours::None("an inner function of `istioctl validate`"),
        _ => Ours::None("unknown"),
    }
}

fn validated(row: &Row, object: &Value) -> Ours {
    if object["kind"] == "IstioOperator" {
        let errors = validation::check(object).errors;
        return same_verdict(errors.is_empty(), row, || format!("{errors:?}"));
    }
    if object["apiVersion"].is_null() {
        return Ours::None("a document without `apiVersion` is refused here, of whatever kind it is");
    }
    let checked = document(object, "default");
    let wrong = checked.iter().any(|it| match &it.outcome {
        Outcome::Findings(found) => found.errors().next().is_some(),
        Outcome::PassedBy(_) => false,
    });
    same_verdict(!wrong, row, || format!("{checked:?}"))
}

#[test]
fn every_row_of_the_installers_unit_tests_agrees() {
    needs!(data::NEEDS);
    // The tables about trees, paths, versions and `istioctl validate`. Those of validation are in `real_validation`; the
    // rest is about logs and running pods.
    let tables =
        ["values/map_test.go", "util/path_test.go", "version/version_test.go", "validate/validate_test.go"];
    let rows = data::operator_rows().unwrap().into_iter().filter(|row| tables.contains(&row.file.as_str()));
    let rows: Vec<Row> = rows.collect();
    let (mut list, mut file) = (String::new(), String::new());
    let (mut equal, mut none, mut wrong) = (0, 0, Vec::new());
    for row in &rows {
        if row.file != file {
            file.clone_from(&row.file);
            writeln!(list, "# {file}").unwrap();
        }
        let name = format!("{}/{} {} {}", row.test, row.index, row.row, row.function);
        let outcome = match compare(row) {
            Ours::Equal => {
                equal += 1;
                "equal".to_owned()
            }
            Ours::None(reason) => {
                none += 1;
                format!("no row: {reason}")
            }
            Ours::Different(difference) => {
                wrong.push(format!("{name}: {difference}"));
                "different".to_owned()
            }
        };
        writeln!(list, "{name} | {outcome}").unwrap();
    }
    println!(
        "rows: {equal} of {} equal, {none} without a counterpart, {} different",
        rows.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(none * 20 <= rows.len(), "{none} of {} have no counterpart", rows.len());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/rows.txt");
    if env::var_os("MIZZEN_BLESS").is_some() {
        fs::write(&golden, &list).unwrap();
    }
    assert!(
        fs::read_to_string(&golden).unwrap_or_default() == list,
        "the list is old: MIZZEN_BLESS=1 writes it anew"
    );
}
