//! Waiting for outcomes. Limits are generous: a test asserts what happened, never how fast.

use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Long enough for a loaded two-core machine, short enough for a person.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// What a probe saw.
pub enum Seen<T> {
    /// It happened.
    Done(T),
    /// Not yet, and what was seen instead.
    NotYet(String),
    /// It cannot happen any more.
    Never(String),
}

impl<T> Seen<T> {
    /// Any error means "not yet".
    pub fn from_result<E: std::fmt::Display>(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::Done(value),
            Err(error) => Self::NotYet(error.to_string()),
        }
    }

    /// `None` means "not yet".
    pub fn from_option(option: Option<T>, otherwise: impl FnOnce() -> String) -> Self {
        option.map_or_else(|| Self::NotYet(otherwise()), Self::Done)
    }
}

impl Seen<()> {
    pub fn when(happened: bool, otherwise: impl FnOnce() -> String) -> Self {
        Self::from_option(happened.then_some(()), otherwise)
    }
}

/// Probes until the outcome is there; the error says what was seen last.
pub async fn until<T>(what: &str, limit: Duration, mut probe: impl AsyncFnMut() -> Seen<T>) -> Result<T> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(10);
    let mut last = "nothing".to_owned();
    loop {
        let left = limit.saturating_sub(start.elapsed());
        match tokio::time::timeout(left, probe()).await {
            Ok(Seen::Done(value)) => return Ok(value),
            Ok(Seen::NotYet(reason)) => last = reason,
            Ok(Seen::Never(reason)) => return Err(Error::Other(format!("{what}: {reason}"))),
            Err(_) => {
                return Err(Error::Timeout { what: what.to_owned(), seconds: limit.as_secs(), last });
            }
        }
        if start.elapsed() >= limit {
            return Err(Error::Timeout { what: what.to_owned(), seconds: limit.as_secs(), last });
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(Duration::from_millis(250));
    }
}
