//! Does a word look like a date or a time to go-yaml? Such words stay strings when read, and are quoted when printed.

/// `2006-1-2`, `2006-1-2 15:4:5.9` or `2006-1-2T15:4:5.9Z` (or with `+07:00` at its end), and a real date.
pub(super) fn is_timestamp(word: &str) -> bool {
    let mut text = Text(word.as_bytes());
    let parsed = (|| {
        let year = text.digits(4, 4)?;
        text.one(b"-")?;
        let month = text.digits(1, 2)?;
        text.one(b"-")?;
        let day = text.digits(1, 2)?;
        if !(1..=12).contains(&month) || !(1..=days(year, month)).contains(&day) {
            return None;
        }
        if text.0.is_empty() {
            return Some(());
        }
        let zoned = text.one(b"Tt ")? != b' ';
        // Go takes one or two digits for all three here, though it wants two for minutes elsewhere.
        let time = [text.digits(1, 2)?, text.after_colon()?, text.after_colon()?];
        if time[0] > 23 || time[1] > 59 || time[2] > 59 {
            return None;
        }
        if text.one(b".,").is_some() {
            text.digits(1, usize::MAX)?;
        }
        if zoned && text.one(b"Z").is_none() {
            text.one(b"+-")?;
            let (hours, minutes) = (text.digits(2, 2)?, text.after_colon_exactly_two()?);
            // Up to 24 and 60, as Go has it.
            if hours > 24 || minutes > 60 {
                return None;
            }
        }
        text.0.is_empty().then_some(())
    })();
    parsed.is_some()
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is left to read.
struct Text<'a>(&'a [u8]);

impl Text<'_> {
    fn one(&mut self, of: &[u8]) -> Option<u8> {
        let first = *self.0.first()?;
        of.contains(&first).then(|| self.0 = &self.0[1..]).map(|()| first)
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count().min(most);
        if count < least {
            return None;
        }
        let number = self.0[..count]
            .iter()
            .fold(0u32, |sum, digit| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
        self.0 = &self.0[count..];
        Some(number)
    }

    fn after_colon(&mut self) -> Option<u32> {
        self.one(b":")?;
        self.digits(1, 2)
    }

    fn after_colon_exactly_two(&mut self) -> Option<u32> {
        self.one(b":")?;
        self.digits(2, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_what_only_looks_like_them() {
        for word in [
            "2026-01-02",
            "2026-1-2",
            "2024-2-29",
            "2026-01-02 03:04:05",
            "2026-01-02 3:4:5.678",
            "2026-01-02T03:04:05Z",
            "2026-01-02t03:04:05.1+07:00",
        ] {
            assert!(is_timestamp(word), "{word}");
        }
        for word in [
            "2026",
            "2026-01",
            "2026-13-01",
            "2026-02-29",
            "2026-01-02T03:04:05",
            "2026-01-02 03:04:05Z",
            "2026-01-02 24:00:00",
            "26-01-02",
            "2026-01-02x",
            "",
        ] {
            assert!(!is_timestamp(word), "{word}");
        }
    }
}
