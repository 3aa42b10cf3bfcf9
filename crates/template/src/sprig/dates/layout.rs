//! Go's layouts: an example date, `Mon Jan 2 15:04:05 MST 2006`, whose parts stand for those of any date.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    BlankDay,
    ZeroDay,
    BlankDayOfYear,
    ZeroDayOfYear,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    Noon,
    SmallNoon,
    Zone,
    /// An offset like `-07:00`: `Z` where it is none, a colon between, how many pairs of digits.
    Offset {
        z: bool,
        colon: bool,
        pairs: usize,
    },
    /// Digits of a second behind a point or comma; the nines leave out zeroes at the end.
    Fraction {
        digits: usize,
        zeroes: bool,
        comma: bool,
    },
}

/// The longer ones in front of those that they begin with.
const PARTS: &[(&str, Part)] = &[
    ("January", Part::LongMonth),
    ("Jan", Part::Month),
    ("Monday", Part::LongWeekday),
    ("Mon", Part::Weekday),
    ("MST", Part::Zone),
    ("01", Part::ZeroMonth),
    ("002", Part::ZeroDayOfYear),
    ("02", Part::ZeroDay),
    ("03", Part::ZeroHour12),
    ("04", Part::ZeroMinute),
    ("05", Part::ZeroSecond),
    ("06", Part::Year),
    ("15", Part::Hour),
    ("1", Part::NumMonth),
    ("2006", Part::LongYear),
    ("2", Part::Day),
    ("__2", Part::BlankDayOfYear),
    ("_2006", Part::LongYear),
    ("_2", Part::BlankDay),
    ("3", Part::Hour12),
    ("4", Part::Minute),
    ("5", Part::Second),
    ("PM", Part::Noon),
    ("pm", Part::SmallNoon),
    ("-07:00:00", Part::Offset { z: false, colon: true, pairs: 3 }),
    ("-070000", Part::Offset { z: false, colon: false, pairs: 3 }),
    ("-07:00", Part::Offset { z: false, colon: true, pairs: 2 }),
    ("-0700", Part::Offset { z: false, colon: false, pairs: 2 }),
    ("-07", Part::Offset { z: false, colon: false, pairs: 1 }),
    ("Z07:00:00", Part::Offset { z: true, colon: true, pairs: 3 }),
    ("Z070000", Part::Offset { z: true, colon: false, pairs: 3 }),
    ("Z07:00", Part::Offset { z: true, colon: true, pairs: 2 }),
    ("Z0700", Part::Offset { z: true, colon: false, pairs: 2 }),
    ("Z07", Part::Offset { z: true, colon: false, pairs: 1 }),
];

/// The text in front of the next part, the part, and what follows.
pub(super) fn next(layout: &str) -> (&str, Option<Part>, &str) {
    for (at, _) in layout.char_indices() {
        if let Some((part, length)) = begins(&layout[at..]) {
            // `_2006` is a literal `_` in front of a year.
            let skip = usize::from(layout[at..].starts_with("_2006"));
            return (&layout[..at + skip], Some(part), &layout[at + length..]);
        }
    }
    (layout, None, "")
}

fn begins(text: &str) -> Option<(Part, usize)> {
    if text.starts_with(['.', ',']) {
        return fraction(text);
    }
    let (word, part) = PARTS.iter().find(|(word, _)| text.starts_with(word))?;
    // A longer word is no month.
    let short_name = matches!(part, Part::Month | Part::Weekday);
    if short_name && text[word.len()..].starts_with(|next: char| next.is_ascii_lowercase()) {
        return None;
    }
    Some((*part, word.len()))
}

fn fraction(text: &str) -> Option<(Part, usize)> {
    let digit = text[1..].chars().next().filter(|digit| matches!(digit, '0' | '9'))?;
    let digits = text[1..].chars().take_while(|next| *next == digit).count();
    if text[1 + digits..].starts_with(|next: char| next.is_ascii_digit()) {
        return None;
    }
    Some((Part::Fraction { digits, zeroes: digit == '0', comma: text.starts_with(',') }, digits + 1))
}
