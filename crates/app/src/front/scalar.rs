//! Single values: text, words, numbers, true and false; and what is said where a value is of another type.

use super::{
    decode::{Decode, brief},
    shape::Syntax,
    syntax,
};
use crate::problem::On;
use mizzen_text::{At, Code, nearest};
use serde_json::Value;

impl Decode<'_> {
    pub(crate) fn text<'v>(&mut self, syntax: Syntax, value: &'v Value, at: &At<'_>) -> Option<&'v str> {
        let Some(text) = value.as_str() else { return self.wrong_type("text", value, at) };
        match syntax(text) {
            Ok(()) => Some(text),
            Err(predicate) => {
                let not = if text.is_empty() { String::new() } else { format!(", not `{}`", brief(text)) };
                self.refuse(Code::AppValue, at, On::Value, &format!("{predicate}{not}"));
                None
            }
        }
    }

    pub(crate) fn wrong_type<T>(&mut self, wanted: &str, value: &Value, at: &At<'_>) -> Option<T> {
        let is = match value {
            Value::Null => "nothing".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a map".to_owned(),
            Value::String(text) => format!("the text `{}`", brief(text)),
            other => format!("`{other}`"),
        };
        let problem = self.refuse(Code::AppType, at, On::Value, &format!("must be {wanted}, not {is}"));
        if wanted == "text" && (value.is_number() || value.is_boolean()) {
            // Not with the value: YAML takes `y` for true.
            problem.hint = Some("text that looks like that goes in quotes".to_owned());
        }
        None
    }

    pub(super) fn word<'w>(
        &mut self,
        words: impl Iterator<Item = (&'w str, &'w str)> + Clone,
        value: &Value,
        at: &At<'_>,
    ) -> Option<Value> {
        let text = self.text(syntax::any, value, at)?;
        if let Some((_, to)) = words.clone().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
            return Some(Value::from(to));
        }
        let all: Vec<&str> = words.map(|(word, _)| word).collect();
        let predicate = format!("must be one of {}, not `{}`", all.join(", "), brief(text));
        let hint = nearest(text, all).map(|word| format!("did you mean `{word}`?"));
        self.refuse(Code::AppWord, at, On::Value, &predicate).hint = hint;
        None
    }

    pub(super) fn whole(
        &mut self,
        least: i64,
        most: i64,
        hint: Option<&str>,
        value: &Value,
        at: &At<'_>,
    ) -> Option<i64> {
        // What no i64 holds is a whole number all the same, and out of every range here.
        let number = match value {
            Value::Number(number) if number.is_u64() || number.is_i64() => {
                number.as_i64().unwrap_or(i64::MAX)
            }
            _ => return self.wrong_type("a whole number", value, at),
        };
        if (least..=most).contains(&number) {
            return Some(number);
        }
        let predicate = format!("must be {}, not {value}", range(least, most));
        let problem = self.refuse(Code::AppValue, at, On::Value, &predicate);
        problem.hint = hint.filter(|_| number < least).map(str::to_owned);
        None
    }

    pub(super) fn number(&mut self, least: f64, most: f64, value: &Value, at: &At<'_>) -> Option<Value> {
        let Some(number) = value.as_f64() else { return self.wrong_type("a number", value, at) };
        if (least..=most).contains(&number) {
            return Some(value.clone());
        }
        self.refuse(Code::AppValue, at, On::Value, &format!("must be {least} to {most}, not {value}"));
        None
    }

    pub(super) fn truth(&mut self, value: &Value, at: &At<'_>) -> Option<bool> {
        value.as_bool().or_else(|| self.wrong_type("true or false", value, at))
    }

    /// What is not meant is not written: `false` would look like the opposite, and there is none.
    pub(super) fn said(&mut self, value: &Value, at: &At<'_>) -> Option<bool> {
        if self.truth(value, at)? {
            return Some(true);
        }
        self.refuse(Code::AppValue, at, On::Value, "must be true, the only value").hint =
            Some("remove the block with null, or say with `rules` what is allowed".to_owned());
        None
    }
}

fn range(least: i64, most: i64) -> String {
    match (least, most) {
        (least, i64::MAX) => format!("at least {least}"),
        (i64::MIN, most) => format!("at most {most}"),
        (least, most) => format!("{least} to {most}"),
    }
}
