//! A moment, and the calendar's names for it.

use std::rc::Rc;

#[derive(Clone, Debug)]
pub(super) struct Time {
    /// Since 1970.
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
    /// East of Greenwich, in seconds.
    pub(super) offset: i64,
    /// The zone's short name; empty where it has none but its offset.
    pub(super) zone: Rc<str>,
}

/// A date and a time of day.
pub(super) struct Civil {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    /// From 1.
    pub(super) day_of_year: i64,
    /// From Sunday, which is 0.
    pub(super) weekday: i64,
}

impl Time {
    pub(super) const TYPE: &str = "time.Time";
    /// The first moment of the year 1, Go's time that is not set.
    pub(super) const ZERO_SECONDS: i64 = -62_135_596_800;

    pub(super) fn utc(seconds: i64) -> Self {
        Self { seconds, nanoseconds: 0, offset: 0, zone: "UTC".into() }
    }

    pub(super) fn zero() -> Self {
        Self::utc(Self::ZERO_SECONDS)
    }

    pub(super) fn in_utc(&self) -> Self {
        Self { nanoseconds: self.nanoseconds, ..Self::utc(self.seconds) }
    }

    pub(super) fn plus(&self, nanoseconds: i64) -> Self {
        let total = i64::from(self.nanoseconds) + nanoseconds.rem_euclid(1_000_000_000);
        let seconds = nanoseconds.div_euclid(1_000_000_000) + total / 1_000_000_000;
        let nanoseconds = u32::try_from(total % 1_000_000_000).unwrap_or_default();
        Self { seconds: self.seconds.wrapping_add(seconds), nanoseconds, ..self.clone() }
    }

    pub(super) fn civil(&self) -> Civil {
        let local = i128::from(self.seconds) + i128::from(self.offset);
        let (days, second) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        // A year of the algorithm starts in March, so that the odd day is its last. 719,468 days lie between the first
        // of March of the year 0 and 1970; 146,097 days are 400 years.
        let shifted = days + 719_468;
        let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i128::from(month <= 2);
        let narrow = |number: i128| i64::try_from(number).unwrap_or_default();
        let (year, month, day) = (narrow(year), narrow(month), narrow(day));
        Civil {
            year,
            month,
            day,
            hour: narrow(second / 3600),
            minute: narrow(second / 60 % 60),
            second: narrow(second % 60),
            day_of_year: narrow(days) - days_before(year, 1, 1) + 1,
            weekday: narrow((days + 4).rem_euclid(7)),
        }
    }
}

/// Days from 1970 to a date.
pub(super) fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = if month > 2 { month - 3 } else { month + 9 };
    let day = (153 * month + 2) / 5 + day - 1 + 365 * year + year / 4 - year / 100;
    era * 146_097 + day - 719_468
}

pub(super) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
