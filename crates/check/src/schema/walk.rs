//! The walk of one object along its schema.
//!
//! Every check applies by what the value *is*, as the server's do: a string under an object's schema still counts
//! against `oneOf`. What the server drops before it looks (unknown fields, nulls that are not allowed) is passed by.
//! The walk is as deep as the schema, whatever the object.

use mizzen_text::At;
use serde_json::{Map, Number, Value};

use super::{
    Unknown,
    format::Format,
    list,
    node::{Additional, Kind, Limits, Node, Range},
};
use crate::Findings;

/// Which fields of a whole object are looked at; never those that have no schema of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    AllButStatus,
    Status,
}

pub(super) struct Walk<'f> {
    /// `None` while it is only asked whether an alternative fits.
    findings: Option<&'f mut Findings>,
    unknown: Unknown,
    /// In one of several schemas of a value (`allOf`, …), which lists the fields that it is about only.
    in_part: bool,
    failures: usize,
    /// Those after which a value cannot be trusted to be what its schema says.
    blocks: usize,
}

impl<'f> Walk<'f> {
    pub(super) fn new(findings: &'f mut Findings, unknown: Unknown) -> Self {
        Self { findings: Some(findings), unknown, in_part: false, failures: 0, blocks: 0 }
    }

    pub(super) fn fail(&mut self, at: &At<'_>, message: impl FnOnce() -> String) {
        self.failures += 1;
        if let Some(findings) = &mut self.findings {
            findings.error(at, message());
        }
    }

    /// The server looks at no rule any more after such a failure, anywhere; here at none around the place.
    fn block(&mut self, at: &At<'_>, message: impl FnOnce() -> String) {
        self.blocks += 1;
        self.fail(at, message);
    }

    /// A whole object, from its top.
    pub(super) fn object(&mut self, node: &Node, object: &Value, part: Part) {
        let Some(fields) = object.as_object() else { return };
        for (name, value) in fields {
            if matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let at = At::TOP.field(name);
            match node.field(name) {
                Some(_) if (name == "status") != (part == Part::Status) => {}
                Some(field) if field.drops(value) => {}
                Some(field) => self.value(field, value, &at),
                None => self.unknown(node, name, &at),
            }
        }
        if part == Part::AllButStatus {
            self.required(node, fields, &At::TOP);
        }
    }

    fn value(&mut self, node: &Node, value: &Value, at: &At<'_>) {
        let before = self.blocks;
        self.kind(node, value, at);
        if !node.values.is_empty() && !node.values.contains(value) {
            self.block(at, || format!("must be one of {}, not {}", listed(&node.values), shown(value)));
        }
        if value.is_null() {
            return;
        }
        self.alternatives(node, value, at);
        match value {
            Value::String(text) => self.text(node, text, at),
            Value::Number(number) => self.number(node, number, at),
            Value::Array(items) => self.array(node, items, at),
            Value::Object(fields) => self.map(node, fields, at),
            Value::Null | Value::Bool(_) => {}
        }
        // A rule trusts the types below it, and that there are not too many of anything.
        if self.blocks == before {
            for rule in node.rules.iter().filter(|rule| !rule.holds(value)) {
                self.fail(at, || rule.message().to_owned());
            }
        }
    }

    fn kind(&mut self, node: &Node, value: &Value, at: &At<'_>) {
        let Some(kind) = node.kind else { return };
        let fits = match (kind, value) {
            (_, Value::Null) => node.nullable,
            // The server does not look closer at the type of what has a string's format.
            (Kind::String, Value::Array(_)) => node.format.is_some(),
            (Kind::String, Value::String(_))
            | (Kind::Boolean, Value::Bool(_))
            | (Kind::Array, Value::Array(_))
            | (Kind::Object, Value::Object(_))
            | (Kind::Number, Value::Number(_))
            | (Kind::IntOrString, Value::String(_)) => true,
            (Kind::Integer | Kind::IntOrString, Value::Number(number)) => is_whole(number),
            _ => false,
        };
        if !fits {
            let advice = match (kind, value) {
                // YAML takes `yes`, `n` and `1.10` for something else than text.
                (Kind::String, Value::Bool(_) | Value::Number(_)) => {
                    "; text that looks like that goes in quotes"
                }
                _ => "",
            };
            self.block(at, || format!("must be {}, not {}{advice}", kind.name(), shown(value)));
        }
    }

    fn alternatives(&mut self, node: &Node, value: &Value, at: &At<'_>) {
        let outer = std::mem::replace(&mut self.in_part, true);
        for part in &node.all_of {
            self.value(part, value, at);
        }
        self.in_part = outer;
        if !node.any_of.is_empty() && !node.any_of.iter().any(|part| fits(part, value)) {
            self.fail(at, || format!("fits none of its {} alternatives", node.any_of.len()));
        }
        if !node.one_of.is_empty() && node.one_of.iter().filter(|part| fits(part, value)).count() != 1 {
            self.fail(at, || one_of_failed(&node.one_of, value));
        }
        if node.not.as_ref().is_some_and(|part| fits(part, value)) {
            self.fail(at, || "is what it must not be".to_owned());
        }
    }

    fn text(&mut self, node: &Node, text: &str, at: &At<'_>) {
        let Limits { length, pattern, .. } = &node.limits;
        // Bytes first: counting characters is only needed for what may be too short or too long.
        let count = || text.chars().count() as u64;
        if length.least.is_some() || length.most.is_some_and(|most| text.len() as u64 > most) {
            let before = self.failures;
            self.range(length, count(), "character", at);
            if self.failures > before {
                return;
            }
        }
        if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            self.fail(at, || format!("{} does not match {pattern}", shown(&Value::from(text))));
        }
        if let Some(wanted) = node.format.and_then(|format| format.refuses(text)) {
            self.block(at, || format!("must be {wanted}"));
        }
    }

    fn number(&mut self, node: &Node, number: &Number, at: &At<'_>) {
        let Some(value) = number.as_f64() else { return };
        if node.format.is_some_and(|format| !format.holds(value)) {
            let bits = if node.format == Some(Format::Int32) {
                "an integer of 32 bits"
            } else {
                "a float of 32 bits"
            };
            self.fail(at, || format!("must be {bits}, not {number}"));
        }
        let limits = &node.limits;
        if let Some(least) = limits.number.least {
            let exclusive = limits.above_minimum;
            if value < least || exclusive && value == least {
                let words = if exclusive { "more than" } else { "at least" };
                self.fail(at, || format!("must be {words} {least}, not {number}"));
            }
        }
        if let Some(most) = limits.number.most {
            let exclusive = limits.below_maximum;
            if value > most || exclusive && value == most {
                let words = if exclusive { "less than" } else { "at most" };
                self.fail(at, || format!("must be {words} {most}, not {number}"));
            }
        }
        if let Some(of) = limits.multiple_of.filter(|of| (value / of).fract() != 0.0) {
            self.fail(at, || format!("must be a multiple of {of}, not {number}"));
        }
    }

    fn array(&mut self, node: &Node, items: &[Value], at: &At<'_>) {
        if let Some(item) = &node.items {
            for (index, value) in items.iter().enumerate() {
                self.value(item, value, &at.index(index));
            }
        }
        self.range(&node.limits.items, items.len() as u64, "item", at);
        if node.limits.unique {
            list::check(&super::node::List::Set, items, at, self);
        }
        list::check(&node.list, items, at, self);
    }

    fn map(&mut self, node: &Node, fields: &Map<String, Value>, at: &At<'_>) {
        let mut kept = 0;
        for (name, value) in fields {
            let at = at.field(name);
            match node.under(name) {
                Some(field) if field.drops(value) => continue,
                Some(field) => self.value(field, value, &at),
                None if node.preserves_unknown || matches!(node.additional, Additional::Any) => {}
                None if self.in_part => {}
                None => {
                    self.unknown(node, name, &at);
                    continue;
                }
            }
            kept += 1;
        }
        self.range(&node.limits.properties, kept, "field", at);
        self.required(node, fields, at);
    }

    fn required(&mut self, node: &Node, fields: &Map<String, Value>, at: &At<'_>) {
        for name in &node.required {
            let there = fields.get(&**name);
            let there = there
                .is_some_and(|value| !node.under(name).map_or(value.is_null(), |node| node.drops(value)));
            if !there {
                self.block(&at.field(name), || "is required".to_owned());
            }
        }
    }

    fn unknown(&mut self, node: &Node, name: &str, at: &At<'_>) {
        // No failure of the schema: the object that the server checks does not have the field any more.
        if let Some(findings) = &mut self.findings {
            self.unknown.tell(name, node.field_names(), at, findings);
        }
    }

    fn range(&mut self, range: &Range<u64>, count: u64, what: &str, at: &At<'_>) {
        let many = |limit: u64| if limit == 1 { format!("1 {what}") } else { format!("{limit} {what}s") };
        match range {
            Range { most: Some(most), .. } if count > *most => {
                self.block(at, || format!("must have at most {}, has {count}", many(*most)));
            }
            Range { least: Some(least), .. } if count < *least => {
                self.fail(at, || format!("must have at least {}, has {count}", many(*least)));
            }
            _ => {}
        }
    }
}

fn fits(node: &Node, value: &Value) -> bool {
    let mut walk = Walk { findings: None, unknown: Unknown::Ignore, in_part: true, failures: 0, blocks: 0 };
    walk.value(node, value, &At::TOP);
    walk.failures == 0
}

/// Says which fields exclude each other where the alternatives are about fields, as Istio's are.
fn one_of_failed(parts: &[Node], value: &Value) -> String {
    let named = parts.iter().filter(|part| !part.required.is_empty() && fits(part, value));
    let names: Vec<_> = named.flat_map(|part| part.required.iter().map(|name| &**name)).collect();
    match names.as_slice() {
        [_, _, ..] if value.is_object() => format!("only one of {} can be set", names.join(", ")),
        _ => format!("must fit exactly one of its {} alternatives", parts.len()),
    }
}

/// A float without a fraction counts, as long as it is exact.
fn is_whole(number: &Number) -> bool {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    number.is_i64() || number.as_f64().is_some_and(|value| value.fract() == 0.0 && value.abs() <= EXACT)
}

fn listed(values: &[Value]) -> String {
    values
        .iter()
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A value in a message: short, and of one line.
fn shown(value: &Value) -> String {
    const ROOM: usize = 60;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
        Value::String(text) if text.chars().count() > ROOM => {
            format!("{}…", Value::from(text.chars().take(ROOM).collect::<String>()))
        }
        other => other.to_string(),
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Object => "a map",
            Self::Array => "a list",
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::IntOrString => "an integer or a string",
        }
    }
}
