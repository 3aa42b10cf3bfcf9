//! One value by one verb; maps and lists apply it to everything in them.

use super::{
    number,
    padding::Flags,
    quoted::{can_backquote, quoted},
};
use crate::{Failure, Host, Value};

pub(super) struct Printer<'h> {
    out: String,
    pub(super) flags: Flags,
    host: &'h mut dyn Host,
    /// How much of `out` is counted.
    counted: usize,
}

impl<'h> Printer<'h> {
    pub(super) fn new(host: &'h mut dyn Host) -> Self {
        Self { out: String::new(), flags: Flags::default(), host, counted: 0 }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), Failure> {
        self.out.push_str(text);
        // A value that holds another one many times prints exponentially: count while it grows.
        if self.out.len() - self.counted > 4096 { self.count() } else { Ok(()) }
    }

    fn count(&mut self) -> Result<(), Failure> {
        let bytes = self.out.len() - self.counted;
        self.counted = self.out.len();
        self.host.spend(bytes)
    }

    pub(super) fn finish(mut self) -> Result<String, Failure> {
        self.count()?;
        Ok(self.out)
    }

    /// A value that stands alone.
    pub(super) fn argument(&mut self, value: &Value, verb: char) -> Result<(), Failure> {
        match (value, verb) {
            (Value::Nil, 'v' | 'T') => {
                let text = self.flags.pad("<nil>".into());
                self.push(&text)
            }
            (Value::Nil, _) => self.push(&format!("%!{verb}(<nil>)")),
            (_, 'T') => {
                let name = value.type_name();
                let text = self.flags.pad(self.flags.cut(&name).to_owned());
                self.push(&text)
            }
            (Value::Map(_) | Value::List(_) | Value::Object(_), 'p') => {
                Err(Failure::new("%p prints an address, which is another one every time"))
            }
            // For errors, of which there are none here.
            (_, 'w') => {
                self.push(&format!("%!w({}=", value.type_name()))?;
                self.value(value, 'v', self.host.depth())?;
                self.push(")")
            }
            _ => self.value(value, verb, self.host.depth()),
        }
    }

    fn value(&mut self, value: &Value, verb: char, depth: usize) -> Result<(), Failure> {
        let Some(below) = depth.checked_sub(1) else {
            return Err(Failure::limit("the value is nested too deeply, or within itself"));
        };
        let text = match value {
            // In a list or map; alone it has been dealt with.
            Value::Nil if self.flags.syntax => Some("interface {}(nil)".into()),
            Value::Nil => Some("<nil>".into()),
            Value::Bool(bool) if matches!(verb, 't' | 'v') => Some(self.flags.pad(bool.to_string())),
            Value::Bool(_) => None,
            Value::Int(int) | Value::Int64(int) => number::integer(*int, verb, &self.flags),
            Value::Float(float) => number::float(*float, verb, &self.flags),
            Value::Text(text) => self.text(text, verb),
            Value::Object(object) => {
                let value = object.printed().unwrap_or_else(|| object.plain());
                return self.value(&value, verb, below);
            }
            Value::List(list) => {
                let kind = value.type_name();
                return self.many(&kind, "", list.iter().map(|item| (None, item.clone())), verb, below);
            }
            Value::Map(map) => {
                let kind = value.type_name();
                let entries = map.entries().into_iter().map(|(key, value)| (Some(key), value));
                return self.many(&kind, "map", entries, verb, below);
            }
        };
        match text {
            Some(text) => self.push(&text),
            None => {
                self.push(&format!("%!{verb}({}=", value.type_name()))?;
                self.value(value, 'v', below)?;
                self.push(")")
            }
        }
    }

    fn text(&self, text: &str, verb: char) -> Option<String> {
        let flags = &self.flags;
        Some(match verb {
            'v' if flags.syntax => flags.pad(quoted(flags.cut(text), '"', false)),
            'v' | 's' => flags.pad(flags.cut(text).to_owned()),
            'q' => {
                let text = flags.cut(text);
                if flags.sharp && can_backquote(text) {
                    flags.pad(format!("`{text}`"))
                } else {
                    flags.pad(quoted(text, '"', flags.plus))
                }
            }
            'x' | 'X' => flags.pad(self.bytes(text, verb == 'X')),
            _ => return None,
        })
    }

    fn bytes(&self, text: &str, upper: bool) -> String {
        let flags = &self.flags;
        let prefix = match (flags.sharp, upper) {
            (false, _) => "",
            (true, false) => "0x",
            (true, true) => "0X",
        };
        let shown = flags.precision.unwrap_or(usize::MAX);
        let bytes = text
            .bytes()
            .take(shown)
            .map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
        if flags.space {
            let bytes: Vec<_> = bytes.map(|byte| format!("{prefix}{byte}")).collect();
            return bytes.join(" ");
        }
        let bytes: String = bytes.collect();
        if bytes.is_empty() { bytes } else { format!("{prefix}{bytes}") }
    }

    /// A list or a map; of a map every item has its key.
    fn many(
        &mut self,
        kind: &str,
        word: &str,
        items: impl Iterator<Item = (Option<std::rc::Rc<str>>, Value)>,
        verb: char,
        depth: usize,
    ) -> Result<(), Failure> {
        let (open, between, close) =
            if self.flags.syntax { (format!("{kind}{{"), ", ", "}") } else { (format!("{word}["), " ", "]") };
        self.push(&open)?;
        for (index, (key, item)) in items.enumerate() {
            if index > 0 {
                self.push(between)?;
            }
            if let Some(key) = key {
                self.value(&Value::Text(key), verb, depth)?;
                self.push(":")?;
            }
            self.value(&item, verb, depth)?;
        }
        self.push(close)
    }
}
