//! What a resource without any wish gets, by the size of its cluster.

use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::Value;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    #[default]
    Production,
    Evaluation,
}

static COMMON: &str = include_str!("../../profiles/common.yaml");
static PRODUCTION: LazyLock<Value> = LazyLock::new(|| read(include_str!("../../profiles/production.yaml")));
static EVALUATION: LazyLock<Value> = LazyLock::new(|| read(include_str!("../../profiles/evaluation.yaml")));

/// A whole IstioOperator.
pub fn profile(size: Size) -> Value {
    match size {
        Size::Production => PRODUCTION.clone(),
        Size::Evaluation => EVALUATION.clone(),
    }
}

fn read(text: &str) -> Value {
    let mut tree = load(COMMON);
    lay(&mut tree, &load(text));
    tree
}

#[expect(clippy::expect_used, reason = "the files are part of the binary, and a test reads every one")]
fn load(text: &str) -> Value {
    let read = yaml::load_first(&Source::new("profile", text), &Options::KUBERNETES);
    read.ok().flatten().expect("an embedded profile can be read")
}

/// Maps key by key, lists of named items name by name; everything else replaces what is there.
fn lay(base: &mut Value, over: &Value) {
    match (&mut *base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(key) {
                    Some(below) => lay(below, value),
                    None => drop(base.insert(key.clone(), value.clone())),
                }
            }
        }
        (Value::Array(base), Value::Array(over)) if over.iter().all(|item| item["name"].is_string()) => {
            for item in over {
                match base.iter_mut().find(|known| known["name"] == item["name"]) {
                    Some(known) => lay(known, item),
                    None => base.push(item.clone()),
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sizes_can_be_read_and_differ() {
        assert_eq!(profile(Size::Production)["metadata"]["name"], "default-operator");
        assert_ne!(profile(Size::Production), profile(Size::Evaluation));
    }
}
