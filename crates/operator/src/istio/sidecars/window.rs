//! When workloads may be restarted: `Sat-Sun 00:00-04:00`, `Mon,Wed 22:00-02:00`, `01:00-02:00`; in UTC.

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MINUTES: u64 = 24 * 60;

/// A minute of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::istio) struct Moment {
    /// From Monday on.
    day: usize,
    minute: u64,
}

impl Moment {
    /// `seconds` since 1970, which began on a Thursday.
    pub(super) fn of(seconds: u64) -> Self {
        let minutes = seconds / 60;
        let day = usize::try_from((minutes / MINUTES + 3) % 7).unwrap_or_default();
        Self { day, minute: minutes % MINUTES }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::istio) struct Window {
    days: [bool; 7],
    from: u64,
    to: u64,
}

impl Window {
    pub(in crate::istio) fn read(text: &str) -> Option<Self> {
        let (days, times) = match text.split_once(' ') {
            Some((days, times)) => (read_days(days)?, times),
            None => ([true; 7], text),
        };
        let (from, to) = times.split_once('-')?;
        let (from, to) = (read_minute(from)?, read_minute(to)?);
        (from != to).then_some(Self { days, from, to })
    }

    /// One that ends earlier than it begins ends on the next day.
    pub(super) fn has(&self, now: Moment) -> bool {
        let today = self.days[now.day % 7];
        let yesterday = self.days[(now.day + 6) % 7];
        if self.from < self.to {
            return today && (self.from..self.to).contains(&now.minute);
        }
        (today && now.minute >= self.from) || (yesterday && now.minute < self.to)
    }
}

fn read_days(text: &str) -> Option<[bool; 7]> {
    let day = |text: &str| DAYS.iter().position(|day| *day == text);
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut at, last) = (day(first)?, day(last)?);
        days[at] = true;
        while at != last {
            at = (at + 1) % 7;
            days[at] = true;
        }
    }
    Some(days)
}

fn read_minute(text: &str) -> Option<u64> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<u64>().ok()).flatten();
    let (hour, minute) = (number(hour)?, number(minute)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str, hour: u64, minute: u64) -> Moment {
        Moment { day: DAYS.iter().position(|known| *known == day).unwrap(), minute: hour * 60 + minute }
    }

    #[test]
    fn a_window_is_open_on_its_days_and_over_midnight() {
        let cases: [(&str, Moment, bool); 11] = [
            ("Sat-Sun 00:00-04:00", at("Sat", 0, 0), true),
            ("Sat-Sun 00:00-04:00", at("Sun", 3, 59), true),
            ("Sat-Sun 00:00-04:00", at("Sun", 4, 0), false),
            ("Sat-Sun 00:00-04:00", at("Mon", 1, 0), false),
            ("Fri-Mon 10:00-11:00", at("Sun", 10, 30), true),
            ("Fri-Mon 10:00-11:00", at("Tue", 10, 30), false),
            ("Mon,Wed 22:00-02:00", at("Wed", 23, 0), true),
            ("Mon,Wed 22:00-02:00", at("Thu", 1, 59), true),
            ("Mon,Wed 22:00-02:00", at("Wed", 1, 0), false),
            ("01:00-02:00", at("Tue", 1, 30), true),
            ("01:00-02:00", at("Tue", 2, 30), false),
        ];
        for (text, now, open) in cases {
            assert_eq!(Window::read(text).unwrap().has(now), open, "{text} {now:?}");
        }
        for bad in [
            "",
            "Sat",
            "at night",
            "24:00-25:00",
            "1:00-2:00",
            "01:00-01:00",
            "Sat- 01:00-02:00",
            "Foo 01:00-02:00",
            "01:60-02:00",
        ] {
            assert_eq!(Window::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_day_of_the_week_is_counted_from_the_epoch() {
        assert_eq!(Moment::of(0), at("Thu", 0, 0));
        // 2026-11-17 was a Tuesday.
        assert_eq!(Moment::of(1_794_944_700), at("Tue", 19, 45));
    }
}
