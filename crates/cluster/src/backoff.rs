//! How long to wait before the next attempt: twice as long each time, up to a limit, and never exactly that long, so that
//! many reflectors do not come back at the same moment.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
pub(crate) struct Backoff {
    attempts: u32,
}

impl Backoff {
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        let wait = FIRST.saturating_mul(1 << self.attempts.min(16)).min(MOST);
        self.attempts = self.attempts.saturating_add(1);
        jitter(wait)
    }
}

/// Between three quarters and five quarters of it.
pub fn jitter(wait: Duration) -> Duration {
    // The seed of the standard library's maps is random, and that is all that is needed here.
    let random = RandomState::new().build_hasher().finish() % 1_000;
    #[expect(clippy::cast_precision_loss, reason = "a thousand steps")]
    let part = random as f64 / 1_000.0;
    wait.mul_f64(0.75 + part / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_start_again_after_success() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..40).map(|_| backoff.next()).collect();
        assert!(waits[0] >= FIRST * 3 / 4 && waits[0] <= FIRST * 5 / 4, "{:?}", waits[0]);
        assert!(waits.iter().all(|wait| *wait <= MOST * 5 / 4));
        assert!(waits[39] >= MOST * 3 / 4);
        backoff.reset();
        assert!(backoff.next() <= FIRST * 5 / 4);
    }

    #[test]
    fn no_two_wait_exactly_as_long() {
        let waits: std::collections::BTreeSet<Duration> = (0..100).map(|_| jitter(MOST)).collect();
        assert!(waits.len() > 10);
    }
}
