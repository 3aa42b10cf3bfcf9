//! Durations of options, as Go reads them: `24h`, `1m30s`. The longest that Go has means for ever.

use mizzen_api::proto;
use std::time::Duration;

/// One that is waited: none at all would never let go.
pub(crate) fn above_zero(text: &str) -> Result<Duration, String> {
    read(text).and_then(|read| if read.is_zero() { Err("it must be above 0".to_owned()) } else { Ok(read) })
}

pub(crate) fn read(text: &str) -> Result<Duration, String> {
    let read: proto::Duration = text.parse().map_err(|error: proto::BadDuration| error.to_string())?;
    u64::try_from(read.as_nanos()).map(Duration::from_nanos).map_err(|_| "it must not be negative".to_owned())
}
