//! Every attribute of every kind: one block that uses it well and what becomes of it, and one that does not and what is
//! said, at the attribute. The list of attributes comes from the schema, so none can be forgotten.

#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the list of rows is what is asked for")]

mod common;

use common::{
    errors,
    rows::{self, Rows, all, merged, written},
    told,
};
use mizzen_app::{File, schema};
use mizzen_text::{Path, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Those of one kind; they are tested once.
const COMMON: [&str; 5] = ["annotations", "labels", "name", "namespace", "override"];
const COMMON_IN: &str = "destinationRules";

/// Whether everything that is expected is there.
fn holds(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.iter().all(|(name, value)| actual.get(name).is_some_and(|actual| holds(value, actual)))
                && (!expected.is_empty() || actual.is_empty())
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(expected, actual)| holds(expected, actual))
        }
        _ => expected == actual,
    }
}

/// The attribute of a path below `istio.<kind>.<key>`.
fn attribute(path: &Path) -> String {
    let mut text = String::new();
    for step in path.0.iter().skip(3) {
        match step {
            Step::Index(_) => text += "[]",
            Step::Field(name) if text.is_empty() => text += name,
            Step::Field(name) => text = format!("{text}.{name}"),
        }
    }
    text
}

/// Whether something is told at an attribute, around it, below it, or at its neighbour.
fn near(told: &str, asked: &str) -> bool {
    let steps = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let (told, asked) = (steps(told), steps(asked));
    let mut differ = told.iter().zip(&asked).filter(|(told, asked)| told != asked && *asked != "*");
    let same = |one: &str, other: &str| one.trim_end_matches("[]") == other.trim_end_matches("[]");
    match (differ.next(), differ.next()) {
        (None, _) => true,
        (Some((one, other)), None) => same(one, other) || told.len() == asked.len(),
        _ => false,
    }
}

#[test]
fn a_good_value_lands_in_its_field() {
    let mut wrong = Vec::new();
    for Rows { word, base, rows, .. } in all() {
        for row in rows {
            let built = written(&word, &merged(&base, &row.good)).build();
            let object = built.spec.resources.first().map(|resource| resource.attributes.clone());
            let object = object.unwrap_or_default();
            // Of what is in no spec the row says where it is; a row that gives nothing gives an empty spec.
            let given = if row.gives.get("metadata").is_some() { &object } else { &object["spec"] };
            if !built.accepted() || !holds(&row.gives, given) {
                wrong.push(format!("{word} {}: {given}\n{}", row.attribute, told(&built)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_bad_value_is_told_at_its_attribute() {
    let mut wrong = Vec::new();
    for Rows { word, base, rows, .. } in all() {
        for row in rows {
            let built = written(&word, &merged(&base, &row.bad)).build();
            let found = errors(&built).into_iter().any(|error| {
                let near = near(&attribute(&error.path), &row.attribute);
                near && error.message.contains(&row.says)
                    && error.place.as_ref().is_some_and(|place| place.span.is_some())
            });
            if !found {
                wrong.push(format!("{word} {}, no `{}` in:\n{}", row.attribute, row.says, told(&built)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The attributes of a schema, in the words of the rows.
fn listed(schema: &Value, path: &str, seen: &mut Vec<Value>, found: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        found.insert(path.clone());
        listed(property, &path, seen, found);
    }
    if schema["items"].is_object() {
        listed(&schema["items"], &format!("{path}[]"), seen, found);
    }
    if schema["additionalProperties"].is_object() {
        listed(&schema["additionalProperties"], &format!("{path}.*"), seen, found);
    }
    // Text matches are everywhere the same.
    for part in schema["oneOf"].as_array().into_iter().flatten() {
        if part["properties"].is_object() && !seen.contains(part) {
            seen.push(part.clone());
            listed(part, path, seen, found);
        }
    }
}

fn at<'s>(schema: &'s Value, path: &str) -> &'s Value {
    path.split('.').fold(schema, |here, step| match step.strip_suffix("[]") {
        Some(name) => &here["properties"][name]["items"],
        None => &here["properties"][step],
    })
}

#[test]
fn every_attribute_has_its_row() {
    let whole = schema(File::App);
    let kinds = &whole["properties"]["istio"]["properties"];
    let block = |word: &str| &kinds[word]["additionalProperties"];
    let all = all();
    let words: Vec<&String> = kinds.as_object().unwrap().keys().collect();
    assert_eq!(all.iter().map(|rows| &rows.word).collect::<Vec<_>>(), words);
    let mut count = 0;
    // The first kind that has a text match has rows for it.
    let mut seen = vec![block("virtualServices")["properties"]["httpRoutes"]["items"]["properties"]["cors"]
        ["properties"]["allowOrigins"]["items"]["oneOf"][1]
        .clone()];
    for Rows { word, same, rows, .. } in &all {
        if word == "virtualServices" {
            seen.clear();
        }
        let mut needed = BTreeSet::new();
        listed(block(word), "", &mut seen, &mut needed);
        for (path, like) in same {
            let like = like.as_str().unwrap();
            let (other, like) = like.split_once(':').unwrap_or((word, like));
            let shape = |schema: &Value| {
                let mut schema = schema.clone();
                schema.as_object_mut().unwrap().remove("description");
                schema
            };
            assert_eq!(shape(at(block(word), path)), shape(at(block(other), like)), "{word} {path}");
            needed.retain(|attribute| attribute == path || !attribute.starts_with(path.as_str()));
        }
        if word != COMMON_IN {
            needed.retain(|attribute| {
                !COMMON.contains(&attribute.as_str()) || rows.iter().any(|row| row.attribute == *attribute)
            });
        }
        let has: BTreeSet<String> = rows.iter().map(|row| row.attribute.clone()).collect();
        let missing: Vec<_> = needed.difference(&has).collect();
        let stale: Vec<_> = has.difference(&needed).collect();
        assert!(
            missing.is_empty() && stale.is_empty(),
            "{word}: no row for {missing:?}, no attribute {stale:?}"
        );
        count += rows.len();
        println!("{word}: {} attributes, each with a good and a bad value", rows.len());
        rows.iter().for_each(|row| println!("  {}", row.attribute));
    }
    println!("{count} attributes of {} kinds", all.len());
}

#[test]
fn all_good_values_together_are_one_application() {
    let (texts, count) = rows::together();
    let built = texts.build();
    assert!(built.accepted(), "{}", told(&built));
    // One token rule asks for a policy beside it.
    assert_eq!(built.spec.resources.len(), count + 1);
}

/// The block with one of its values, counted from the top, replaced; nothing where it has not so many.
fn replaced(value: &Value, with: &Value, number: &mut usize) -> Option<Value> {
    if *number == 0 {
        return Some(with.clone());
    }
    *number -= 1;
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            let mut fields = fields.clone();
            fields.insert(name.clone(), replaced(field, with, number)?);
            Some(Value::Object(fields))
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let mut items = items.clone();
            items[index] = replaced(item, with, number)?;
            Some(Value::Array(items))
        }),
        _ => None,
    }
}

#[test]
fn whatever_is_written_is_built_or_told_at_a_line() {
    let odd = [json!(null), json!([null]), json!({"": null}), json!(""), json!(-1)];
    let mut count = 0;
    for Rows { word, base, rows, .. } in all() {
        for row in rows {
            let block = merged(&base, &row.good);
            for with in &odd {
                for number in 1.. {
                    let Some(block) = replaced(&block, with, &mut { number }) else { break };
                    let built = written(&word, &block).build();
                    count += 1;
                    for diagnostic in &built.diagnostics {
                        let place = diagnostic.place.as_ref().and_then(|place| place.span.as_ref());
                        assert!(place.is_some_and(|span| !span.is_empty()), "{word} {block}: {diagnostic:?}");
                        assert!(diagnostic.path.0.len() >= 2, "{word} {block}: {diagnostic:?}");
                    }
                }
            }
        }
    }
    assert!(count > 5_000, "{count}");
}
