//! A histogram of plain atomics, with the buckets that Istio's metric of the same meaning has.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    counts: Box<[AtomicU64]>,
    /// In millionths, because atomics are whole.
    sum: AtomicU64,
}

/// What a histogram says at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Upper bound and how many were at most that, the last being everything.
    pub buckets: Vec<(f64, u64)>,
    pub count: u64,
    pub sum: f64,
}

impl Histogram {
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0) }
    }

    pub(crate) fn observe(&self, value: f64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        self.counts[place].fetch_add(1, Relaxed);
        self.sum.fetch_add((value * 1e6) as u64, Relaxed);
    }

    pub(crate) fn observe_time(&self, time: Duration) {
        self.observe(time.as_secs_f64());
    }

    pub fn read(&self) -> Reading {
        let mut count = 0;
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let buckets = bounds
            .zip(&self.counts)
            .map(|(bound, here)| {
                count += here.load(Relaxed);
                (bound, count)
            })
            .collect();
        Reading { buckets, count, sum: self.sum.load(Relaxed) as f64 / 1e6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_in_its_bucket_and_all_above() {
        let histogram = Histogram::new(&[0.1, 1.0]);
        for value in [0.05, 0.1, 0.5, 7.0] {
            histogram.observe(value);
        }
        let reading = histogram.read();
        assert_eq!(reading.buckets, [(0.1, 2), (1.0, 3), (f64::INFINITY, 4)]);
        assert_eq!(reading.count, 4);
        assert!((reading.sum - 7.65).abs() < 1e-3);
    }
}
