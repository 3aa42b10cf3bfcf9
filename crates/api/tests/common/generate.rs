//! Specs made up from what fields a kind has: each along one chosen path, with other fields beside it by chance, in
//! the form in which Istio would write it (nothing that equals its default). The same seed gives the same spec.
#![allow(clippy::needless_pass_by_value, reason = "ways are made where they are used")]

use super::paths::{FieldPath, message_of};
use prost_reflect::{Cardinality, EnumDescriptor, FieldDescriptor, Kind as Type, MessageDescriptor};
use serde_json::{Map, Value, json};

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn text(&mut self) -> String {
        const ODD: &[&str] = &[
            "a",
            "istio.io/x",
            "true",
            "0",
            "1e3",
            "ä→𝄞",
            "line\nbreak",
            " \t",
            "\u{1}\"\\",
            "*.example.com",
        ];
        match self.below(3) {
            0 => ODD[self.below(ODD.len() as u64) as usize].to_owned(),
            _ => (0..=self.below(12)).map(|_| char::from(b'a' + self.below(26) as u8)).collect(),
        }
    }
}

/// A spec that has `path`, and the names of every path that it has.
pub(crate) fn spec(
    message: &MessageDescriptor,
    path: &FieldPath,
    random: &mut Random,
    reached: &mut Vec<String>,
) -> Value {
    self::message(message, path, String::new(), random, reached)
}

fn message(
    message: &MessageDescriptor,
    wanted: &[FieldDescriptor],
    way: String,
    random: &mut Random,
    reached: &mut Vec<String>,
) -> Value {
    let mut json = Map::new();
    let target = wanted.first();
    let mut arms: Vec<String> = target.and_then(arm).into_iter().collect();
    let mut add = |field: &FieldDescriptor,
                   rest: &[FieldDescriptor],
                   random: &mut Random,
                   reached: &mut Vec<String>| {
        let way = if way.is_empty() {
            field.json_name().to_owned()
        } else {
            format!("{way}.{}", field.json_name())
        };
        reached.push(way.clone());
        json.insert(field.json_name().to_owned(), value(field, rest, way, random, reached));
    };
    if let Some(field) = target {
        add(field, &wanted[1..], random, reached);
    }
    for field in message.fields() {
        let taken = arm(&field).is_some_and(|arm| arms.contains(&arm));
        if target == Some(&field) || taken || !random.one_in(6) {
            continue;
        }
        arms.extend(arm(&field));
        add(&field, &[], random, reached);
    }
    Value::Object(json)
}

/// The oneof that a field is an arm of.
fn arm(field: &FieldDescriptor) -> Option<String> {
    field.containing_oneof().filter(|oneof| !oneof.is_synthetic()).map(|oneof| oneof.full_name().to_owned())
}

fn value(
    field: &FieldDescriptor,
    rest: &[FieldDescriptor],
    way: String,
    random: &mut Random,
    reached: &mut Vec<String>,
) -> Value {
    let mut one = |random: &mut Random| match message_of(field) {
        Some(inner) => message(&inner, rest, way.clone(), random, reached),
        None => scalar(field, random),
    };
    if field.is_map() {
        let key = match field.kind() {
            Type::Message(entry) => entry.map_entry_key_field().kind(),
            kind => kind,
        };
        let mut entries = Map::new();
        for _ in 0..=random.below(2) {
            let name = if key == Type::String { random.text() } else { random.below(65_536).to_string() };
            entries.insert(name, one(random));
        }
        Value::Object(entries)
    } else if field.cardinality() == Cardinality::Repeated {
        (0..=random.below(2)).map(|_| one(random)).collect()
    } else {
        one(random)
    }
}

/// Never a default value, for such are not written.
fn scalar(field: &FieldDescriptor, random: &mut Random) -> Value {
    let kind = match field.kind() {
        Type::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    };
    match kind {
        Type::Bool => json!(true),
        Type::String => json!(random.text()),
        Type::Double | Type::Float => number((random.below(1_000) + 1) as f64 / 8.0),
        Type::Int32 | Type::Sint32 | Type::Sfixed32 => json!((random.below(1 << 31) as i32 - (1 << 30)) | 1),
        Type::Uint32 | Type::Fixed32 => json!(random.below(1 << 32) | 1),
        // 64 bits do not fit into a JSON number everywhere, so they are written as text.
        Type::Int64 | Type::Sint64 | Type::Sfixed64 => {
            json!(((random.below(1 << 53) as i64 - (1 << 52)) | 1).to_string())
        }
        Type::Uint64 | Type::Fixed64 => json!((random.below(1 << 53) | 1).to_string()),
        Type::Bytes => json!("aGVsbG8="),
        Type::Enum(names) => enumeration(&names, field.is_list(), random),
        Type::Message(known) => well_known(known.name(), random),
    }
}

fn enumeration(names: &EnumDescriptor, zero: bool, random: &mut Random) -> Value {
    let values: Vec<_> = names.values().filter(|value| zero || value.number() != 0).collect();
    let at = random.below(values.len().max(1) as u64) as usize;
    values.get(at).map_or(Value::Null, |value| json!(value.name()))
}

fn well_known(name: &str, random: &mut Random) -> Value {
    match name {
        "BoolValue" => json!(random.one_in(2)),
        "Int32Value" | "UInt32Value" => json!(random.below(1 << 31)),
        "Int64Value" | "UInt64Value" => json!(random.below(1 << 31).to_string()),
        "DoubleValue" | "FloatValue" => number(random.below(100) as f64 / 4.0),
        "StringValue" => json!(random.text()),
        "Duration" => {
            let millis = random.below(100_000_000);
            let (seconds, part) = (millis / 1_000, millis % 1_000);
            json!(if part == 0 { format!("{seconds}s") } else { format!("{seconds}.{part:03}s") })
        }
        "Timestamp" => json!(format!("2026-01-{:02}T00:00:00Z", random.below(28) + 1)),
        "Struct" => json!({ random.text(): free_form(random, 0) }),
        "Value" => free_form(random, 0),
        "ListValue" => json!([free_form(random, 0)]),
        other => panic!("no value is known for google.protobuf.{other}"),
    }
}

fn free_form(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 3 { 4 } else { 6 }) {
        0 => Value::Null,
        1 => json!(random.one_in(2)),
        2 => number(random.below(1 << 40) as f64 / 4.0),
        3 => json!(random.text()),
        4 => (0..random.below(3)).map(|_| free_form(random, depth + 1)).collect(),
        _ => json!({ random.text(): free_form(random, depth + 1) }),
    }
}

/// A whole number is written without a fraction.
fn number(float: f64) -> Value {
    if float.fract() == 0.0 { json!(float as i64) } else { json!(float) }
}
