//! The tree that `istioctl profile dump demo` printed in Istio 1.19, leaf by leaf, beside ours: `golden/demo-003.txt` says
//! of each leaf what became of it, and why.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has counted"
)]

use std::collections::{BTreeMap, BTreeSet};

use mizzen_install::{Input, effective, get_path, merge, source::BuiltIn};
use serde_json::Value;

const TABLE: &str = include_str!("golden/demo-003.txt");

/// So many leaves the tree had.
const LEAVES: usize = 143;

/// What became of a leaf.
#[derive(Debug)]
enum Fate {
    Same,
    /// The value is another one.
    Now(Value),
    /// It stands elsewhere, with the same value unless one is told.
    Moved {
        to: String,
        value: Option<Value>,
    },
    Gone,
}

#[derive(Debug)]
struct Row {
    path: String,
    was: Value,
    fate: Fate,
}

/// `PATH = VALUE : same`, `: now VALUE — WHY`, `: moved to PATH [as VALUE] — WHY`, `: gone — WHY`. Values are JSON.
fn row(line: &str) -> Result<Row, &'static str> {
    let (left, right) = line.rsplit_once(" : ").ok_or("there is no fate")?;
    let (path, was) = left.split_once(" = ").ok_or("there is no value")?;
    let json = |text: &str| serde_json::from_str::<Value>(text.trim()).map_err(|_| "a value is no JSON");
    let row = |fate| Ok(Row { path: path.trim().to_owned(), was: json(was)?, fate });
    if right == "same" {
        return row(Fate::Same);
    }
    let (what, why) = right.split_once(" — ").ok_or("there is no reason")?;
    if why.trim().is_empty() {
        return Err("there is no reason");
    }
    if what == "gone" {
        return row(Fate::Gone);
    }
    if let Some(value) = what.strip_prefix("now ") {
        return row(Fate::Now(json(value)?));
    }
    let place = what.strip_prefix("moved to ").ok_or("the fate is not known")?;
    let (to, value) = match place.split_once(" as ") {
        Some((to, value)) => (to, Some(json(value)?)),
        None => (place, None),
    };
    row(Fate::Moved { to: to.to_owned(), value })
}

/// Every leaf of a tree, as the table names it.
fn leaves(path: &str, value: &Value, all: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) if !map.is_empty() => map.iter().for_each(|(key, value)| {
            leaves(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, all);
        }),
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, item)| leaves(&format!("{path}[{at}]"), item, all));
        }
        leaf => drop(all.insert(path.to_owned(), leaf.clone())),
    }
}

fn demo() -> BTreeMap<String, Value> {
    let input = Input { sets: vec!["profile=demo".to_owned()], ..Input::default() };
    let merged = merge(&input, &BuiltIn).unwrap();
    let tree = effective(&merged, &BuiltIn).unwrap();
    assert!(get_path(&tree, "spec.values.global").is_some());
    let mut all = BTreeMap::new();
    leaves("", &tree, &mut all);
    all
}

/// Whether something stands at a path: a leaf, or what has leaves below it.
fn stands(path: &str, ours: &BTreeMap<String, Value>) -> bool {
    let below = ours.range(path.to_owned()..).take_while(|(other, _)| other.starts_with(path));
    below.into_iter().any(|(other, _)| matches!(other[path.len()..].chars().next(), None | Some('.' | '[')))
}

fn check(row: &Row, ours: &BTreeMap<String, Value>) -> Result<(), String> {
    let Row { path, was, fate } = row;
    let now = ours.get(path);
    let right = match fate {
        Fate::Same => now == Some(was),
        Fate::Now(value) => now != Some(was) && now == Some(value),
        Fate::Moved { to, value } => {
            !stands(path, ours) && ours.get(to) == Some(value.as_ref().unwrap_or(was))
        }
        Fate::Gone => !stands(path, ours),
    };
    let found = now.map_or("nothing".to_owned(), Value::to_string);
    right.then_some(()).ok_or_else(|| format!("{path} was {was}: not {fate:?}; it is {found}"))
}

#[test]
fn every_leaf_of_the_demo_profile_is_accounted_for() {
    let ours = demo();
    let mut counts = BTreeMap::<_, usize>::new();
    let mut paths = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in TABLE.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let row = row(line).unwrap_or_else(|what| panic!("{line:?}: {what}"));
        let name = match row.fate {
            Fate::Same => "same",
            Fate::Now(_) => "another value",
            Fate::Moved { .. } => "moved",
            Fate::Gone => "gone",
        };
        *counts.entry(name).or_default() += 1;
        wrong.extend(check(&row, &ours).err());
        assert!(paths.insert(row.path.clone()), "{} stands twice", row.path);
    }
    println!("{} leaves of 1.19's demo: {counts:?}; ours has {}", paths.len(), ours.len());
    assert!(wrong.is_empty(), "{} rows are not true:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(paths.len(), LEAVES);
}

#[test]
fn a_row_that_is_not_true_is_found() {
    let ours = BTreeMap::from([("a.b".to_owned(), Value::from(1)), ("a.c".to_owned(), Value::from("x"))]);
    for line in [
        "a.b = 1 : same",
        "a.b = 2 : now 1 — why",
        "a.d = 1 : moved to a.b — why",
        "a.d = \"1\" : moved to a.b as 1 — why",
        "d = {} : gone — why",
    ] {
        assert_eq!(check(&row(line).unwrap(), &ours), Ok(()), "{line}");
    }
    for line in [
        "a.b = 2 : same",
        "a.d = 2 : same",
        "a.b = 2 : now 3 — why",
        "a.b = 1 : now 1 — why",
        "a.b = 1 : moved to a.c — why",
        "a.c = 1 : moved to a.b — why",
        "a.d = 2 : moved to a.b — why",
        "a = {} : gone — why",
    ] {
        assert!(check(&row(line).unwrap(), &ours).is_err(), "{line}");
    }
    for line in
        ["a.b : same", "a.b = 1", "a.b = 1 : gone", "a.b = 1 : gone —  ", "a.b = x : same", "a = 1 : was — x"]
    {
        assert!(row(line).is_err(), "{line}");
    }
}
