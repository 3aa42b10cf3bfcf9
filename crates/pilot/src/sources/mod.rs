//! Where objects come from: a cluster, or a folder of files. Each source tells events on one bounded channel, and says when
//! it has told everything that was there.

mod admit;
pub(crate) mod files;
mod kubernetes;
pub(crate) mod mesh_config;
mod told;

pub(crate) use told::{Source, Told};

use files::Reading;
use mizzen_cluster::{Phase, State};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};
use tokio::{sync::mpsc, task::JoinSet};

/// Events on their way to the builder. When it is full, sources wait.
const ON_THE_WAY: usize = 1_024;

/// The sources of this process, and the tasks that they run in.
pub(crate) struct Sources {
    out: mpsc::Sender<Told>,
    known: Vec<Arc<Known>>,
    tasks: JoinSet<()>,
}

/// A source as metrics and pages see it.
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) synced: AtomicBool,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    Watch(Arc<State>),
    Files(Arc<Reading>),
}

impl Known {
    /// In a word, and what is wrong, if something is.
    pub(crate) fn state(&self) -> (&'static str, Option<String>) {
        match &self.kind {
            Kind::Watch(state) => match state.phase() {
                Phase::Starting => ("starting", None),
                Phase::Absent => ("absent", None),
                Phase::Following => ("following", None),
                Phase::Failing => ("failing", state.failure()),
            },
            Kind::Files(reading) => match reading.failure() {
                Some(failure) => ("failing", Some(failure)),
                None => ("following", None),
            },
        }
    }

    /// What is wrong in files.
    pub(crate) fn problems(&self) -> Vec<String> {
        match &self.kind {
            Kind::Watch(_) => Vec::new(),
            Kind::Files(reading) => reading.problems(),
        }
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.synced.load(Relaxed)
    }
}

impl Sources {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Told>) {
        let (out, told) = mpsc::channel(ON_THE_WAY);
        (Self { out, known: Vec::new(), tasks: JoinSet::new() }, told)
    }

    fn add(&mut self, name: String, kind: Kind) -> Source {
        self.known.push(Arc::new(Known { name, synced: AtomicBool::new(false), kind }));
        Source(self.known.len() - 1)
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// No more will be added: what metrics read, and the tasks, which end when they are dropped.
    pub(crate) fn complete(self) -> (Arc<[Arc<Known>]>, JoinSet<()>) {
        (self.known.into(), self.tasks)
    }
}
