//! What is counted, under Istio's names where Istio has one. Plain atomics in, Prometheus' text out ([`text`]).

mod page;
mod text;

pub(crate) use page::page;
pub(crate) use text::Text;

use mizzen_mesh::Snapshot;
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

pub(crate) struct Metrics {
    pub(crate) started: Instant,
    /// Objects that were refused, ever.
    pub(crate) broken: AtomicU64,
    /// Mesh configurations that were refused, ever.
    pub(crate) refused_settings: AtomicU64,
    /// Making a snapshot (`pilot_pushcontext_init_seconds`).
    pub(crate) snapshot_time: Times,
    /// From the first event to streams being told.
    pub(crate) publish_time: Times,
    pub(crate) snapshots: AtomicU64,
    pub(crate) services: AtomicU64,
    pub(crate) problems: AtomicU64,
    /// Views in use, and those that were checked and found different.
    pub(crate) checked: AtomicU64,
    pub(crate) differences: AtomicU64,
    updates: Mutex<BTreeMap<&'static str, u64>>,
    events: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            broken: AtomicU64::default(),
            refused_settings: AtomicU64::default(),
            snapshot_time: Times::default(),
            publish_time: Times::default(),
            snapshots: AtomicU64::default(),
            services: AtomicU64::default(),
            problems: AtomicU64::default(),
            checked: AtomicU64::default(),
            differences: AtomicU64::default(),
            updates: Mutex::default(),
            events: Mutex::default(),
        }
    }
}

impl Metrics {
    /// `config`, `eds` or `svc`.
    pub(crate) fn count_update(&self, kind: &'static str) {
        *self.updates.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
    }

    pub(crate) fn count_event(&self, kind: &'static str, what: &'static str) {
        *self.events.lock().unwrap_or_else(PoisonError::into_inner).entry((kind, what)).or_default() += 1;
    }

    pub(crate) fn note(&self, snapshot: &Snapshot) {
        self.snapshots.fetch_add(1, Relaxed);
        self.services.store(snapshot.services.all.len() as u64, Relaxed);
        self.problems.store(snapshot.problems.len() as u64, Relaxed);
    }
}

/// Durations in Istio's buckets.
#[derive(Debug)]
pub(crate) struct Times {
    counts: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

pub(crate) const BOUNDS: [f64; 10] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.5, 1.0, 3.0, 5.0, 10.0];

impl Default for Times {
    fn default() -> Self {
        Self { counts: std::array::from_fn(|_| AtomicU64::new(0)), nanoseconds: AtomicU64::new(0) }
    }
}

impl Times {
    pub(crate) fn observe(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)].fetch_add(1, Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Relaxed);
    }

    /// Upper bounds with how many were at most that, then all of them and their sum.
    pub(crate) fn read(&self) -> (Vec<(f64, u64)>, u64, f64) {
        let mut count = 0;
        let bounds = BOUNDS.iter().copied().chain([f64::INFINITY]);
        let buckets = bounds
            .zip(&self.counts)
            .map(|(bound, here)| {
                count += here.load(Relaxed);
                (bound, count)
            })
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a sum of times needs no nanoseconds")]
        let sum = self.nanoseconds.load(Relaxed) as f64 / 1e9;
        (buckets, count, sum)
    }
}
