//! A token bucket: how often something may happen, on and on and at once.

use std::time::{Duration, Instant};

pub(crate) struct Bucket {
    per_second: f64,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Bucket {
    pub(crate) fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        let burst = f64::from(burst.max(1));
        Self { per_second: f64::from(per_second.max(1)), burst, tokens: burst, at: now }
    }

    /// Takes one, or says how long to wait for it.
    pub(crate) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        if self.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.tokens) / self.per_second));
        }
        self.tokens -= 1.0;
        Ok(())
    }

    /// Takes more for something dear; it may be owed.
    pub(crate) fn charge(&mut self, tokens: f64) {
        self.tokens = (self.tokens - tokens).max(-10.0 * self.burst);
    }

    /// One more for free.
    pub(crate) fn give(&mut self) {
        self.tokens = (self.tokens + 1.0).min(self.burst);
    }

    /// Whether it is not being emptied as fast as it fills.
    pub(crate) fn is_relaxed(&self) -> bool {
        self.tokens >= self.burst / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_allows_a_burst_and_then_a_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(10, 3, start);
        assert!((0..3).all(|_| bucket.take(start).is_ok()));
        let wait = bucket.take(start).unwrap_err();
        assert!(bucket.take(start + wait).is_ok());
        assert!(bucket.take(start + wait).is_err());
        bucket.give();
        assert!(bucket.take(start + wait).is_ok());
        assert!(!bucket.is_relaxed());
        bucket.charge(3.0);
        assert!(bucket.take(start + wait).unwrap_err() > Duration::from_millis(200));
        assert!((0..3).all(|_| bucket.take(start + Duration::from_secs(60)).is_ok()));
        assert!(bucket.take(start + Duration::from_secs(60)).is_err());
    }
}
