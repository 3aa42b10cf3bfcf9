//! The formats that the drafts up to 7 insist on, as far as values have them; others fit always.

use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "hostname" => hostname(text),
        "email" => email(text),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && is_uri(rest)),
        "uri-reference" => is_uri(text),
        "date" => date(text),
        "date-time" => {
            let (day, time) = text.split_at_checked(10).unwrap_or_default();
            date(day) && time.starts_with(['T', 't', ' ']) && time_of_day(&time[1..])
        }
        "time" => time_of_day(text),
        "regex" => regex::Regex::new(text).is_ok(),
        _ => true,
    }
}

fn hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

fn email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, host)| {
        (1..=64).contains(&local.len()) && !local.contains(char::is_whitespace) && hostname(host)
    })
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn is_uri(text: &str) -> bool {
    !text.contains(|c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\\' | '<' | '>' | '"' | '{' | '}' | '^' | '`' | '|')
    })
}

fn date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn time_of_day(text: &str) -> bool {
    let Some((clock, zone)) = text.find(['Z', 'z', '+', '-']).map(|at| text.split_at(at)) else {
        return false;
    };
    let clock = clock.split_once('.').map_or(Some(clock), |(clock, fraction)| {
        (!fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())).then_some(clock)
    });
    let zone_is_right = matches!(zone, "Z" | "z") || zone.get(1..).is_some_and(|zone| clock_of(zone, 2));
    clock.is_some_and(|clock| clock_of(clock, 3)) && zone_is_right
}

/// `23:59` or `23:59:60`
fn clock_of(text: &str, parts: usize) -> bool {
    let most = [23, 59, 60];
    let split: Vec<&str> = text.split(':').collect();
    split.len() == parts
        && split.iter().zip(most).all(|(part, most)| digits(part, 2).is_some_and(|number| number <= most))
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}
