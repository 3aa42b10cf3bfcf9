//! A walk over JSON along [`Shapes`]: what is unknown and what is of the wrong type, as Go's decoders see it.
//!
//! Three of them read an IstioOperator, and differ in what they forgive. None minds a null, anywhere.

use mizzen_text::{At, nearest};
use serde_json::{Map, Number, Value};

use super::{Findings, scalar};
use crate::shapes::{Field, Shape, Shapes, Struct};

/// Which decoder reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Go's own, of the document itself: names in any case, and no text for a number or the other way round.
    Go,
    /// The same behind Kubernetes' YAML reader, of Kubernetes' types within the values: a number is a text where a text is
    /// wanted.
    Yaml,
    /// That of protocol buffers, of the values: either spelling of a name, and a number may be in quotes.
    Proto,
}

pub(super) struct Decode<'f> {
    shapes: &'static Shapes,
    dialect: Dialect,
    found: &'f mut Findings,
}

impl<'f> Decode<'f> {
    pub(super) fn new(shapes: &'static Shapes, dialect: Dialect, found: &'f mut Findings) -> Self {
        Self { shapes, dialect, found }
    }

    /// A value that must be a map with a struct's fields.
    pub(super) fn map(&mut self, value: &Value, shape: &Struct, at: &At<'_>) {
        let fields = match value {
            Value::Null => return,
            Value::Object(fields) => fields,
            other => return self.wrong(at, "a map", other),
        };
        for (name, value) in fields {
            let at = at.field(name);
            match self.field(shape, name) {
                Some(field) => {
                    self.spelling(fields, field, name, &at);
                    if field.older.as_deref() == Some(name) && fields.contains_key(&field.name) {
                        // The newer spelling stands beside it and counts.
                        continue;
                    }
                    let before = self.dialect;
                    // The reader loses sight of the types below fields that Go has in an inner struct.
                    if before == Dialect::Yaml && shape.name == "core.v1.Volume" && name != "name" {
                        self.dialect = Dialect::Go;
                    }
                    self.value(value, &field.shape, &at);
                    self.dialect = before;
                }
                None => self.unknown(shape, name, &at),
            }
        }
    }

    fn field<'s>(&self, shape: &'s Struct, name: &str) -> Option<&'s Field> {
        match self.dialect {
            Dialect::Go | Dialect::Yaml => shape.field(name),
            Dialect::Proto => {
                shape.fields.iter().find(|field| field.name == name || field.older.as_deref() == Some(name))
            }
        }
    }

    /// Go's decoder takes `Profile` for `profile`, and then nobody looks at it.
    fn spelling(&mut self, fields: &Map<String, Value>, field: &Field, name: &str, at: &At<'_>) {
        if self.dialect != Dialect::Proto && field.name != name && !fields.contains_key(&field.name) {
            let message = format!("`{name}` has no effect: the field is called `{}`", field.name);
            self.found.warning(at, message, Some(format!("write `{}`", field.name)));
        }
    }

    fn unknown(&mut self, shape: &Struct, name: &str, at: &At<'_>) {
        let message = format!("unknown field `{name}`");
        match nearest(name, shape.fields.iter().map(|field| field.name.as_str())) {
            Some(meant) => self.found.error_with_hint(at, message, format!("did you mean `{meant}`?")),
            None => self.found.error(at, message),
        }
    }

    fn wrong(&mut self, at: &At<'_>, wanted: &str, value: &Value) {
        let message = format!("must be {wanted}, not {}", scalar::named(value));
        match (wanted, value) {
            ("a text", Value::Number(_) | Value::Bool(_)) => {
                self.found.error_with_hint(at, message, "put it in quotes");
            }
            _ => self.found.error(at, message),
        }
    }

    fn value(&mut self, value: &Value, shape: &Shape, at: &At<'_>) {
        if value.is_null() {
            return;
        }
        let wanted = match (shape, value) {
            (Shape::Any, _)
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Text, Value::String(_))
            | (Shape::Float, Value::Number(_))
            | (Shape::Object, Value::Object(_)) => return,
            (Shape::Text, Value::Number(_) | Value::Bool(_)) if self.dialect == Dialect::Yaml => return,
            (Shape::Bool, _) => "true or false",
            (Shape::Text, _) => "a text",
            (Shape::Float, Value::String(text)) if self.quoted(text, |number| number.as_f64().is_some()) => {
                return;
            }
            (Shape::Float, Value::String(text))
                if self.dialect == Dialect::Proto
                    && matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") =>
            {
                return;
            }
            (Shape::Float, _) => "a number",
            (Shape::Object, _) => "a map",
            (Shape::Int(bits), _) if self.whole(value, |whole| scalar::fits(whole, true, *bits)) => return,
            (Shape::Int(_), _) => "a whole number",
            (Shape::Uint(bits), _) if self.whole(value, |whole| scalar::fits(whole, false, *bits)) => return,
            (Shape::Uint(_), _) => "a whole number that is not negative",
            (Shape::Bytes, Value::String(text)) if scalar::is_base64(text) => return,
            (Shape::Bytes, _) => "a text in base64",
            (Shape::Quantity, Value::String(text)) if scalar::is_quantity(text.trim()) => return,
            (Shape::Quantity, Value::Number(number)) if scalar::is_quantity(&scalar::printed(number)) => {
                return;
            }
            (Shape::Quantity, _) => "a quantity such as 100m, 0.5 or 1Gi",
            (Shape::IntOrString, Value::String(_)) => return,
            (Shape::IntOrString, Value::Number(number)) if scalar::fits(scalar::whole(number), true, 32) => {
                return;
            }
            (Shape::IntOrString, _) => "a whole number or a text",
            (Shape::Time, Value::String(text)) if scalar::is_time(text) => return,
            (Shape::Time, _) => "a time such as 2006-01-02T15:04:05Z",
            (Shape::Duration, Value::String(text)) if scalar::is_duration(text) => return,
            (Shape::Duration, _) => "a duration such as 30s or 1h",
            (Shape::Word(words), value) => return self.word(words, value, at),
            (Shape::List(item), Value::Array(items)) => {
                for (index, value) in items.iter().enumerate() {
                    self.value(value, item, &at.index(index));
                }
                return;
            }
            (Shape::List(_), _) => "a list",
            (Shape::Map(inner), Value::Object(fields)) => {
                for (name, value) in fields {
                    self.value(value, inner, &at.field(name));
                }
                return;
            }
            (Shape::Map(_), _) => "a map",
            (Shape::Struct(number), value) => {
                if let Some(shape) = self.shapes.get(*number) {
                    self.map(value, shape, at);
                }
                return;
            }
        };
        self.wrong(at, wanted, value);
    }

    fn whole(&self, value: &Value, fits: impl Fn(Option<i128>) -> bool) -> bool {
        match value {
            Value::Number(number) => fits(scalar::whole(number)),
            Value::String(text) => self.quoted(text, |number| fits(scalar::whole_as_written(number, text))),
            _ => false,
        }
    }

    /// Protocol buffers read a number in quotes.
    fn quoted(&self, text: &str, accepted: impl Fn(&Number) -> bool) -> bool {
        // Null and blanks are JSON, too.
        self.dialect == Dialect::Proto
            && (text.trim() == "null"
                || serde_json::from_str::<Number>(text).is_ok_and(|number| accepted(&number)))
    }

    fn word(&mut self, words: &[String], value: &Value, at: &At<'_>) {
        let named = match value {
            Value::String(word) if words.contains(word) => return,
            Value::Number(number) if scalar::fits(scalar::whole(number), true, 32) => return,
            Value::String(word) => format!("`{word}`"),
            other => scalar::named(other).to_owned(),
        };
        let message = format!("must be one of {}, not {named}", words.join(", "));
        let meant = value.as_str().and_then(|word| nearest(word, words.iter().map(String::as_str)));
        match meant {
            Some(meant) => self.found.error_with_hint(at, message, format!("did you mean `{meant}`?")),
            None => self.found.error(at, message),
        }
    }
}
