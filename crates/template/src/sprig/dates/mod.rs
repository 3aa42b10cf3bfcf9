//! Dates and durations. The clock is not read, and the only time zone is UTC: it stands for the local one, too.

mod calendar;
mod duration;
mod format;
mod layout;
mod parse;

use std::rc::Rc;

use super::{TableEntry, refusals};
use crate::{Call, Failure, Object, Value};
use calendar::Time;

pub(super) const TABLE: &[TableEntry] = &[
    ("date", |call| {
        call.exactly(2)?;
        let layout = call.text(0)?;
        show(call, &layout, 1, "Local")
    }),
    ("dateInZone", in_zone),
    ("date_in_zone", in_zone),
    ("htmlDate", |call| {
        call.exactly(1)?;
        show(call, "2006-01-02", 0, "Local")
    }),
    ("htmlDateInZone", |call| {
        call.exactly(2)?;
        let zone = call.text(1)?;
        show(call, "2006-01-02", 0, &zone)
    }),
    ("dateModify", modify),
    ("date_modify", modify),
    ("mustDateModify", must_modify),
    ("must_date_modify", must_modify),
    ("toDate", |call| {
        call.exactly(2)?;
        let time = parse::parse(&call.text(0)?, &call.text(1)?);
        Ok(value(time.unwrap_or_else(|_| Time::zero())))
    }),
    ("mustToDate", |call| {
        call.exactly(2)?;
        Ok(value(parse::parse(&call.text(0)?, &call.text(1)?)?))
    }),
    ("unixEpoch", |call| {
        call.exactly(1)?;
        Ok(time(call, 0)?.seconds.to_string().into())
    }),
    ("duration", |call| {
        call.exactly(1)?;
        let seconds = match call.any(0) {
            Value::Text(text) => duration::whole(&text),
            Value::Int64(int) => int,
            _ => 0,
        };
        Ok(duration::print(seconds.wrapping_mul(1_000_000_000)).into())
    }),
    ("durationRound", |call| {
        call.exactly(1)?;
        let nanoseconds = match call.any(0) {
            Value::Text(text) => duration::parse(&text).unwrap_or_default(),
            Value::Int64(int) => int,
            Value::Object(object) if object.type_name() == Time::TYPE => return refusals::clock(call),
            _ => 0,
        };
        Ok(duration::rounded(nanoseconds).into())
    }),
];

pub(super) fn printed_duration(text: &str) -> Result<String, Failure> {
    Ok(duration::print(duration::parse(text)?))
}

fn value(time: Time) -> Value {
    Value::Object(Rc::new(time))
}

/// A `time.Time` and nothing else.
fn time(call: &Call<'_>, index: usize) -> Result<Time, Failure> {
    match call.any(index) {
        Value::Object(object) => object.as_any().and_then(|any| any.downcast_ref::<Time>()).cloned(),
        _ => None,
    }
    .ok_or_else(|| super::args::wrong(Time::TYPE, &call.any(index)))
}

fn in_zone(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(3)?;
    let (layout, zone) = (call.text(0)?, call.text(2)?);
    show(call, &layout, 1, &zone)
}

/// Seconds since 1970, or a time; for anything else Sprig takes the present time, which we have not.
fn show(call: &mut Call<'_>, layout: &str, index: usize, zone: &str) -> Result<Value, Failure> {
    let time = match call.any(index) {
        Value::Int(seconds) | Value::Int64(seconds) => Time::utc(seconds),
        Value::Object(object) if object.type_name() == Time::TYPE => time(call, index)?,
        _ => return refusals::clock(call),
    };
    if !matches!(zone, "" | "UTC" | "Local") {
        return Err(Failure::new(format!("no time zone but UTC is known here, {zone:?} is none")));
    }
    call.host.spend(layout.len().saturating_mul(4))?;
    Ok(format::format(&time.in_utc(), layout).into())
}

fn modify(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (text, time) = (call.text(0)?, time(call, 1)?);
    Ok(value(duration::parse(&text).map_or_else(|_| time.clone(), |by| time.plus(by))))
}

fn must_modify(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (text, time) = (call.text(0)?, time(call, 1)?);
    Ok(value(time.plus(duration::parse(&text)?)))
}

impl Object for Time {
    fn type_name(&self) -> &str {
        Self::TYPE
    }

    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure> {
        let int = |number: i64| Ok(Some(Value::Int(number)));
        let civil = self.civil();
        match (name, args) {
            ("Format", [Value::Text(layout)]) => Ok(Some(format::format(self, layout).into())),
            ("Unix", []) => Ok(Some(Value::Int64(self.seconds))),
            ("UTC", []) => Ok(Some(value(self.in_utc()))),
            ("Year", []) => int(civil.year),
            ("Day", []) => int(civil.day),
            ("Hour", []) => int(civil.hour),
            ("Minute", []) => int(civil.minute),
            ("Second", []) => int(civil.second),
            ("Nanosecond", []) => int(i64::from(self.nanoseconds)),
            ("YearDay", []) => int(civil.day_of_year),
            ("IsZero", []) => Ok(Some((self.seconds == Self::ZERO_SECONDS && self.nanoseconds == 0).into())),
            ("String", []) => Ok(Some(self.plain())),
            ("MarshalJSON", []) => {
                Ok(Some(format::format(self, "2006-01-02T15:04:05.999999999Z07:00").into()))
            }
            _ => Ok(None),
        }
    }

    fn plain(&self) -> Value {
        format::format(self, "2006-01-02 15:04:05.999999999 -0700 MST").into()
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}
