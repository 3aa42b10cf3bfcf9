//! One version of a definition → its structures.

use super::{
    SHARED,
    name::{field, variant},
};
use crate::{
    crd::{Definition, Version},
    metadata::OBJECT_META,
    schema::{Additional, Kind, Schema},
    shapes::{Shapes, Way},
    words::pascal,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

pub(super) fn module(definition: &Definition, version: &Version) -> String {
    let shapes = Shapes::of(&definition.kind, &version.schema);
    let mut printer = Printer { shapes, types: BTreeMap::new() };
    let whole = printer.structure(&version.schema, &definition.kind, &mut Vec::new());
    let types: Vec<String> = printer.types.into_values().collect();
    let text = format!("{whole}{}", types.concat());
    let mut out = String::new();
    let shared: Vec<&str> =
        ["IntOrString", OBJECT_META].into_iter().filter(|name| text.contains(name)).collect();
    let _ = writeln!(out, "use super::{SHARED}::{{{}}};", shared.join(", "));
    out.push_str("use serde::{Deserialize, Serialize};\n");
    if text.contains("BTreeMap<") {
        out.push_str("use std::collections::BTreeMap;\n");
    }
    let _ = write!(
        out,
        "\npub const API_VERSION: &str = {:?};\npub const KIND: &str = {:?};\n",
        format!("{}/{}", definition.group, version.name),
        definition.kind
    );
    out + &text
}

struct Printer {
    shapes: Shapes,
    /// The types of parts, by name.
    types: BTreeMap<String, String>,
}

impl Printer {
    fn structure(&mut self, schema: &Schema, name: &str, way: &mut Way) -> String {
        let mut out = String::from("\n");
        about(&mut out, &schema.description, "");
        let _ = write!(
            out,
            "#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]\npub struct {name} {{\n"
        );
        let top = way.is_empty();
        let mut taken = BTreeSet::new();
        if top {
            line(&mut out, "", "api_version", "apiVersion", "String", true);
            line(&mut out, "", "kind", "kind", "String", true);
            line(&mut out, "", "metadata", "metadata", OBJECT_META, true);
            taken.extend(["api_version", "kind", "metadata"].map(str::to_owned));
        }
        for one in &schema.fields {
            if top && ["apiVersion", "kind", "metadata"].contains(&one.name.as_str()) {
                continue;
            }
            way.push(one.name.clone());
            let kind = self.kind(&one.schema, name, &one.name, way);
            way.pop();
            let mut called = field(&one.name);
            while !taken.insert(called.clone()) {
                called.push('_');
            }
            let required = schema.is_required(&one.name) && !one.schema.nullable;
            line(&mut out, &one.schema.description, &called, &one.name, &kind, required);
        }
        if schema.preserves_unknown || !matches!(schema.additional, Additional::None) {
            out.push_str("    /// What the definition does not know.\n    #[serde(flatten)]\n");
            let mut called = "more".to_owned();
            while !taken.insert(called.clone()) {
                called.push('_');
            }
            let _ = writeln!(out, "    pub {called}: BTreeMap<String, serde_json::Value>,");
        }
        out.push_str("}\n");
        out
    }

    fn kind(&mut self, schema: &Schema, owner: &str, name: &str, way: &mut Way) -> String {
        if schema.is_block() {
            let part = self.shapes.name(way).to_owned();
            if !self.types.contains_key(&part) {
                // Its place is taken while it is printed.
                self.types.insert(part.clone(), String::new());
                let structure = self.structure(schema, &part, way);
                self.types.insert(part.clone(), structure);
            }
            return part;
        }
        match schema.kind {
            Kind::String if !schema.values.is_empty() => self.words(&schema.values, owner, name),
            Kind::String => "String".to_owned(),
            Kind::Boolean => "bool".to_owned(),
            Kind::Integer if schema.format == "int32" => "i32".to_owned(),
            Kind::Integer => "i64".to_owned(),
            Kind::Number => "f64".to_owned(),
            Kind::IntOrString => "IntOrString".to_owned(),
            Kind::Array => match &schema.items {
                Some(items) => format!("Vec<{}>", self.kind(items, owner, name, way)),
                None => "Vec<serde_json::Value>".to_owned(),
            },
            Kind::Object | Kind::Any => match &schema.additional {
                Additional::Like(value) => {
                    format!("BTreeMap<String, {}>", self.kind(value, owner, name, way))
                }
                Additional::Any => "BTreeMap<String, serde_json::Value>".to_owned(),
                Additional::None => "serde_json::Value".to_owned(),
            },
        }
    }

    /// A text that is one of some words; a plain text where two of them have the same name in Rust.
    fn words(&mut self, values: &[Value], owner: &str, name: &str) -> String {
        let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        let names: BTreeSet<String> = words.iter().map(|word| variant(word)).collect();
        if names.len() != values.len() {
            return "String".to_owned();
        }
        let mut called = format!("{owner}{}", pascal(name));
        let mut out = String::new();
        out.push_str("\n#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]\n");
        let mut body = String::new();
        for (place, word) in words.iter().enumerate() {
            if place == 0 {
                body.push_str("    #[default]\n");
            }
            let _ = write!(body, "    #[serde(rename = {word:?})]\n    {},\n", variant(word));
        }
        // A part may have that name already.
        while self.types.get(&called).is_some_and(|text| !text.contains(&body)) {
            called.push_str("Word");
        }
        let _ = write!(out, "pub enum {called} {{\n{body}}}\n");
        self.types.insert(called.clone(), out);
        called
    }
}

/// A field of a structure.
pub(super) fn line(out: &mut String, told: &str, called: &str, name: &str, kind: &str, required: bool) {
    about(out, told, "    ");
    let mut attributes = Vec::new();
    if called.trim_start_matches("r#") != name {
        attributes.push(format!("rename = {name:?}"));
    }
    if !required {
        attributes.push("default".to_owned());
        attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
    }
    if !attributes.is_empty() {
        let _ = writeln!(out, "    #[serde({})]", attributes.join(", "));
    }
    let kind = if required { kind.to_owned() } else { format!("Option<{kind}>") };
    let _ = writeln!(out, "    pub {called}: {kind},");
}

fn about(out: &mut String, told: &str, margin: &str) {
    for line in told.trim().lines() {
        let line = line.replace('\r', " ");
        let _ = writeln!(out, "{margin}///{}{}", if line.is_empty() { "" } else { " " }, line.trim_end());
    }
}
