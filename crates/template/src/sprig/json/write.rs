//! A value as JSON: sorted keys, whole floats without a fraction, and what HTML could stumble over escaped.

use crate::{
    Failure, Host, List, Map, Object, Value,
    sprig::budget::{Paid, below},
};

#[derive(Clone, Copy)]
pub(crate) struct Style {
    indented: bool,
    escape_html: bool,
}

impl Style {
    pub(crate) const COMPACT: Self = Self { indented: false, escape_html: true };
    pub(crate) const PRETTY: Self = Self { indented: true, escape_html: true };
    pub(crate) const RAW: Self = Self { indented: false, escape_html: false };
}

pub(crate) fn write(value: &Value, style: Style, host: &mut dyn Host) -> Result<String, Failure> {
    let depth = host.depth();
    let mut writer = Writer { out: Paid::new(host), style, column: 0 };
    writer.value(value, depth)?;
    Ok(writer.out.text)
}

struct Writer<'h> {
    out: Paid<'h>,
    style: Style,
    column: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        let below = below(depth)?;
        self.out.value()?;
        match value {
            Value::Nil => self.out.push("null"),
            Value::Bool(bool) => self.out.push(if *bool { "true" } else { "false" }),
            Value::Int(int) | Value::Int64(int) => self.out.push(&int.to_string()),
            Value::Float(float) => {
                let text = number(*float)?;
                self.out.push(&text)
            }
            Value::Text(text) => self.string(text),
            Value::List(list) if list.is_nil() => self.out.push("null"),
            Value::Map(map) if map.is_nil() => self.out.push("null"),
            Value::List(list) => {
                self.open("[")?;
                for (index, item) in list.iter().enumerate() {
                    self.next(index)?;
                    self.value(item, below)?;
                }
                self.close("]", list.is_empty())
            }
            Value::Map(map) => {
                self.open("{")?;
                let entries = map.entries();
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.next(index)?;
                    self.string(key)?;
                    self.out.push(if self.style.indented { ": " } else { ":" })?;
                    self.value(value, below)?;
                }
                self.close("}", entries.is_empty())
            }
            Value::Object(object) => self.value(&object_data(object.as_ref()), below),
        }
    }

    fn open(&mut self, bracket: &str) -> Result<(), Failure> {
        self.column += 2;
        self.out.push(bracket)
    }

    fn next(&mut self, index: usize) -> Result<(), Failure> {
        if index > 0 {
            self.out.push(",")?;
        }
        self.line()
    }

    fn close(&mut self, bracket: &str, empty: bool) -> Result<(), Failure> {
        self.column -= 2;
        if !empty {
            self.line()?;
        }
        self.out.push(bracket)
    }

    fn line(&mut self) -> Result<(), Failure> {
        if self.style.indented {
            self.out.push("\n")?;
            let blanks = " ".repeat(self.column);
            self.out.push(&blanks)?;
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Failure> {
        self.out.push("\"")?;
        let mut rest = text;
        while let Some((at, escape, length)) = self.escape(rest) {
            self.out.push(&rest[..at])?;
            self.out.push(&escape)?;
            rest = &rest[at + length..];
        }
        self.out.push(rest)?;
        self.out.push("\"")
    }

    /// The first character that cannot stand as it is: where, what instead, its length.
    fn escape(&self, text: &str) -> Option<(usize, String, usize)> {
        let html = self.style.escape_html;
        let at = text.bytes().position(|byte| match byte {
            0..=0x1f | b'"' | b'\\' | 0xe2 => true,
            b'<' | b'>' | b'&' => html,
            _ => false,
        })?;
        let character = text[at..].chars().next()?;
        let escape = match character {
            '"' => "\\\"".into(),
            '\\' => "\\\\".into(),
            '\n' => "\\n".into(),
            '\r' => "\\r".into(),
            '\t' => "\\t".into(),
            '\x08' => "\\b".into(),
            '\x0c' => "\\f".into(),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                format!("\\u{:04x}", u32::from(character))
            }
            other => other.to_string(),
        };
        Some((at, escape, character.len_utf8()))
    }
}

/// What an object is in a document.
fn object_data(object: &dyn Object) -> Value {
    object.field("MarshalJSON", &[]).ok().flatten().unwrap_or_else(|| object.plain())
}

/// A tree whose objects are replaced by what they are in a document.
pub(crate) fn data(value: &Value, depth: usize) -> Result<Value, Failure> {
    let below = below(depth)?;
    Ok(match value {
        Value::Object(object) => data(&object_data(object.as_ref()), below)?,
        Value::List(list) if !list.is_nil() => {
            List::new(list.iter().map(|item| data(item, below)).collect::<Result<_, _>>()?).into()
        }
        Value::Map(map) if !map.is_nil() => {
            let copy = Map::new();
            for (key, value) in map.entries() {
                copy.insert(key, data(&value, below)?);
            }
            copy.into()
        }
        other => other.clone(),
    })
}

/// The shortest digits that give the number again, with an exponent only where they would get long.
pub(crate) fn number(float: f64) -> Result<String, Failure> {
    if !float.is_finite() {
        let name = crate::sprig::print::float_text(float);
        return Err(Failure::new(format!("json: unsupported value: {name}")));
    }
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return Ok(format!("{float}"));
    }
    let text = format!("{float:e}");
    Ok(if size >= 1e21 { text.replacen('e', "e+", 1) } else { text })
}
