//! Texts: their length, pattern and format.

use mizzen_text::At;
use regex::Regex;
use serde_json::Value;

use super::{Check, Findings, Schema, Unusable, format, objects::count, place, shown};

impl<'s> Check<'s> {
    pub(super) fn text(
        &mut self,
        keywords: Schema<'s>,
        text: &str,
        at: &At<'_>,
        findings: &mut Findings,
    ) -> Result<(), Unusable> {
        count(keywords, ["minLength", "maxLength"], text.chars().count(), "characters", at, findings);
        let value = || shown(&Value::from(text));
        if let Some(Value::String(pattern)) = keywords.get("pattern")
            && !self.pattern(pattern)?.is_match(text)
        {
            findings.push(format!("{} must match {pattern:?}, but is {}", place(at), value()));
        }
        // Later drafts only take note of it.
        if let Some(Value::String(name)) = keywords.get("format").filter(|_| self.draft < 2019)
            && !format::fits(name, text)
        {
            findings.push(format!("{} must have the format {name}, but is {}", place(at), value()));
        }
        Ok(())
    }

    pub(super) fn pattern(&mut self, pattern: &'s str) -> Result<Regex, Unusable> {
        if let Some(known) = self.patterns.get(pattern) {
            return Ok(known.clone());
        }
        let new = Regex::new(pattern).map_err(|_| {
            Unusable(format!(
                "values.schema.json: the pattern {pattern:?} cannot be read as a regular expression"
            ))
        })?;
        self.patterns.insert(pattern, new.clone());
        Ok(new)
    }
}
