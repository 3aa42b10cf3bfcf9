//! Ports, percentages, lengths of time.

use super::Verdict;
use mizzen_api::proto::Duration;

const MILLISECOND: i128 = 1_000_000;

pub(crate) fn port(number: u32) -> Verdict {
    if (1..=65_535).contains(&number) {
        Ok(())
    } else {
        Err(format!("port number {number} must be in the range 1..65535"))
    }
}

/// At least a millisecond, and no finer.
pub(crate) fn duration(length: &Duration) -> Verdict {
    if length.as_nanos() < MILLISECOND {
        return Err("duration must be greater than 1ms".to_owned());
    }
    if length.as_nanos() % MILLISECOND != 0 {
        return Err("only durations to ms precision are supported".to_owned());
    }
    Ok(())
}

pub(crate) fn percent(number: i32) -> Verdict {
    if (0..=100).contains(&number) {
        Ok(())
    } else {
        Err(format!("percentage {number} is not in range 0..100"))
    }
}
