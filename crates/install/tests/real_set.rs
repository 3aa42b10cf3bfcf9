//! `--set` and merging beside Istio's own code: a table, and inputs made up from a grammar.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

use mizzen_install::{Assignment, merge_trees};
use mizzen_testkit::{
    needs,
    oracle::{Oracle, render::Outcome},
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

    fn tree(&mut self, depth: usize, nulls: bool) -> Value {
        match self.roll(if depth == 0 { 5 } else { 12 }) {
            0 => json!(self.pick(&["x", "y", "a.b", ""])),
            1 => json!(self.roll(100)),
            2 => json!(self.roll(2) == 0),
            3 => json!(1.5),
            4 if nulls => Value::Null,
            4 => json!({}),
            5 => (0..self.roll(3)).map(|_| self.tree(depth - 1, nulls)).collect(),
            6 | 7 => {
                let item =
                    |dice: &mut Self| json!({"name": dice.pick(&NAMES), "v": dice.tree(depth - 1, nulls)});
                (0..=self.roll(2)).map(|_| item(self)).collect()
            }
            _ => self.map(depth - 1, nulls),
        }
    }

    fn map(&mut self, depth: usize, nulls: bool) -> Value {
        (0..self.roll(5)).map(|_| (self.pick(&NAMES).replace('\\', ""), self.tree(depth, nulls))).collect()
    }

    /// A path that mostly follows the tree, and then leaves it.
    fn set(&mut self, tree: &Value) -> String {
        let mut path = String::new();
        let mut here = Some(tree);
        for _ in 0..=self.roll(5) {
            match here {
                Some(Value::Array(items)) => {
                    let dot = self.pick(&["", "."]);
                    let index = self.roll(items.len() + 2);
                    let name = items.get(index).and_then(|item| item.get("name")).and_then(Value::as_str);
                    match name {
                        Some(name) if self.roll(2) == 0 => {
                            path.push_str(&format!("{dot}[name:{}]", name.replace('.', r"\.")))
                        }
                        _ => path.push_str(&format!("{dot}[{}]", self.pick(&[&index.to_string(), "-1"]))),
                    }
                    here = items.get(index).filter(|item| item.is_object());
                    if let Some(Value::Object(_)) = here {
                        continue;
                    }
                    path.push_str(&format!(".{}", self.pick(&NAMES)));
                    here = None;
                }
                Some(Value::Object(map)) if !map.is_empty() && self.roll(4) > 0 => {
                    let (key, value) = map.iter().nth(self.roll(map.len())).unwrap();
                    path.push_str(&format!("{}{}", self.pick(&[".", ".", ".."]), key.replace('.', r"\.")));
                    here = Some(value);
                    if !(value.is_object() || value.is_array()) {
                        break;
                    }
                }
                _ => {
                    path.push_str(&format!(
                        ".{}{}",
                        self.pick(&NAMES),
                        self.pick(&["", "", "", "[0]", ".[3]", "[name:a]"])
                    ));
                    here = None;
                }
            }
        }
        if path.ends_with(']') {
            path.push_str(".z");
        }
        format!(
            "{}{}{}",
            path.trim_start_matches('.'),
            self.pick(&["=", "=", "=", " = "]),
            self.pick(&VALUES)
        )
    }
}

const NAMES: [&str; 8] = ["a", "b", "c", r"x\.y", "d/e", "global", "tag", "values"];

const VALUES: [&str; 44] = [
    "",
    "x",
    "1",
    "0",
    "-1",
    "+1",
    "01",
    "1.5",
    ".5",
    "5.",
    "1e3",
    "1E-2",
    "1_000",
    "0x10",
    "0x1p4",
    "0X1.8P1",
    "-0x1p-2",
    "0x1_0p0",
    "0b1",
    "true",
    "false",
    "True",
    "TRUE",
    "tRue",
    "t",
    "F",
    "yes",
    "on",
    "~",
    "a=b",
    "a,b",
    r"a\,b",
    r"a\.b",
    "9223372036854775807",
    "9223372036854775808",
    "1e400",
    "123456789012345678901234567890",
    "1.30",
    "- 1",
    "1Gi",
    "é",
    "0.1e-7",
    "1e21",
    "--1",
];

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
        "values.x",
        "tag",
        "values.global.tag",
        "compatibilityVersion",
        "meshConfig.defaultConfig.proxyMetadata.A",
        "values.meshConfig.defaultConfig.proxyMetadata.A",
        "values.compatibilityVersion",
        "values.global.tags",
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
            let spec = dice.map(4, false);
            let sets = (0..=dice.roll(2)).map(|_| dice.set(&spec)).collect();
            (json!({"spec": spec}), sets)
        })
        .collect();
    let questions: Vec<Value> = cases.iter().map(|(tree, sets)| json!({"tree": tree, "set": sets})).collect();
    let answers = Oracle::shared().set(&questions).unwrap();
    let (mut equal, mut broken, mut both_refuse, mut wrong) = (0, 0, 0, Vec::new());
    for ((tree, sets), theirs) in cases.iter().zip(&answers) {
        match compare(tree, sets, theirs) {
            // Istioctl's code breaks down; ours does it, or says why not.
            _ if theirs.panic.is_some() => broken += 1,
            Ok(()) if theirs.result.is_none() => both_refuse += 1,
            Ok(()) => equal += 1,
            Err(difference) => wrong.push(difference),
        }
    }
    println!(
        "--set: {equal} equal, {both_refuse} refused by both, {broken} break istioctl, {} different",
        wrong.len()
    );
    wrong.truncate(10);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(equal > 3000 && both_refuse > 300, "{equal} {both_refuse}");
}

#[test]
fn made_up_trees_merge_as_istio_merges_them() {
    needs!(Oracle::NEEDS);
    let mut dice = Dice(7);
    let object = |dice: &mut Dice| -> Value {
        (0..4).map(|_| (dice.pick(&NAMES).to_owned(), dice.tree(4, true))).collect()
    };
    let cases: Vec<(Value, Value)> = (0..3000).map(|_| (object(&mut dice), object(&mut dice))).collect();
    let questions: Vec<Value> =
        cases.iter().map(|(base, over)| json!({"base": base, "overlay": over})).collect();
    let answers = Oracle::shared().merge(&questions).unwrap();
    for ((base, over), theirs) in cases.iter().zip(&answers) {
        let mut ours = base.clone();
        merge_trees(&mut ours, over);
        assert_eq!(Some(numbers(&ours)), theirs.result.as_ref().map(numbers), "{base} {over}");
    }
    println!("merge: {} of {} equal", cases.len(), cases.len());
}
