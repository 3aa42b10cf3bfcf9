//! TOML out of values and back.

mod write;

use toml::{Table, Value as Toml};

use super::documents::map_or_error;
use crate::{Call, Failure, List, Map, Value, sprig::TableEntry};

pub(super) const TABLE: &[TableEntry] = &[
    // What cannot be written is the message of the error.
    ("toToml", |call| match write(call) {
        Err(failure) if !failure.limit && !matches!(call.args, [Value::Nil]) => Ok(failure.message.into()),
        other => other,
    }),
    ("mustToToml", write),
    ("fromToml", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        call.host.spend(text.len().saturating_mul(8))?;
        match text.parse::<Table>() {
            Ok(table) => map_or_error(value(&Toml::Table(table))),
            Err(error) => map_or_error(Err(Failure::new(format!("toml: {}", error.message())))),
        }
    }),
];

fn write(call: &mut Call<'_>) -> Result<Value, Failure> {
    if call.args.len() != 1 {
        call.exactly(1).map_err(|failure| Failure { limit: true, ..failure })?;
    }
    Ok(write::write(&call.any(0), call.host)?.into())
}

fn value(toml: &Toml) -> Result<Value, Failure> {
    Ok(match toml {
        Toml::String(text) => text.as_str().into(),
        Toml::Integer(int) => Value::Int64(*int),
        Toml::Float(float) => Value::Float(*float),
        Toml::Boolean(bool) => Value::Bool(*bool),
        Toml::Datetime(date) => {
            let message = format!("fromToml: the date {date} is not supported; write it as a string");
            return Err(Failure::limit(message));
        }
        Toml::Array(items) => List::new(items.iter().map(value).collect::<Result<_, _>>()?).into(),
        Toml::Table(table) => {
            let map = Map::new();
            for (key, toml) in table {
                map.insert(key.as_str(), value(toml)?);
            }
            map.into()
        }
    })
}
