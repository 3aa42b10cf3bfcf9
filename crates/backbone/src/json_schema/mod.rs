//! JSON Schema (draft 7), for editors and for whoever checks objects without a server: everything that the definition says,
//! groups and rules included. One file a version, laid out as the catalogue of CRD schemas that editors and kubeconform read.
//!
//! Fields that the definition does not have are refused, as `kubectl apply` asks the server to refuse them.

mod rule;

use crate::{
    File,
    crd::{Definition, Version},
    metadata::{API_VERSION, KIND},
    schema::{Additional, Kind, Schema},
};
use serde_json::{Map, Value, json};

pub(crate) fn files(definitions: &[Definition]) -> Vec<File> {
    let mut files = Vec::new();
    for definition in definitions {
        for version in &definition.versions {
            let path =
                format!("{}/{}_{}.json", definition.group, definition.kind.to_lowercase(), version.name);
            files.push(File::new(path, format!("{:#}\n", whole(definition, version))));
        }
    }
    files
}

fn whole(definition: &Definition, version: &Version) -> Value {
    let mut schema = schema(&version.schema, true);
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    schema.insert("title".to_owned(), definition.kind.clone().into());
    schema.insert("type".to_owned(), "object".into());
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let group = format!("{}/{}", definition.group, version.name);
    properties["apiVersion"] = json!({"const": group, "description": API_VERSION});
    properties["kind"] = json!({"const": definition.kind, "description": KIND});
    if properties["metadata"].is_null() {
        properties["metadata"] = json!({"type": "object"});
    }
    let mut required = vec!["apiVersion".to_owned(), "kind".to_owned()];
    required.extend(
        version.schema.required.iter().filter(|name| !required.contains(name)).cloned().collect::<Vec<_>>(),
    );
    schema.insert("required".to_owned(), json!(required));
    schema.into()
}

/// `closed` for what describes a value, not for a part of `oneOf` and the like, which only adds to it.
fn schema(schema: &Schema, closed: bool) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |word: &str, value: Value| {
        out.insert(word.to_owned(), value);
    };
    let kind = match schema.kind {
        Kind::Any => &[][..],
        Kind::Object => &["object"],
        Kind::Array => &["array"],
        Kind::String => &["string"],
        Kind::Integer => &["integer"],
        Kind::Number => &["number"],
        Kind::Boolean => &["boolean"],
        Kind::IntOrString => &["integer", "string"],
    };
    match (kind, schema.nullable) {
        ([], _) => {}
        ([kind], false) => put("type", (*kind).into()),
        (kinds, nullable) => put("type", kinds.iter().copied().chain(nullable.then_some("null")).collect()),
    }
    for (word, text) in
        [("title", &schema.title), ("description", &schema.description), ("format", &schema.format)]
    {
        if !text.is_empty() {
            put(word, text.clone().into());
        }
    }
    if let Some(value) = &schema.default {
        put("default", value.clone());
    }
    if !schema.values.is_empty() {
        put("enum", schema.values.clone().into());
    }
    if !schema.fields.is_empty() {
        let fields = schema
            .fields
            .iter()
            .map(|field| (field.name.clone(), self::schema(&field.schema, closed).into()));
        put("properties", Value::Object(fields.collect()));
    }
    if !schema.required.is_empty() {
        put("required", schema.required.clone().into());
    }
    match &schema.additional {
        Additional::Like(value) => put("additionalProperties", self::schema(value, closed).into()),
        Additional::None if closed && !schema.fields.is_empty() && !schema.preserves_unknown => {
            put("additionalProperties", false.into());
        }
        Additional::None | Additional::Any => {}
    }
    if let Some(items) = &schema.items {
        put("items", self::schema(items, closed).into());
    }
    limits(schema, &mut put);
    let parts = |parts: &[Schema]| {
        parts.iter().map(|part| Value::from(self::schema(part, false))).collect::<Vec<_>>()
    };
    for (word, of) in [("anyOf", &schema.any_of), ("oneOf", &schema.one_of)] {
        if !of.is_empty() {
            put(word, parts(of).into());
        }
    }
    if let Some(not) = &schema.not {
        put("not", self::schema(not, false).into());
    }
    let mut all = parts(&schema.all_of);
    all.extend(schema.rules.iter().filter_map(|rule| rule::says(rule, schema)));
    if !all.is_empty() {
        put("allOf", all.into());
    }
    if !schema.rules.is_empty() {
        // Whoever knows CEL can ask for them all.
        let rules = schema.rules.iter().map(|rule| rule.whole.clone());
        put("x-kubernetes-validations", rules.collect());
    }
    if schema.preserves_unknown {
        put("x-kubernetes-preserve-unknown-fields", true.into());
    }
    out.extend(schema.extensions.clone());
    out
}

fn limits(schema: &Schema, put: &mut impl FnMut(&str, Value)) {
    let limits = &schema.limits;
    // A whole number is written as one.
    let number = |number: f64| match serde_json::from_str(&number.to_string()) {
        Ok(value) => value,
        Err(_) => Value::from(number),
    };
    for (limit, excluded, plain, exclusive) in [
        (limits.minimum, limits.above, "minimum", "exclusiveMinimum"),
        (limits.maximum, limits.below, "maximum", "exclusiveMaximum"),
    ] {
        if let Some(limit) = limit {
            put(if excluded { exclusive } else { plain }, number(limit));
        }
    }
    if let Some(of) = limits.multiple_of {
        put("multipleOf", number(of));
    }
    for (word, count) in [
        ("minLength", limits.min_length),
        ("maxLength", limits.max_length),
        ("minItems", limits.min_items),
        ("maxItems", limits.max_items),
        ("minProperties", limits.min_properties),
        ("maxProperties", limits.max_properties),
    ] {
        if let Some(count) = count {
            put(word, count.into());
        }
    }
    if let Some(pattern) = &limits.pattern {
        put("pattern", pattern.clone().into());
    }
    if limits.unique {
        put("uniqueItems", true.into());
    }
}
