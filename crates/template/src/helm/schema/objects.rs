//! Objects and arrays: what their keys and items must be.

use std::collections::BTreeSet;

use mizzen_text::{At, nearest};
use serde_json::{Map, Value};

use super::{Check, Findings, Schema, Seen, Unusable, list, numbers::canonical, place};

impl<'s> Check<'s> {
    pub(super) fn object(
        &mut self,
        keywords: Schema<'s>,
        map: &Map<String, Value>,
        at: &At<'_>,
        findings: &mut Findings,
        seen: &mut Seen,
    ) -> Result<(), Unusable> {
        count(keywords, ["minProperties", "maxProperties"], map.len(), "keys", at, findings);
        for name in list(keywords, "required").unwrap_or_default().iter().filter_map(Value::as_str) {
            if !map.contains_key(name) {
                findings.push(format!("{} needs the key {name:?}", place(at)));
            }
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        for (key, value) in map {
            let below = at.field(key);
            let mut known = false;
            if let Some(schema) = properties.and_then(|properties| properties.get(key)) {
                known = true;
                self.schema(schema, value, &below, findings)?;
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if self.pattern(pattern)?.is_match(key) {
                    known = true;
                    self.schema(schema, value, &below, findings)?;
                }
            }
            match keywords.get("additionalProperties").filter(|_| !known) {
                None => {}
                Some(Value::Bool(false)) => {
                    let names = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                    findings.push(unknown_key(at, key, names));
                }
                Some(schema) => {
                    known = true;
                    self.schema(schema, value, &below, findings)?;
                }
            }
            if known {
                seen.keys.insert(key.clone());
            }
            if let Some(schema) = keywords.get("propertyNames") {
                self.schema(schema, &Value::from(key.as_str()), &below, findings)?;
            }
        }
        self.dependent(keywords, map, at, findings, seen)
    }

    fn dependent(
        &mut self,
        keywords: Schema<'s>,
        map: &Map<String, Value>,
        at: &At<'_>,
        findings: &mut Findings,
        seen: &mut Seen,
    ) -> Result<(), Unusable> {
        for name in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (key, wanted) in keywords.get(name).and_then(Value::as_object).into_iter().flatten() {
                if !map.contains_key(key) {
                    continue;
                }
                if let Value::Array(wanted) = wanted {
                    for wanted in wanted.iter().filter_map(Value::as_str) {
                        if !map.contains_key(wanted) {
                            findings
                                .push(format!("{} has {key:?} and so needs the key {wanted:?}", place(at)));
                        }
                    }
                } else {
                    seen.add(self.schema(wanted, &Value::Object(map.clone()), at, findings)?);
                }
            }
        }
        Ok(())
    }

    pub(super) fn array(
        &mut self,
        keywords: Schema<'s>,
        items: &[Value],
        at: &At<'_>,
        findings: &mut Findings,
        seen: &mut Seen,
    ) -> Result<(), Unusable> {
        count(keywords, ["minItems", "maxItems"], items.len(), "items", at, findings);
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut all = BTreeSet::new();
            if let Some(twice) = items.iter().position(|item| !all.insert(canonical(item))) {
                findings.push(format!("{} may have no item twice, but item {twice} is one", place(at)));
            }
        }
        // Up to 2019 a list of schemas stood in `items`, and the one for the rest in `additionalItems`.
        let (first, rest) = match keywords.get("items") {
            Some(Value::Array(first)) => (first.as_slice(), keywords.get("additionalItems")),
            other => (list(keywords, "prefixItems")?, other),
        };
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                seen.items.insert(index);
                self.schema(schema, item, &at.index(index), findings)?;
            }
        }
        self.contains(keywords, items, at, findings, seen)
    }

    fn contains(
        &mut self,
        keywords: Schema<'s>,
        items: &[Value],
        at: &At<'_>,
        findings: &mut Findings,
        seen: &mut Seen,
    ) -> Result<(), Unusable> {
        let Some(schema) = keywords.get("contains").filter(|_| self.draft > 4) else { return Ok(()) };
        let mut fitting = 0;
        for (index, item) in items.iter().enumerate() {
            let mut missed = Vec::new();
            self.schema(schema, item, &at.index(index), &mut missed)?;
            if missed.is_empty() {
                fitting += 1;
                seen.items.insert(index);
            }
        }
        let bound = |name: &str| keywords.get(name).and_then(Value::as_u64).filter(|_| self.draft >= 2019);
        let (least, most) = (bound("minContains").unwrap_or(1), bound("maxContains").unwrap_or(u64::MAX));
        if fitting < least || fitting > most {
            findings.push(format!("{} has {fitting} items of the kind that the schema counts", place(at)));
        }
        Ok(())
    }

    /// What nothing else spoke of.
    pub(super) fn unevaluated(
        &mut self,
        keywords: Schema<'s>,
        value: &Value,
        at: &At<'_>,
        findings: &mut Findings,
        seen: &mut Seen,
    ) -> Result<(), Unusable> {
        if let (Some(schema), Value::Object(map)) = (keywords.get("unevaluatedProperties"), value) {
            for (key, value) in map.iter().filter(|(key, _)| !seen.keys.contains(*key)).collect::<Vec<_>>() {
                if *schema == Value::Bool(false) {
                    findings.push(unknown_key(at, key, seen.keys.iter().map(String::as_str)));
                } else {
                    self.schema(schema, value, &at.field(key), findings)?;
                }
            }
            seen.keys.extend(map.keys().cloned());
        }
        if let (Some(schema), Value::Array(items)) = (keywords.get("unevaluatedItems"), value) {
            for (index, item) in items.iter().enumerate() {
                if !seen.items.contains(&index) {
                    self.schema(schema, item, &at.index(index), findings)?;
                }
            }
            seen.items.extend(0..items.len());
        }
        Ok(())
    }
}

fn unknown_key<'k>(at: &At<'_>, key: &'k str, names: impl Iterator<Item = &'k str>) -> String {
    let hint = nearest(key, names).map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
    format!("{} is not a known key{hint}", place(&at.field(key)))
}

/// `minItems` and its likes.
pub(super) fn count(
    keywords: Schema<'_>,
    [least, most]: [&str; 2],
    number: usize,
    of: &str,
    at: &At<'_>,
    findings: &mut Findings,
) {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
    #[expect(clippy::cast_precision_loss, reason = "nothing here has 2^52 parts")]
    let size = number as f64;
    if let Some(least) = bound(least).filter(|least| size < *least) {
        findings.push(format!("{} must have at least {least} {of}, but has {number}", place(at)));
    }
    if let Some(most) = bound(most).filter(|most| size > *most) {
        findings.push(format!("{} must have at most {most} {of}, but has {number}", place(at)));
    }
}
