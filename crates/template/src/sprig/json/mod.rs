//! JSON as Go's `encoding/json` writes and reads it.

pub(crate) mod read;
pub(crate) mod write;

use super::TableEntry;
use crate::{Call, Failure, Value};
use write::Style;

pub(super) const TABLE: &[TableEntry] = &[
    ("toJson", |call| quietly(call, Style::COMPACT)),
    ("toPrettyJson", |call| quietly(call, Style::PRETTY)),
    ("toRawJson", |call| aloud(call, Style::RAW)),
    ("mustToJson", |call| aloud(call, Style::COMPACT)),
    ("mustToPrettyJson", |call| aloud(call, Style::PRETTY)),
    ("mustToRawJson", |call| aloud(call, Style::RAW)),
    ("fromJson", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        quiet(read::read(&text, call.host), Value::Nil)
    }),
    ("mustFromJson", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        read::read(&text, call.host)
    }),
];

/// What cannot be written is an empty text.
pub(crate) fn quietly(call: &mut Call<'_>, style: Style) -> Result<Value, Failure> {
    let result = aloud(call, style);
    call.exactly(1)?;
    quiet(result, "".into())
}

pub(crate) fn aloud(call: &mut Call<'_>, style: Style) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(write::write(&call.any(0), style, call.host)?.into())
}

/// Something else for a failure; but a limit is a limit.
pub(crate) fn quiet(result: Result<Value, Failure>, instead: Value) -> Result<Value, Failure> {
    match result {
        Err(failure) if !failure.limit => Ok(instead),
        other => other,
    }
}
