//! JSON Schema for values: `values.schema.json` and a tree in, what does not fit out.
//!
//! Written here because the crates that do it bring some thirty others for addresses that no chart has. The drafts 4 to
//! 2020-12 as far as values can tell them apart; references stay within the file, and nothing is fetched. A schema is
//! somebody else's program as well: depth and steps are limited.

mod format;
mod numbers;
mod objects;
mod reference;
mod text;

use std::{collections::BTreeSet, collections::HashMap, fmt::Write};

use mizzen_text::At;
use regex::Regex;
use serde_json::{Map, Value};

use numbers::equal;

/// Schemas in each other, references included.
const DEPTH: usize = 200;
const STEPS: usize = 2_000_000;
/// Findings that are told.
const FINDINGS: usize = 50;

/// Why a schema cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unusable(pub String);

/// What of the values does not fit; nothing where all does.
pub(super) fn check(schema: &[u8], values: &Value) -> Result<Vec<String>, Unusable> {
    let root: Value = serde_json::from_slice(schema)
        .map_err(|error| Unusable(format!("values.schema.json is no JSON: {error}")))?;
    let mut check = Check {
        draft: draft(&root),
        tracks: mentions_unevaluated(&root),
        root: &root,
        patterns: HashMap::new(),
        steps: 0,
        depth: 0,
    };
    let mut findings = Vec::new();
    check.schema(&root, values, &At::TOP, &mut findings)?;
    findings.truncate(FINDINGS);
    Ok(findings)
}

/// 4, 6, 7, 2019 or 2020.
fn draft(root: &Value) -> u16 {
    let named = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let known = [("draft-04", 4), ("draft-06", 6), ("draft-07", 7), ("2019-09", 2019)];
    known.iter().find(|(name, _)| named.contains(name)).map_or(2020, |(_, draft)| *draft)
}

fn mentions_unevaluated(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.keys().any(|key| key.starts_with("unevaluated")) || map.values().any(mentions_unevaluated)
        }
        Value::Array(items) => items.iter().any(mentions_unevaluated),
        _ => false,
    }
}

struct Check<'s> {
    draft: u16,
    /// Whether anything asks what was looked at.
    tracks: bool,
    root: &'s Value,
    patterns: HashMap<&'s str, Regex>,
    steps: usize,
    depth: usize,
}

/// The keys and items of a value that some schema spoke of.
#[derive(Default)]
struct Seen {
    keys: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
        self.items.extend(other.items);
    }
}

type Findings = Vec<String>;
type Schema<'s> = &'s Map<String, Value>;

impl<'s> Check<'s> {
    fn schema(
        &mut self,
        schema: &'s Value,
        value: &Value,
        at: &At<'_>,
        findings: &mut Findings,
    ) -> Result<Seen, Unusable> {
        self.steps += 1;
        if self.steps > STEPS || self.depth >= DEPTH {
            return Err(Unusable(
                "values.schema.json takes too long to check, or refers to itself without end: simplify it"
                    .to_owned(),
            ));
        }
        let keywords = match schema {
            Value::Bool(true) => return Ok(Seen::default()),
            Value::Bool(false) => {
                findings.push(format!("{} is not allowed", place(at)));
                return Ok(Seen::default());
            }
            Value::Object(keywords) => keywords,
            other => return Err(Unusable(format!("values.schema.json: {other} is no schema"))),
        };
        self.depth += 1;
        let seen = self.keywords(keywords, value, at, findings);
        self.depth -= 1;
        seen
    }

    fn keywords(
        &mut self,
        keywords: Schema<'s>,
        value: &Value,
        at: &At<'_>,
        findings: &mut Findings,
    ) -> Result<Seen, Unusable> {
        let mut seen = Seen::default();
        for name in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(target) = keywords.get(name) {
                let target = reference::find(self.root, target)?;
                seen.add(self.schema(target, value, at, findings)?);
                if self.draft < 2019 {
                    return Ok(seen);
                }
            }
        }
        kind(keywords, value, at, findings)?;
        choice(keywords, value, at, findings);
        match value {
            Value::Object(map) => self.object(keywords, map, at, findings, &mut seen)?,
            Value::Array(items) => self.array(keywords, items, at, findings, &mut seen)?,
            Value::String(text) => self.text(keywords, text, at, findings)?,
            Value::Number(number) => numbers::check(keywords, number, at, findings),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(keywords, value, at, findings, &mut seen)?;
        self.unevaluated(keywords, value, at, findings, &mut seen)?;
        Ok(if self.tracks { seen } else { Seen::default() })
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`, `if`.
    fn combined(
        &mut self,
        keywords: Schema<'s>,
        value: &Value,
        at: &At<'_>,
        findings: &mut Findings,
        seen: &mut Seen,
    ) -> Result<(), Unusable> {
        for schema in list(keywords, "allOf")? {
            seen.add(self.schema(schema, value, at, findings)?);
        }
        for (name, exactly) in [("anyOf", false), ("oneOf", true)] {
            let choices = list(keywords, name)?;
            let mut fitting = 0;
            let mut misses = Vec::new();
            for schema in choices {
                let mut missed = Vec::new();
                let inner = self.schema(schema, value, at, &mut missed)?;
                if missed.is_empty() {
                    fitting += 1;
                    seen.add(inner);
                } else {
                    misses.extend(missed.into_iter().take(1));
                }
            }
            if !choices.is_empty() && fitting == 0 {
                let all = choices.len();
                findings.push(format!(
                    "{} fits none of {all} alternatives ({})",
                    place(at),
                    misses.join(", or ")
                ));
            } else if exactly && fitting > 1 {
                findings.push(format!("{} fits {fitting} alternatives, but must fit one only", place(at)));
            }
        }
        if let Some(schema) = keywords.get("not") {
            let mut missed = Vec::new();
            self.schema(schema, value, at, &mut missed)?;
            if missed.is_empty() {
                findings.push(format!("{} is what the schema excludes", place(at)));
            }
        }
        if let Some(schema) = keywords.get("if").filter(|_| self.draft >= 7) {
            let mut missed = Vec::new();
            let inner = self.schema(schema, value, at, &mut missed)?;
            let then = if missed.is_empty() { "then" } else { "else" };
            if missed.is_empty() {
                seen.add(inner);
            }
            if let Some(schema) = keywords.get(then) {
                seen.add(self.schema(schema, value, at, findings)?);
            }
        }
        Ok(())
    }
}

fn kind(keywords: Schema<'_>, value: &Value, at: &At<'_>, findings: &mut Findings) -> Result<(), Unusable> {
    let wanted: Vec<&str> = match keywords.get("type") {
        None => return Ok(()),
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(any)) => any.iter().filter_map(Value::as_str).collect(),
        Some(other) => return Err(Unusable(format!("values.schema.json: {other} is no type"))),
    };
    let is = |name: &&str| match *name {
        "integer" => value.as_number().is_some_and(numbers::whole),
        name => name == type_of(value),
    };
    if !wanted.iter().any(is) {
        let wanted = wanted.join(" or ");
        findings.push(format!("{} must be of type {wanted}, but is {}", place(at), shown(value)));
    }
    Ok(())
}

fn choice(keywords: Schema<'_>, value: &Value, at: &At<'_>, findings: &mut Findings) {
    if let Some(Value::Array(choices)) = keywords.get("enum")
        && !choices.iter().any(|choice| equal(choice, value))
    {
        let choices: Vec<String> = choices.iter().take(20).map(Value::to_string).collect();
        findings.push(format!(
            "{} must be one of {}, but is {}",
            place(at),
            choices.join(", "),
            shown(value)
        ));
    }
    if let Some(wanted) = keywords.get("const")
        && !equal(wanted, value)
    {
        findings.push(format!("{} must be {wanted}, but is {}", place(at), shown(value)));
    }
}

fn list<'s>(keywords: Schema<'s>, name: &str) -> Result<&'s [Value], Unusable> {
    match keywords.get(name) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(Unusable(format!("values.schema.json: {name} must be a list"))),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn place(at: &At<'_>) -> String {
    let path = at.path().to_string();
    if path.is_empty() { "the whole of the values".to_owned() } else { path }
}

/// Short enough for a sentence.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        other => {
            let mut text = other.to_string();
            if let Some((end, _)) = text.char_indices().nth(60) {
                text.truncate(end);
                let _ = write!(text, "…");
            }
            text
        }
    }
}

#[cfg(test)]
mod tests;
