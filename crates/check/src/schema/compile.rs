//! From the words of a schema to a [`Node`].
//!
//! The schemas are part of the binary, so a word that this does not know is a mistake of ours: a test lists the words
//! of all of them and fails at one that is not here.

use regex::Regex;
use serde_json::Value;

use super::{
    format::Format,
    node::{Additional, Kind, Limits, List, Node, Range},
    rules::Rule,
};

pub(super) fn node(schema: &Value) -> Node {
    let mut fields: Vec<(Box<str>, Node)> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str().into(), node(schema)))
        .collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    let kind = kind(schema);
    Node {
        kind,
        nullable: is(schema, "nullable"),
        preserves_unknown: is(schema, "x-kubernetes-preserve-unknown-fields"),
        format: schema["format"].as_str().and_then(|format| Format::named(format, kind)),
        fields: fields.into(),
        required: texts(&schema["required"]),
        additional: match &schema["additionalProperties"] {
            Value::Bool(true) => Additional::Any,
            schema @ Value::Object(_) => Additional::Like(Box::new(node(schema))),
            _ => Additional::Unknown,
        },
        items: schema["items"].is_object().then(|| Box::new(node(&schema["items"]))),
        values: schema["enum"].as_array().cloned().unwrap_or_default().into(),
        limits: limits(schema),
        list: match schema["x-kubernetes-list-type"].as_str() {
            Some("map") => List::Map(texts(&schema["x-kubernetes-list-map-keys"])),
            Some("set") => List::Set,
            _ => List::Atomic,
        },
        all_of: nodes(&schema["allOf"]),
        any_of: nodes(&schema["anyOf"]),
        one_of: nodes(&schema["oneOf"]),
        not: schema["not"].is_object().then(|| Box::new(node(&schema["not"]))),
        rules: items(&schema["x-kubernetes-validations"]).filter_map(Rule::read).collect(),
    }
}

fn kind(schema: &Value) -> Option<Kind> {
    if is(schema, "x-kubernetes-int-or-string") {
        return Some(Kind::IntOrString);
    }
    match schema["type"].as_str()? {
        "object" => Some(Kind::Object),
        "array" => Some(Kind::Array),
        "string" => Some(Kind::String),
        "integer" => Some(Kind::Integer),
        "number" => Some(Kind::Number),
        "boolean" => Some(Kind::Boolean),
        _ => None,
    }
}

fn limits(schema: &Value) -> Limits {
    let range =
        |least: &str, most: &str| Range { least: schema[least].as_u64(), most: schema[most].as_u64() };
    Limits {
        length: range("minLength", "maxLength"),
        items: range("minItems", "maxItems"),
        properties: range("minProperties", "maxProperties"),
        number: Range { least: schema["minimum"].as_f64(), most: schema["maximum"].as_f64() },
        above_minimum: is(schema, "exclusiveMinimum"),
        below_maximum: is(schema, "exclusiveMaximum"),
        multiple_of: schema["multipleOf"].as_f64(),
        pattern: schema["pattern"].as_str().and_then(|pattern| Regex::new(pattern).ok()),
        unique: is(schema, "uniqueItems"),
    }
}

fn is(schema: &Value, word: &str) -> bool {
    schema[word] == true
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn nodes(list: &Value) -> Box<[Node]> {
    items(list).map(node).collect()
}

fn texts(list: &Value) -> Box<[Box<str>]> {
    items(list).filter_map(Value::as_str).map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_api::crd::Crd;

    /// All that `node` reads.
    const WORDS: &str = "additionalProperties allOf anyOf enum exclusiveMaximum exclusiveMinimum format items maxItems \
        maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not nullable oneOf pattern \
        properties required type uniqueItems x-kubernetes-int-or-string x-kubernetes-list-map-keys \
        x-kubernetes-list-type x-kubernetes-preserve-unknown-fields x-kubernetes-validations";

    fn every_schema(schema: &Value, see: &mut dyn FnMut(&Value)) {
        see(schema);
        for (word, value) in schema.as_object().into_iter().flatten() {
            match word.as_str() {
                "properties" => {
                    value.as_object().unwrap().values().for_each(|schema| every_schema(schema, see));
                }
                "items" | "additionalProperties" | "not" => every_schema(value, see),
                "allOf" | "anyOf" | "oneOf" => items(value).for_each(|schema| every_schema(schema, see)),
                _ => {}
            }
        }
    }

    #[test]
    fn every_word_of_every_schema_is_understood() {
        let known: Vec<_> = WORDS.split_whitespace().collect();
        let mut seen = 0;
        for crd in Crd::all() {
            for schema in crd.schemas() {
                every_schema(schema, &mut |schema| {
                    for (word, value) in schema.as_object().unwrap() {
                        assert!(known.contains(&word.as_str()), "{}: {word}: {value}", crd.kind);
                    }
                    if let Some(pattern) = schema["pattern"].as_str() {
                        assert!(Regex::new(pattern).is_ok(), "{pattern}");
                    }
                    if let Some(format) = schema["format"].as_str() {
                        assert!(Format::named(format, kind(schema)).is_some(), "{format}");
                    }
                    seen += 1;
                });
            }
        }
        assert!(seen > 1_500, "only {seen} schemas seen");
    }

    #[test]
    fn every_rule_has_its_function() {
        let mut rules = std::collections::BTreeSet::new();
        for schema in Crd::all().flat_map(Crd::schemas) {
            every_schema(schema, &mut |schema| {
                for rule in items(&schema["x-kubernetes-validations"]) {
                    let text = rule["rule"].as_str().unwrap();
                    assert!(Rule::read(rule).is_some(), "no function for: {text}");
                    // What would need more than a function of the value, and its words.
                    assert!(
                        rule.as_object()
                            .unwrap()
                            .keys()
                            .all(|key| ["rule", "message"].contains(&key.as_str()))
                    );
                    rules.insert(text.to_owned());
                }
            });
        }
        assert_eq!(rules.len(), super::super::rules::count(), "a function belongs to no rule");
    }
}
