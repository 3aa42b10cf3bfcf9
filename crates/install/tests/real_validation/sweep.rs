//! Documents with one field in them, for every field that there is and every sort of value.

use mizzen_text::{Path, Step};
use serde_json::{Value, json};

/// One value in an otherwise empty IstioOperator.
pub(crate) struct Planted {
    pub(crate) document: Value,
    pub(crate) path: Path,
}

impl Planted {
    fn new(path: &[Step], value: &Value) -> Self {
        let document = path.iter().rev().fold(value.clone(), |inner, step| match step {
            Step::Field(name) => json!({ name: inner }),
            Step::Index(_) => json!([inner]),
        });
        Self { document, path: Path(path.to_vec()) }
    }

    /// Whether an error is about what was planted: there, below, or, where a rule is about several fields, beside it.
    pub(crate) fn covers(&self, found: &Path) -> bool {
        let beside = matches!(self.path.0.last(), Some(Step::Field(name)) if name == "port")
            && found.0.starts_with(&self.path.0[..self.path.0.len() - 1]);
        found.0.starts_with(&self.path.0) || beside
    }
}

fn table(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Every field of the values.
pub(crate) fn values() -> Vec<Planted> {
    let table = table(include_str!("../../src/generated/values.json"));
    let top = [Step::Field("spec".into()), Step::Field("values".into())];
    let mut planted = Vec::new();
    walk(&table, "Values", &mut top.to_vec(), &mut Vec::new(), &mut planted);
    planted
}

/// Every field of the IstioOperator itself. Components are alike, so only one has all that is in `k8s`.
pub(crate) fn operator() -> Vec<Planted> {
    let table = table(include_str!("../../src/generated/kubernetes.json"));
    let mut planted = Vec::new();
    walk(&table, "IstioOperator", &mut Vec::new(), &mut Vec::new(), &mut planted);
    planted
}

fn walk(
    table: &Value,
    name: &str,
    path: &mut Vec<Step>,
    within: &mut Vec<String>,
    planted: &mut Vec<Planted>,
) {
    let Some(fields) = table["structs"][name].as_object() else { return };
    // No type goes round in circles here, but nobody promises that.
    if within.iter().any(|outer| outer == name) {
        return;
    }
    within.push(name.to_owned());
    path.push(Step::Field("unheardOf".into()));
    planted.push(Planted::new(path, &json!("x")));
    path.pop();
    for (field, said) in fields {
        let shape = said.as_str().or_else(|| said["type"].as_str()).unwrap();
        let in_k8s = path.iter().any(|step| *step == Step::Field("k8s".into()));
        let in_pilot = path.iter().any(|step| *step == Step::Field("pilot".into()));
        if in_k8s && !in_pilot && path.last() != Some(&Step::Field("k8s".into())) {
            continue;
        }
        path.push(Step::Field(field.clone()));
        planted.extend(sorts().iter().map(|value| Planted::new(path, value)));
        if let Some(older) = said["older"].as_str() {
            path.pop();
            path.push(Step::Field(older.to_owned()));
            planted.extend(sorts().iter().map(|value| Planted::new(path, value)));
            path.pop();
            path.push(Step::Field(field.clone()));
        }
        let depth = path.len();
        let mut inner = shape;
        while let Some(rest) = inner.strip_prefix("[]").or_else(|| inner.strip_prefix("{}")) {
            path.push(if inner.starts_with("[]") { Step::Index(0) } else { Step::Field("key".into()) });
            planted.extend(sorts().iter().map(|value| Planted::new(path, value)));
            inner = rest;
        }
        walk(table, inner, path, within, planted);
        path.truncate(depth - 1);
    }
    within.pop();
}

/// A value of every sort, and some that only look like one.
fn sorts() -> Vec<Value> {
    vec![
        json!(null),
        json!("x"),
        json!(""),
        json!("5"),
        json!("10s"),
        json!("2006-01-02T15:04:05Z"),
        json!(5),
        json!(-1),
        json!(1.5),
        json!(3_000_000_000_u64),
        json!(true),
        json!([]),
        json!(["x"]),
        json!([{}]),
        json!({}),
        json!({ "unheardOf": 1 }),
    ]
}
