//! One version of a definition → a file: the kind's own schema, then those of its parts by name.

use super::{
    Names, SHARED, Style,
    declaration::{Attribute, DURATION, Declaration, REGEX, head},
    group, limits, rule,
    value::{identifier, literal},
};
use crate::{
    crd::{Definition, Version},
    metadata::{API_VERSION, KIND, OBJECT_META},
    names,
    schema::{Additional, Kind, Schema},
    shapes::{Shapes, Way},
    words::{human, pascal},
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn file(definition: &Definition, version: &Version, style: Style) -> String {
    let whole = names::whole(definition, version);
    let shapes = (style.names == Names::Short).then(|| Shapes::of(&definition.kind, &version.schema));
    let mut printer = Printer { style, shapes, within: 0, parts: BTreeMap::new() };
    let mut root = printer.block(&version.schema, &whole, &mut Vec::new(), Some((definition, version)));
    root.name.clone_from(&definition.kind);
    let mut declarations = vec![root];
    declarations.extend(printer.parts.into_values());
    let text: String = declarations.iter().map(ToString::to_string).collect();
    let lasts = text.contains("_duration(");
    let regex = text.contains("_regex_match(") || lasts || limits::has_pattern(&version.schema);
    let mut imports = vec![SHARED];
    if regex {
        imports.insert(0, "regex");
    }
    let more = [(regex, REGEX), (lasts, DURATION)].map(|(is, line)| if is { line } else { "" }).concat();
    head(None, &imports, &more) + &text
}

struct Printer {
    style: Style,
    shapes: Option<Shapes>,
    /// How many lists and maps are around what is printed.
    within: usize,
    /// The schemas of parts, by name.
    parts: BTreeMap<String, Declaration>,
}

impl Printer {
    /// A map with fields of its own. `name` is what it is called, `top` that of the whole object.
    fn block(
        &mut self,
        schema: &Schema,
        name: &str,
        way: &mut Way,
        top: Option<(&Definition, &Version)>,
    ) -> Declaration {
        let exact = self.style.exact;
        // Those that have a schema of their own come last: in kcl-openapi references lose their place, except below
        // lists and maps, where nothing has one and all go by name.
        let mut plain = Vec::new();
        let mut parts = Vec::new();
        let mut checks = Vec::new();
        let mut checked = Vec::new();
        if let Some((definition, version)) = top {
            let constant = |name: &str, value: &str, about: &str| {
                let own = schema.fields.iter().find(|field| field.name == name);
                let own = own.map(|field| field.schema.description.as_str()).filter(|text| !text.is_empty());
                let value = literal(&value.into(), exact);
                Attribute {
                    exactly: Some(value.clone()),
                    default: Some(value),
                    default_told: true,
                    required: true,
                    ..Attribute::new(name, "str", own.unwrap_or(about))
                }
            };
            let group = format!("{}/{}", definition.group, version.name);
            plain.push(("apiVersion".to_owned(), constant("apiVersion", &group, API_VERSION)));
            plain.push(("kind".to_owned(), constant("kind", &definition.kind, KIND)));
            let metadata = format!("v1.{OBJECT_META}");
            let required = schema.is_required("metadata");
            let attribute = Attribute { required, ..Attribute::new("metadata", &metadata, "metadata") };
            parts.push(("metadata".to_owned(), attribute));
        }
        for field in &schema.fields {
            if top.is_some() && ["apiVersion", "kind", "metadata"].contains(&field.name.as_str()) {
                continue;
            }
            way.push(field.name.clone());
            let inner = &field.schema;
            let required = schema.is_required(&field.name);
            let named = identifier(&field.name, exact);
            if inner.is_block() {
                let long = pascal(&format!("{name}{}", pascal(&field.name)));
                let part = self.part(inner, long, way);
                let about = human(&field.name);
                let attribute = Attribute { required, ..Attribute::new(&named, &part, &about) };
                parts.push((field.name.clone(), attribute));
            } else {
                let kind = self.kind(inner, name, &field.name, way);
                let attribute = self.attribute(inner, &named, &kind, &field.name, required);
                plain.push((field.name.clone(), attribute));
                checked.push((inner, named.clone(), required));
            }
            way.pop();
            if !exact && !named.starts_with('"') {
                let inner_checks = rule::lines(inner, &named, required);
                checks.push((field.name.clone(), inner_checks));
            }
        }
        if self.within > 0 {
            plain.append(&mut parts);
        }
        plain.sort_by(|one, other| one.0.cmp(&other.0));
        parts.sort_by(|one, other| one.0.cmp(&other.0));
        let mut lines = Vec::new();
        if checked.iter().any(|(inner, ..)| limits::any(inner)) {
            for (inner, named, required) in &checked {
                if named.starts_with('"') {
                    if limits::looked_at(inner) {
                        lines.push(format!("True  # Skip validations for {named}"));
                    }
                } else {
                    lines.extend(limits::lines(inner, named, *required, exact));
                }
            }
        }
        if !exact {
            lines.extend(group::lines(schema));
            lines.extend(rule::own_lines(schema));
            lines.extend(checks.into_iter().flat_map(|(_, lines)| lines));
        }
        let about = self.words(&schema.description);
        Declaration {
            name: name.to_owned(),
            about: if about.is_empty() { human(name) } else { about },
            attributes: plain.into_iter().chain(parts).map(|(_, attribute)| attribute).collect(),
            open: !exact && (schema.preserves_unknown || !matches!(schema.additional, Additional::None)),
            checks: lines,
        }
    }

    fn attribute(&self, schema: &Schema, named: &str, kind: &str, name: &str, required: bool) -> Attribute {
        let exact = self.style.exact;
        let words: Vec<String> = schema
            .values
            .iter()
            .filter(|value| !value.is_null())
            .map(|value| literal(value, exact))
            .collect();
        let about = match (schema.title.as_str(), schema.description.as_str()) {
            ("", "") => human(name),
            ("", description) => self.words(description),
            (title, description) => self.words(&format!("{title}{description}")),
        };
        Attribute {
            exactly: (!words.is_empty()).then(|| words.join(" | ")),
            required,
            default: schema.default.as_ref().map(|value| literal(value, exact)),
            default_told: schema.default.as_ref().is_some_and(|value| !is_nothing(value)),
            ..Attribute::new(named, kind, &about)
        }
    }

    /// The type of a value that has no fields of its own; `owner` is the schema that it is in.
    fn kind(&mut self, schema: &Schema, owner: &str, name: &str, way: &mut Way) -> String {
        if let Some(kind) = by_format(schema) {
            return kind.to_owned();
        }
        match schema.kind {
            Kind::String => "str".to_owned(),
            Kind::Boolean => "bool".to_owned(),
            Kind::Integer => "int".to_owned(),
            Kind::Number => "float".to_owned(),
            Kind::IntOrString => "int | str".to_owned(),
            Kind::Array => match &schema.items {
                None => "[any]".to_owned(),
                Some(items) => {
                    let kind = self.inner(items, owner, name, "items0", way);
                    format!("[{kind}]")
                }
            },
            Kind::Object | Kind::Any => match &schema.additional {
                Additional::None => "any".to_owned(),
                Additional::Any => "{str:any}".to_owned(),
                Additional::Like(value) => {
                    let kind = self.inner(value, owner, name, "Anon", way);
                    format!("{{str:{kind}}}")
                }
            },
        }
    }

    /// The type of what is in a list or a map.
    fn inner(&mut self, schema: &Schema, owner: &str, name: &str, ending: &str, way: &mut Way) -> String {
        if !schema.is_block() {
            let kind = self.kind(schema, owner, name, way);
            let words: Vec<String> = schema.values.iter().map(|value| literal(value, false)).collect();
            return if self.style.exact || words.is_empty() { kind } else { words.join(" | ") };
        }
        let long = pascal(&format!("{owner} {}", pascal(&format!("{name} {ending}"))));
        self.within += 1;
        let part = self.part(schema, long, way);
        self.within -= 1;
        part
    }

    /// The name of a part that has a schema of its own, which is printed where it is not yet.
    fn part(&mut self, schema: &Schema, long: String, way: &mut Way) -> String {
        let name = match &self.shapes {
            Some(shapes) => shapes.name(way).to_owned(),
            None => self.free(long),
        };
        if !self.parts.contains_key(&name) {
            // Its name is taken while it is printed.
            self.parts.insert(name.clone(), Declaration::default());
            let declaration = self.block(schema, &name, way, None);
            self.parts.insert(name.clone(), declaration);
        }
        name
    }

    /// A long name that no other part has: `jwksUri` and `jwks_uri` are the same words. In kcl-openapi one of them is lost.
    fn free(&self, long: String) -> String {
        let mut name = long;
        while !self.style.exact && self.parts.contains_key(&name) {
            name.push('_');
        }
        name
    }

    /// A definition's own words, which must not end the text that they stand in.
    fn words(&self, text: &str) -> String {
        let text = text.trim_matches('\u{feff}');
        if self.style.exact { text.to_owned() } else { text.replace("\"\"\"", "'''").replace('\r', "") }
    }
}

fn by_format(schema: &Schema) -> Option<&'static str> {
    let format = schema.format.replace('-', "");
    match (schema.kind, format.as_str()) {
        (Kind::Number | Kind::Integer, "int" | "int8" | "int16" | "int32") => Some("int"),
        (Kind::Number, "float") => Some("float"),
        (_, "intorstring") => Some("int | str"),
        (_, "string") => Some("str"),
        (_, "boolean") => Some("bool"),
        (_, "integer") => Some("int"),
        (_, "number") => Some("float"),
        _ => None,
    }
}

/// What a Go template takes for nothing.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}
