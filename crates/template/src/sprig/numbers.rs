//! Whole numbers: what Sprig calculates with 64 bits that overflow silently, and sequences of them.

use super::{TableEntry, cast};
use crate::{Call, Elements, Failure, List, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("add", |call| Ok(Value::Int64(call.args.iter().map(cast::int).fold(0, i64::wrapping_add)))),
    ("add1", |call| {
        call.exactly(1)?;
        Ok(Value::Int64(cast::int(&call.any(0)).wrapping_add(1)))
    }),
    ("sub", |call| two(call, |a, b| Some(a.wrapping_sub(b)))),
    ("div", |call| two(call, |a, b| (b != 0).then(|| a.wrapping_div(b)))),
    ("mod", |call| two(call, |a, b| (b != 0).then(|| a.wrapping_rem(b)))),
    ("mul", |call| fold(call, i64::wrapping_mul)),
    ("max", |call| fold(call, i64::max)),
    ("biggest", |call| fold(call, i64::max)),
    ("min", |call| fold(call, i64::min)),
    ("until", |call| {
        call.exactly(1)?;
        let end = call.int(0)?;
        Ok(ints(call, sequence(0, end, if end < 0 { -1 } else { 1 }))?.into())
    }),
    ("untilStep", |call| {
        call.exactly(3)?;
        let numbers = sequence(call.int(0)?, call.int(1)?, call.int(2)?);
        Ok(ints(call, numbers)?.into())
    }),
    ("seq", seq),
];

fn two(call: &Call<'_>, calculate: fn(i64, i64) -> Option<i64>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let result = calculate(cast::int(&call.any(0)), cast::int(&call.any(1)));
    result.map(Value::Int64).ok_or_else(|| Failure::new("integer divide by zero"))
}

fn fold(call: &Call<'_>, calculate: fn(i64, i64) -> i64) -> Result<Value, Failure> {
    call.at_least(1)?;
    let numbers = call.args.iter().map(cast::int);
    Ok(Value::Int64(numbers.reduce(calculate).unwrap_or_default()))
}

/// From `start` towards `end`, which is not reached; empty if the step leads away from it.
#[derive(Clone, Copy)]
struct Sequence {
    start: i64,
    step: i64,
    count: usize,
}

fn sequence(start: i64, end: i64, step: i64) -> Sequence {
    let distance = i128::from(end) - i128::from(start);
    let step_wide = i128::from(step);
    let count = match step {
        0 => 0,
        _ if (distance < 0) != (step < 0) => 0,
        _ => (distance + step_wide - step_wide.signum()) / step_wide,
    };
    Sequence { start, step, count: usize::try_from(count).unwrap_or(usize::MAX) }
}

impl Sequence {
    fn numbers(self, call: &mut Call<'_>) -> Result<impl Iterator<Item = i64>, Failure> {
        call.host.spend(self.count.saturating_mul(24))?;
        let (start, step) = (self.start, self.step);
        // As many as were paid for are far from any overflow of the count.
        Ok((0..self.count).scan(start, move |at, _| {
            let now = *at;
            *at = at.wrapping_add(step);
            Some(now)
        }))
    }
}

fn ints(call: &mut Call<'_>, sequence: Sequence) -> Result<List, Failure> {
    Ok(List::of(Elements::Int, sequence.numbers(call)?.map(Value::Int).collect()))
}

/// As the program `seq`: the end belongs to it.
fn seq(call: &mut Call<'_>) -> Result<Value, Failure> {
    let params = (0..call.args.len()).map(|index| call.int(index)).collect::<Result<Vec<_>, _>>()?;
    let towards = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let sequence = match params[..] {
        [end] => sequence(1, end.wrapping_add(towards(1, end)), towards(1, end)),
        [start, end] => sequence(start, end.wrapping_add(towards(start, end)), towards(start, end)),
        [start, step, end] if end < start && step > 0 => sequence(start, start, step),
        [start, step, end] => sequence(start, end.wrapping_add(towards(start, end)), step),
        _ => return Ok("".into()),
    };
    let numbers: Vec<String> = sequence.numbers(call)?.map(|number| number.to_string()).collect();
    Ok(numbers.join(" ").into())
}
