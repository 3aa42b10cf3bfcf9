//! How a reflector is doing, for metrics and pages.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Everything is being listed for the first time.
    Starting,
    /// The server does not serve the kind; it is asked again from time to time.
    Absent,
    /// Changes arrive.
    Following,
    /// The server does not answer as it should: what is known is as old as the trouble.
    Failing,
}

#[derive(Debug, Default)]
pub struct State {
    phase: AtomicU8,
    /// Objects that are there.
    pub objects: AtomicU64,
    /// Everything was listed that often.
    pub lists: AtomicU64,
    pub watches: AtomicU64,
    pub failures: AtomicU64,
    /// Objects that were there and could not be read, ever.
    pub broken: AtomicU64,
    last: Mutex<Option<String>>,
}

impl State {
    pub fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::Starting,
            1 => Phase::Absent,
            2 => Phase::Following,
            _ => Phase::Failing,
        }
    }

    /// The reason of the last failure, while it lasts.
    pub fn failure(&self) -> Option<String> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says what it was before.
    pub(crate) fn enter(&self, phase: Phase) -> Phase {
        let before = self.phase();
        self.phase.store(phase as u8, Relaxed);
        if phase != Phase::Failing {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        before
    }

    pub(crate) fn fail(&self, reason: String) -> Phase {
        self.failures.fetch_add(1, Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        self.enter(Phase::Failing)
    }
}
