//! What is told while a cluster is worked on.

use mizzen_cluster::{Step, wait::Waiting};

#[derive(Clone, Debug)]
pub enum Event {
    /// The work on a component begins.
    Begins {
        component: &'static str,
    },
    /// An object was brought to what it should be, or was there already.
    Brought {
        step: Step,
    },
    /// What a component waits for.
    Waits {
        component: &'static str,
        for_what: Vec<Waiting>,
    },
    Ready {
        component: &'static str,
    },
    Failed {
        component: &'static str,
        reason: String,
    },
    Deleted {
        object: String,
    },
    /// It was to be deleted, and is not ours.
    Kept {
        object: String,
        why: String,
    },
}

/// Whoever listens.
pub type Progress = dyn Fn(Event) + Send + Sync;
