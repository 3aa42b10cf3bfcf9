//! Finding a mesh that is up, looking at it and ending it, from another process.

use crate::{
    http::{Door, get},
    process::end_marked,
    state::{Record, State},
    view::View,
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    io,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

#[derive(Debug, thiserror::Error)]
pub enum NoMesh {
    #[error("no mesh is up here")]
    Down,
    #[error("the mesh of process {pid} does not answer: {source}")]
    Silent { pid: u32, source: io::Error },
    #[error("{0}")]
    Io(#[from] io::Error),
}

const WAIT: Duration = Duration::from_secs(5);
/// An end in good order takes a few seconds at most.
const END: Duration = Duration::from_secs(15);

/// The state of the mesh of this file, or of the nearest one that was up here.
pub fn state(file: Option<&Path>, here: &Path) -> Result<State, NoMesh> {
    match file {
        Some(file) => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok(State::of(folder.unwrap_or(here))?)
        }
        None => State::nearest(here)?.ok_or(NoMesh::Down),
    }
}

/// Who has it, if it is up.
pub fn running(state: &State) -> Result<Record, NoMesh> {
    if !state.is_locked() {
        return Err(NoMesh::Down);
    }
    state.record().ok_or(NoMesh::Down)
}

pub async fn view(record: &Record) -> Result<View, NoMesh> {
    let silent = |source| NoMesh::Silent { pid: record.pid, source };
    let answer = get(&Door::Tcp(record.page), "/api/view", &[], WAIT).await.map_err(silent)?;
    serde_json::from_slice(&answer.body).map_err(|error| silent(error.into()))
}

/// What `down` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A mesh, with its process.
    Mesh(u32),
    /// What was left of one.
    Left(usize),
    Nothing,
}

pub fn down(state: &State) -> Result<Ended, NoMesh> {
    let mut ended = Ended::Nothing;
    if let Some(pid) = state.holder() {
        let signal = |signal| i32::try_from(pid).map(|pid| kill(Pid::from_raw(pid), signal));
        let _ = signal(Signal::SIGTERM);
        let since = Instant::now();
        while state.is_locked() && since.elapsed() < END {
            sleep(Duration::from_millis(20));
        }
        // It hangs. Its children are ended below.
        if state.holder() == Some(pid) {
            let _ = signal(Signal::SIGKILL);
        }
        ended = Ended::Mesh(pid);
    }
    let left = end_marked(state.root());
    if left > 0 && ended == Ended::Nothing {
        ended = Ended::Left(left);
    }
    state.clean();
    Ok(ended)
}
