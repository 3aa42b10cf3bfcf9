//! Counters over the last seconds. An Envoy that was started anew counts from nothing again.

use super::admin::{CallKey, Counted};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

const LENGTH: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct Window {
    samples: VecDeque<(Instant, Counted)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Recent {
    /// A second.
    pub(crate) rate: f64,
    /// From 0 to 1.
    pub(crate) success: f64,
}

impl Window {
    pub(crate) fn add(&mut self, counted: Counted, now: Instant) {
        self.samples.push_back((now, counted));
        // One older than the window stays, to count from.
        while self.samples.get(1).is_some_and(|(at, _)| now.duration_since(*at) >= LENGTH) {
            self.samples.pop_front();
        }
    }

    pub(crate) fn last(&self) -> Option<&Counted> {
        self.samples.back().map(|(_, counted)| counted)
    }

    /// Nothing before there are two samples, or without calls.
    pub(crate) fn recent(&self, key: &CallKey) -> Option<Recent> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let seconds = last.0.duration_since(first.0).as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        let now = last.1.calls.get(key)?;
        let before = first.1.calls.get(key).copied().unwrap_or_default();
        // Started anew meanwhile.
        let before = if before.total > now.total { Default::default() } else { before };
        let calls = now.total - before.total;
        let failed = now.failed.saturating_sub(before.failed).min(calls);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let (calls, failed) = (calls as f64, failed as f64);
        let success = if calls > 0.0 { (calls - failed) / calls } else { return None };
        Some(Recent { rate: calls / seconds, success })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::admin::Calls, *};

    fn counted(key: &CallKey, total: u64, failed: u64) -> Counted {
        Counted { calls: [(key.clone(), Calls { total, failed })].into(), ..Counted::default() }
    }

    #[test]
    fn a_rate_is_over_the_last_seconds_and_survives_a_restart() {
        let key = CallKey { cluster: "c".into(), service: "s".into(), address: "127.0.0.9".into() };
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut window = Window::default();
        window.add(counted(&key, 100, 0), at(0));
        assert_eq!(window.recent(&key), None);
        window.add(counted(&key, 120, 5), at(10));
        assert_eq!(window.recent(&key), Some(Recent { rate: 2.0, success: 0.75 }));
        window.add(counted(&key, 120, 5), at(20));
        assert_eq!(window.recent(&key), None, "no calls in the last ten seconds");
        window.add(counted(&key, 30, 0), at(30));
        assert_eq!(window.recent(&key), Some(Recent { rate: 3.0, success: 1.0 }));
        assert!(window.samples.len() <= 3);
    }
}
