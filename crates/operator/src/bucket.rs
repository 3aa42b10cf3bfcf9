//! So many at once, and then so many each second.

use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Bucket {
    burst: f64,
    each_second: f64,
    /// Less than none: they have been taken before they were there.
    left: f64,
    counted: Option<Instant>,
}

impl Bucket {
    pub(crate) fn new(burst: u32, each_second: u32) -> Self {
        let (burst, each_second) = (f64::from(burst.max(1)), f64::from(each_second.max(1)));
        Self { burst, each_second, left: burst, counted: None }
    }

    /// Takes one; how long it is until it is there.
    pub(crate) fn take(&mut self, now: Instant) -> Duration {
        let passed = self.counted.map_or(Duration::ZERO, |counted| now.saturating_duration_since(counted));
        self.counted = Some(now);
        self.left = (self.left + passed.as_secs_f64() * self.each_second).min(self.burst) - 1.0;
        Duration::from_secs_f64((-self.left).max(0.0) / self.each_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_comes_back_with_time_but_not_without_end() {
        let (mut bucket, start) = (Bucket::new(2, 4), Instant::now());
        let mut waits = |after: u64, times: usize| -> Vec<u128> {
            let now = start + Duration::from_secs(after);
            (0..times).map(|_| bucket.take(now).as_millis()).collect()
        };
        assert_eq!(waits(0, 4), [0, 0, 250, 500]);
        assert_eq!(waits(1, 3), [0, 0, 250], "those that were promised are counted");
        assert_eq!(waits(100, 3), [0, 0, 250], "never more than at the beginning");
    }
}
