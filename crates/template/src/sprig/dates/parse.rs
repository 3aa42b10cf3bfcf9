//! A text by a layout → a time.

use super::{
    calendar::{DAYS, MONTHS, Time, days_before, days_in},
    layout::{self, Part},
};
use crate::{Failure, sprig::print::quoted};

/// What has been read so far; what is not named is the beginning of the year 0.
#[derive(Default)]
struct Read {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanoseconds: u32,
    afternoon: Option<bool>,
    offset: Option<i64>,
    zone: String,
}

pub(super) fn parse(layout: &str, text: &str) -> Result<Time, Failure> {
    let refuse =
        || Failure::new(format!("parsing time {} as {}: they do not fit", quoted(text), quoted(layout)));
    let mut read = Read::default();
    let (mut layout_rest, mut rest) = (layout, text);
    loop {
        let (before, part, after) = layout::next(layout_rest);
        rest = skip(rest, before).ok_or_else(refuse)?;
        let Some(part) = part else { break };
        rest = read.part(part, rest, after).ok_or_else(refuse)?;
        layout_rest = after;
    }
    if !rest.is_empty() {
        return Err(Failure::new(format!("parsing time {}: extra text: {}", quoted(text), quoted(rest))));
    }
    read.time().ok_or_else(|| Failure::new(format!("parsing time {}: out of range", quoted(text))))
}

/// Literal text; a blank of the layout stands for any number of blanks.
fn skip<'t>(mut text: &'t str, literal: &str) -> Option<&'t str> {
    let mut literal = literal;
    while let Some(first) = literal.chars().next() {
        if first == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return None;
            }
            literal = literal.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(first)?;
        literal = &literal[first.len_utf8()..];
    }
    Some(text)
}

/// Digits: exactly two, or as few as one.
fn digits(text: &str, fixed: bool) -> Option<(i64, &str)> {
    let count = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    if count == 0 || (fixed && count < 2) {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

fn name<'t>(names: &[&str], length: Option<usize>, text: &'t str) -> Option<(i64, &'t str)> {
    names.iter().zip(0..).find_map(|(name, index)| {
        let name = &name[..length.unwrap_or(name.len())];
        let head = text.get(..name.len())?;
        head.eq_ignore_ascii_case(name).then(|| (index, &text[name.len()..]))
    })
}

impl Read {
    fn part<'t>(&mut self, part: Part, text: &'t str, after: &str) -> Option<&'t str> {
        let mut rest = text;
        let mut number = |fixed: bool, least: i64, most: i64| {
            let (number, after) = digits(rest, fixed)?;
            rest = after;
            (least..=most).contains(&number).then_some(number)
        };
        match part {
            Part::LongYear => {
                let (year, after) = text.split_at_checked(4)?;
                self.year = year.bytes().all(|byte| byte.is_ascii_digit()).then(|| year.parse().ok())??;
                rest = after;
            }
            Part::Year => {
                let year = number(true, 0, 99)?;
                self.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Part::LongMonth | Part::Month => {
                let (month, after) = name(&MONTHS, (part == Part::Month).then_some(3), text)?;
                (self.month, rest) = (Some(month + 1), after);
            }
            Part::NumMonth => self.month = Some(number(false, 1, 12)?),
            Part::ZeroMonth => self.month = Some(number(true, 1, 12)?),
            Part::LongWeekday | Part::Weekday => {
                rest = name(&DAYS, (part == Part::Weekday).then_some(3), text)?.1;
            }
            Part::Day => self.day = Some(number(false, 0, 99)?),
            Part::BlankDay => {
                rest = text.strip_prefix(' ').unwrap_or(text);
                let (day, after) = digits(rest, false)?;
                (self.day, rest) = (Some(day), after);
            }
            Part::ZeroDay => self.day = Some(number(true, 0, 99)?),
            Part::BlankDayOfYear | Part::ZeroDayOfYear => {
                let (day, after) = text.split_at_checked(3)?;
                let day = if part == Part::BlankDayOfYear { day.trim_start_matches(' ') } else { day };
                self.day_of_year =
                    Some(day.bytes().all(|byte| byte.is_ascii_digit()).then(|| day.parse().ok())??);
                rest = after;
            }
            Part::Hour => self.hour = number(false, 0, 23)?,
            Part::Hour12 => self.hour = number(false, 0, 12)?,
            Part::ZeroHour12 => self.hour = number(true, 0, 12)?,
            Part::Minute => self.minute = number(false, 0, 59)?,
            Part::ZeroMinute => self.minute = number(true, 0, 59)?,
            Part::Second | Part::ZeroSecond => {
                self.second = number(part == Part::ZeroSecond, 0, 59)?;
                rest = self.unannounced_fraction(rest, after)?;
            }
            Part::Noon | Part::SmallNoon => {
                let (head, after) = text.split_at_checked(2)?;
                let (noon, morning) = if part == Part::Noon { ("PM", "AM") } else { ("pm", "am") };
                self.afternoon = Some(head == noon);
                rest = (head == noon || head == morning).then_some(after)?;
            }
            Part::Zone => rest = self.zone(text)?,
            Part::Offset { z, colon, pairs } => rest = self.offset(text, z, colon, pairs)?,
            Part::Fraction { digits, zeroes: true, .. } => rest = self.fraction(text, Some(digits))?,
            Part::Fraction { zeroes: false, .. } => {
                if text.starts_with(['.', ',']) && text[1..].starts_with(|c: char| c.is_ascii_digit()) {
                    rest = self.fraction(text, None)?;
                }
            }
        }
        Some(rest)
    }

    /// A fraction behind the seconds that the layout does not have.
    fn unannounced_fraction<'t>(&mut self, text: &'t str, layout: &str) -> Option<&'t str> {
        let (before, part, _) = layout::next(layout);
        let announced = before.is_empty() && matches!(part, Some(Part::Fraction { .. }));
        let there = text.starts_with(['.', ',']) && text[1..].starts_with(|c: char| c.is_ascii_digit());
        if announced || !there { Some(text) } else { self.fraction(text, None) }
    }

    fn fraction<'t>(&mut self, text: &'t str, exactly: Option<usize>) -> Option<&'t str> {
        let inner = text.strip_prefix(['.', ','])?;
        let count = inner.bytes().take_while(u8::is_ascii_digit).count();
        let count = match exactly {
            Some(digits) if count < digits => return None,
            Some(digits) => digits,
            None => count,
        };
        let digits: String = inner[..count].chars().take(9).collect();
        self.nanoseconds = format!("{digits:0<9}").parse().ok()?;
        Some(&inner[count..])
    }

    fn offset<'t>(&mut self, text: &'t str, z: bool, colon: bool, pairs: usize) -> Option<&'t str> {
        if z && let Some(rest) = text.strip_prefix('Z') {
            self.offset = Some(0);
            self.zone = "UTC".into();
            return Some(rest);
        }
        let sign = match text.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let mut rest = &text[1..];
        let mut total = 0;
        for (index, unit) in [3600, 60, 1].into_iter().take(pairs).enumerate() {
            if index > 0 && colon {
                rest = rest.strip_prefix(':')?;
            }
            let (number, after) = digits(rest, true)?;
            (total, rest) = (total + number * unit, after);
        }
        self.offset = Some(sign * total);
        Some(rest)
    }

    /// `UTC`, or a name of capitals whose offset nobody knows.
    fn zone<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let length = text.bytes().take_while(u8::is_ascii_uppercase).count();
        if let Some(rest) = text.strip_prefix("UTC") {
            (self.offset, self.zone) = (Some(0), "UTC".into());
            return Some(rest);
        }
        if !(3..=5).contains(&length) {
            return None;
        }
        self.zone = text[..length].into();
        self.offset = Some(0);
        Some(&text[length..])
    }

    fn time(self) -> Option<Time> {
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let days = match self.day_of_year {
            Some(day) => {
                let last = 365 + days_in(self.year, 2) - 28;
                (1..=last).contains(&day).then(|| days_before(self.year, 1, 1) + day - 1)?
            }
            None => {
                let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
                (1..=days_in(self.year, month)).contains(&day).then(|| days_before(self.year, month, day))?
            }
        };
        let offset = self.offset.unwrap_or_default();
        let seconds = days * 86_400 + hour * 3600 + self.minute * 60 + self.second - offset;
        let utc = self.offset.is_none() || (offset == 0 && self.zone.is_empty());
        let zone = if utc { "UTC".into() } else { self.zone.into() };
        Some(Time { seconds, nanoseconds: self.nanoseconds, offset, zone })
    }
}
