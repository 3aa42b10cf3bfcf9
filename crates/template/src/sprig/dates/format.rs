//! A time by a layout.

use std::fmt::Write;

use super::{
    calendar::{Civil, DAYS, MONTHS, Time},
    layout::{self, Part},
};

pub(super) fn format(time: &Time, layout: &str) -> String {
    let civil = time.civil();
    let mut out = String::with_capacity(layout.len() + 10);
    let mut rest = layout;
    loop {
        let (before, part, after) = layout::next(rest);
        out.push_str(before);
        let Some(part) = part else { return out };
        // A `String` takes everything.
        let _ = push(&mut out, time, &civil, part);
        rest = after;
    }
}

fn name(names: &[&'static str], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or_default()
}

fn push(out: &mut String, time: &Time, civil: &Civil, part: Part) -> std::fmt::Result {
    let hour12 = if civil.hour % 12 == 0 { 12 } else { civil.hour % 12 };
    match part {
        Part::LongYear if civil.year < 0 => write!(out, "-{:04}", -civil.year),
        Part::LongYear => write!(out, "{:04}", civil.year),
        Part::Year => write!(out, "{:02}", civil.year.rem_euclid(100)),
        Part::LongMonth => out.write_str(name(&MONTHS, civil.month - 1)),
        Part::Month => out.write_str(&name(&MONTHS, civil.month - 1)[..3]),
        Part::NumMonth => write!(out, "{}", civil.month),
        Part::ZeroMonth => write!(out, "{:02}", civil.month),
        Part::LongWeekday => out.write_str(name(&DAYS, civil.weekday)),
        Part::Weekday => out.write_str(&name(&DAYS, civil.weekday)[..3]),
        Part::Day => write!(out, "{}", civil.day),
        Part::BlankDay => write!(out, "{:2}", civil.day),
        Part::ZeroDay => write!(out, "{:02}", civil.day),
        Part::BlankDayOfYear => write!(out, "{:3}", civil.day_of_year),
        Part::ZeroDayOfYear => write!(out, "{:03}", civil.day_of_year),
        Part::Hour => write!(out, "{:02}", civil.hour),
        Part::Hour12 => write!(out, "{hour12}"),
        Part::ZeroHour12 => write!(out, "{hour12:02}"),
        Part::Minute => write!(out, "{}", civil.minute),
        Part::ZeroMinute => write!(out, "{:02}", civil.minute),
        Part::Second => write!(out, "{}", civil.second),
        Part::ZeroSecond => write!(out, "{:02}", civil.second),
        Part::Noon => out.write_str(if civil.hour >= 12 { "PM" } else { "AM" }),
        Part::SmallNoon => out.write_str(if civil.hour >= 12 { "pm" } else { "am" }),
        Part::Zone if time.zone.is_empty() => offset(out, time.offset, false, 2),
        Part::Zone => out.write_str(&time.zone),
        Part::Offset { z: true, .. } if time.offset == 0 => out.write_char('Z'),
        Part::Offset { colon, pairs, .. } => offset(out, time.offset, colon, pairs),
        Part::Fraction { digits, zeroes, comma } => fraction(out, time.nanoseconds, digits, zeroes, comma),
    }
}

fn offset(out: &mut String, offset: i64, colon: bool, pairs: usize) -> std::fmt::Result {
    out.push(if offset < 0 { '-' } else { '+' });
    let size = offset.abs();
    for (index, number) in [size / 3600, size / 60 % 60, size % 60].into_iter().take(pairs).enumerate() {
        if index > 0 && colon {
            out.push(':');
        }
        write!(out, "{number:02}")?;
    }
    Ok(())
}

fn fraction(
    out: &mut String,
    nanoseconds: u32,
    digits: usize,
    zeroes: bool,
    comma: bool,
) -> std::fmt::Result {
    let mut text = format!("{nanoseconds:09}");
    text.truncate(digits);
    if zeroes {
        text.extend(std::iter::repeat_n('0', digits.saturating_sub(9).min(64)));
    } else {
        text.truncate(text.trim_end_matches('0').len());
        if text.is_empty() {
            return Ok(());
        }
    }
    write!(out, "{}{text}", if comma { ',' } else { '.' })
}
