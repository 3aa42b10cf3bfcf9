//! A map as TOML: first its plain keys, then its tables, each sorted; tables in tables are indented.

use crate::{
    Failure, Host, Map, Value,
    sprig::{
        budget::{self, Paid, below},
        print::float_text,
    },
};

pub(super) fn write(value: &Value, host: &mut dyn Host) -> Result<String, Failure> {
    // Lists are looked through before they are written.
    budget::pay_for(value, host)?;
    let depth = host.depth();
    let mut writer = Writer { out: Paid::new(host) };
    match value {
        Value::Nil => return Err(Failure::new("toml: there is nothing to write")),
        Value::Map(map) if map.is_nil() => {}
        Value::Map(map) => writer.entries(&mut Vec::new(), map, depth)?,
        Value::List(_) if is_tables(value, depth)? => {
            return Err(Failure::new("toml: top-level values must be Go maps or structs"));
        }
        other => writer.element(other, depth)?,
    }
    Ok(writer.out.text)
}

struct Writer<'h> {
    out: Paid<'h>,
}

impl Writer<'_> {
    fn line(&mut self) -> Result<(), Failure> {
        if self.out.text.is_empty() { Ok(()) } else { self.out.push("\n") }
    }

    fn indent(&mut self, path: &[String]) -> Result<(), Failure> {
        let blanks = " ".repeat(2 * path.len().saturating_sub(1));
        self.out.push(&blanks)
    }

    fn entries(&mut self, path: &mut Vec<String>, map: &Map, depth: usize) -> Result<(), Failure> {
        let below = below(depth)?;
        self.out.value()?;
        let (tables, plain) = split(map, depth)?;
        for (key, value) in plain {
            path.push(quoted_key(&key));
            self.indent(path)?;
            self.out.push(&quoted_key(&key))?;
            self.out.push(" = ")?;
            self.element(&value, below)?;
            self.line()?;
            path.pop();
        }
        for (key, value) in tables {
            path.push(quoted_key(&key));
            self.table(path, &value, below)?;
            path.pop();
        }
        Ok(())
    }

    fn table(&mut self, path: &mut Vec<String>, value: &Value, depth: usize) -> Result<(), Failure> {
        let name = path.join(".");
        match value {
            Value::List(list) => {
                for item in list.iter() {
                    let Value::Map(map) = item else { continue };
                    self.line()?;
                    self.indent(path)?;
                    self.out.push(&format!("[[{name}]]\n"))?;
                    self.entries(path, map, depth)?;
                }
                Ok(())
            }
            Value::Map(map) => {
                if path.len() == 1 {
                    self.line()?;
                }
                self.indent(path)?;
                self.out.push(&format!("[{name}]\n"))?;
                self.entries(path, map, depth)
            }
            _ => Ok(()),
        }
    }

    fn element(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        let below = below(depth)?;
        self.out.value()?;
        match value {
            Value::Nil => Err(nothing_in_a_list()),
            Value::Bool(bool) => self.out.push(if *bool { "true" } else { "false" }),
            Value::Int(int) | Value::Int64(int) => self.out.push(&int.to_string()),
            Value::Float(float) => self.out.push(&float_with_point(*float)),
            Value::Text(text) => self.out.push(&quoted(text)),
            Value::List(list) => {
                self.out.push("[")?;
                for (index, item) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push(", ")?;
                    }
                    self.element(item, below)?;
                }
                self.out.push("]")
            }
            Value::Map(map) => self.inline(map, depth),
            Value::Object(object) => self.element(&object.plain(), below),
        }
    }

    /// On one line. A comma follows every key but the last, also where the last is nothing and left out.
    fn inline(&mut self, map: &Map, depth: usize) -> Result<(), Failure> {
        let below = below(depth)?;
        let (tables, plain) = split_all(map, depth)?;
        self.out.push("{")?;
        let (last_plain, last) = (plain.len(), tables.len());
        let plain =
            plain.into_iter().enumerate().map(|(index, entry)| (entry, last > 0 || index + 1 < last_plain));
        let tables = tables.into_iter().enumerate().map(|(index, entry)| (entry, index + 1 < last));
        for ((key, value), comma) in plain.chain(tables) {
            if is_nothing(&value) {
                continue;
            }
            self.out.push(&quoted_key(&key))?;
            self.out.push(" = ")?;
            self.element(&value, below)?;
            if comma {
                self.out.push(", ")?;
            }
        }
        self.out.push("}")
    }
}

type Entries = Vec<(std::rc::Rc<str>, Value)>;

/// Tables and the rest, without what is nothing.
fn split(map: &Map, depth: usize) -> Result<(Entries, Entries), Failure> {
    let (mut tables, mut plain) = split_all(map, depth)?;
    tables.retain(|(_, value)| !is_nothing(value));
    plain.retain(|(_, value)| !is_nothing(value));
    Ok((tables, plain))
}

fn split_all(map: &Map, depth: usize) -> Result<(Entries, Entries), Failure> {
    let (mut tables, mut plain) = (Entries::new(), Entries::new());
    for (key, value) in map.entries() {
        let is_table = !is_nothing(&value) && is_tables(&value, depth)?;
        if is_table { &mut tables } else { &mut plain }.push((key, value));
    }
    Ok((tables, plain))
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Nil => true,
        Value::List(list) => list.is_nil(),
        Value::Map(map) => map.is_nil(),
        _ => false,
    }
}

/// A map, or a list of maps only. A list with nothing in it cannot be written.
fn is_tables(value: &Value, depth: usize) -> Result<bool, Failure> {
    let below = below(depth)?;
    match value {
        Value::Map(_) => Ok(true),
        Value::List(list) => {
            let mut all = !list.is_empty();
            for item in list.iter() {
                if is_nothing(item) {
                    return Err(nothing_in_a_list());
                }
                let nested_list = matches!(item, Value::List(_));
                all &= is_tables(item, below)? && !nested_list;
            }
            Ok(all)
        }
        _ => Ok(false),
    }
}

fn nothing_in_a_list() -> Failure {
    Failure::new("toml: cannot encode array with nil element")
}

fn float_with_point(float: f64) -> String {
    let text = float_text(float);
    match text.as_str() {
        "NaN" => "nan".into(),
        "+Inf" => "inf".into(),
        "-Inf" => "-inf".into(),
        plain if plain.contains(['.', 'e']) => text,
        plain => format!("{plain}.0"),
    }
}

fn quoted_key(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { quoted(key) }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\x0c' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
