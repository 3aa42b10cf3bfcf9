//! `--set` and merging beside Istio's own code: a table, and inputs made up from a grammar.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

use mizzen_install::{Assignment, merge_trees};
use mizzen_testkit::{
    needs,
    oracle::{Oracle, Outcome},
};
use serde_json::{Value, json};

/// A generator that needs nothing but its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    fn tree(&mut self, depth: usize) -> Value {
        match self.roll(if depth == 0 { 5 } else { 9 }) {
            0 => json!(self.pick(&["x", "y", "a.b", ""])),
            1 => json!(self.roll(100)),
            2 => json!(self.roll(2) == 0),
            3 => json!(1.5),
            4 => Value::Null,
            5 => (0..self.roll(3)).map(|_| self.tree(depth - 1)).collect(),
            6 => (0..=self.roll(2)).map(|_| json!({"name": self.pick(&NAMES), "v": self.tree(depth - 1)})).collect(),
            _ => (0..self.roll(4)).map(|_| (self.pick(&NAMES).to_owned(), self.tree(depth - 1))).collect(),
        }
    }

    fn set(&mut self) -> String {
        let mut path = self.pick(&NAMES).to_owned();
        for _ in 0..self.roll(4) {
            path.push_str(match self.roll(8) {
                0 => "[0]",
                1 => ".[1]",
                2 => "[name:a]",
                3 => ".[name:b]",
                4 => "[-1]",
                5 => "..",
                _ => ".",
            });
            path.push_str(&format!(".{}", self.pick(&NAMES)));
        }
        format!("{path}{}{}", self.pick(&["=", "=", "=", " = "]), self.pick(&VALUES))
    }
}

const NAMES: [&str; 8] = ["a", "b", "c", r"x\.y", "d/e", "global", "tag", "values"];

const VALUES: [&str; 44] = [
    "", "x", "1", "0", "-1", "+1", "01", "1.5", ".5", "5.", "1e3", "1E-2", "1_000", "0x10", "0x1p4", "0X1.8P1", "-0x1p-2",
    "0x1_0p0", "0b1", "true", "false", "True", "TRUE", "tRue", "t", "F", "yes", "on", "~", "a=b", "a,b", r"a\,b", r"a\.b",
    "9223372036854775807", "9223372036854775808", "1e400", "123456789012345678901234567890", "1.30", "- 1", "1Gi", "é",
    "0.1e-7", "1e21", "--1",
];

/// Where ours does something on purpose that istioctl loses or breaks down over.
fn improved(theirs: &Outcome) -> bool {
    theirs.panic.is_some()
}

fn compare(tree: &Value, sets: &[String], theirs: &Outcome) -> Result<(), String> {
    let mut ours = tree.clone();
    let result: Result<Vec<_>, _> = sets.iter().map(|set| Assignment::read(set).apply(&mut ours)).collect();
    match (result, &theirs.result) {
        (Ok(_), Some(result)) if numbers(&ours) == numbers(result) => Ok(()),
        (Err(_), None) => Ok(()),
        (ours_error, _) => Err(format!("{tree} {sets:?}: ours {ours} {ours_error:?}, theirs {theirs:?}")),
    }
}

/// Numbers as JSON has them: Go writes 16.0 as 16.
fn numbers(tree: &Value) -> Value {
    match tree {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(numbers).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), numbers(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_kind_of_value_gets_istios_type() {
    needs!(Oracle::NEEDS);
    let paths = [
        "values.x", "tag", "values.global.tag", "compatibilityVersion", "meshConfig.defaultConfig.proxyMetadata.A",
        "values.meshConfig.defaultConfig.proxyMetadata.A", "values.compatibilityVersion", "values.global.tags",
    ];
    let sets: Vec<String> =
        paths.iter().flat_map(|path| VALUES.iter().map(move |value| format!("{path}={value}"))).collect();
    let questions: Vec<Value> = sets.iter().map(|set| json!({"tree": {}, "set": [set]})).collect();
    let answers = Oracle::shared().set(&questions).unwrap();
    let wrong: Vec<String> = sets
        .iter()
        .zip(&answers)
        .filter_map(|(set, theirs)| compare(&json!({}), std::slice::from_ref(set), theirs).err())
        .collect();
    println!("typed values: {} of {} equal", sets.len() - wrong.len(), sets.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn made_up_paths_change_made_up_trees_as_istio_changes_them() {
    needs!(Oracle::NEEDS);
    let mut dice = Dice(20_260_101);
    let cases: Vec<(Value, Vec<String>)> = (0..6000)
        .map(|_| {
            let spec: Value = (0..4).map(|_| (dice.pick(&NAMES).replace('\\', ""), dice.tree(3))).collect();
            (json!({"spec": spec}), (0..=dice.roll(2)).map(|_| dice.set()).collect())
        })
        .collect();
    let questions: Vec<Value> = cases.iter().map(|(tree, sets)| json!({"tree": tree, "set": sets})).collect();
    let answers = Oracle::shared().set(&questions).unwrap();
    let (mut equal, mut better, mut both_refuse, mut wrong) = (0, 0, 0, Vec::new());
    for ((tree, sets), theirs) in cases.iter().zip(&answers) {
        match compare(tree, sets, theirs) {
            Ok(()) if theirs.result.is_none() => both_refuse += 1,
            Ok(()) => equal += 1,
            Err(_) if improved(theirs) || lost(tree, sets) => better += 1,
            Err(difference) => wrong.push(difference),
        }
    }
    println!(
        "--set: {equal} equal, {both_refuse} refused by both, {better} done where istioctl breaks down or loses the value, \
         {} different",
        wrong.len()
    );
    wrong.truncate(10);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(equal > 2000, "{equal}");
}

/// Istioctl loses a value below null, and writes below an item of a list in a list as if it was a field.
fn lost(tree: &Value, sets: &[String]) -> bool {
    let has_null = |tree: &Value| tree.to_string().contains("null");
    has_null(tree) || sets.iter().any(|set| set.contains("]["))
}

#[test]
fn made_up_trees_merge_as_istio_merges_them() {
    needs!(Oracle::NEEDS);
    let mut dice = Dice(7);
    let object = |dice: &mut Dice| -> Value { (0..4).map(|_| (dice.pick(&NAMES).to_owned(), dice.tree(4))).collect() };
    let cases: Vec<(Value, Value)> = (0..3000).map(|_| (object(&mut dice), object(&mut dice))).collect();
    let questions: Vec<Value> = cases.iter().map(|(base, over)| json!({"base": base, "overlay": over})).collect();
    let answers = Oracle::shared().merge(&questions).unwrap();
    for ((base, over), theirs) in cases.iter().zip(&answers) {
        let mut ours = base.clone();
        merge_trees(&mut ours, over);
        assert_eq!(Some(numbers(&ours)), theirs.result.as_ref().map(numbers), "{base} {over}");
    }
    println!("merge: {} of {} equal", cases.len(), cases.len());
}
