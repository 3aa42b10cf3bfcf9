//! Objects in folders of YAML and JSON files, which are read again when something in them changes.
//!
//! In: files as they come and go. Out: events for what really changed. The system tells of changes (inotify, by `notify`);
//! besides, the folders are looked through every few seconds, because some file systems tell nothing. A file is left alone
//! while it is being written. What a broken document held before stays in place.

mod folder;
mod object;
mod stamp;
#[cfg(test)]
mod tests;

pub(crate) use stamp::Watch;

use super::{Kind, Source, Sources, Told};
use folder::Folder;
use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};
use tokio::sync::mpsc;

/// How reading files goes.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Times that something was read that does not count.
    pub(crate) broken: AtomicU64,
    pub(crate) objects: AtomicU64,
    problems: Mutex<Vec<String>>,
}

impl Reading {
    /// Everything that is wrong now, in files as `file:line:column: what`.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same in one line.
    pub(crate) fn failure(&self) -> Option<String> {
        let problems = self.problems();
        problems.first().map(|first| match problems.len() {
            1 => first.clone(),
            more => format!("{first} (and {} more)", more - 1),
        })
    }

    pub(crate) fn set_problems(&self, problems: Vec<String>) {
        if !problems.is_empty() {
            self.broken.fetch_add(1, Relaxed);
        }
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner) = problems;
    }
}

/// The folders are looked through at least this often.
const AT_LEAST: Duration = Duration::from_secs(3);

impl Sources {
    /// With `registry`, also Kubernetes' own kinds.
    pub(crate) fn files(&mut self, folders: Vec<PathBuf>, registry: bool) {
        let reading = Arc::new(Reading::default());
        let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let source = self.add(format!("files:{}", names.join(",")), Kind::Files(Arc::clone(&reading)));
        let out = self.out.clone();
        self.spawn(run(Folder::new(folders, registry), reading, source, out));
    }
}

async fn run(mut folder: Folder, reading: Arc<Reading>, source: Source, out: mpsc::Sender<Told>) {
    let watch = Watch::new(folder.paths(), true);
    let mut synced = false;
    loop {
        // Reading is quick, but it does block.
        let read = tokio::task::spawn_blocking(move || {
            let changes = folder.read(SystemTime::now());
            (folder, changes)
        });
        let Ok((back, changes)) = read.await else { return };
        folder = back;
        reading.objects.store(folder.objects() as u64, Relaxed);
        if let Some(problems) = changes.problems {
            reading.set_problems(problems);
        }
        for event in changes.events {
            if out.send(Told::Event(event)).await.is_err() {
                return;
            }
        }
        if !synced && changes.again.is_none() {
            synced = true;
            if out.send(Told::Synced(source)).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = watch.changed(changes.again.unwrap_or(AT_LEAST)) => {}
            () = out.closed() => return,
        }
    }
}
