//! What can be seen of a run from outside: its processes, mounts, namespaces and control groups.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Traces {
    pub(crate) processes: BTreeSet<String>,
    pub(crate) mounts: BTreeSet<String>,
    /// Whatever keeps one alive: a process in it, or an open file.
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) control_groups: BTreeSet<PathBuf>,
}

/// A run that was looked at while it was up.
pub(crate) struct Suspect {
    run: PathBuf,
    /// In which its processes live, pods included, and this one does not.
    pub(crate) namespaces: BTreeSet<String>,
    /// Every process of the machine at that time. A namespace's number is soon given to another one, so only who
    /// was there before can be a holder of the one that is meant.
    known: BTreeSet<String>,
}

impl Suspect {
    pub(crate) fn new(run: &Path) -> Self {
        let own: BTreeSet<String> = links(Path::new("/proc/self/ns")).collect();
        let theirs = processes().filter(|process| marked(process, run) || !mounts(process, run).is_empty());
        let namespaces = theirs.flat_map(|process| links(&process.join("ns")));
        let namespaces = namespaces.filter(|link| !own.contains(link)).collect();
        Self {
            run: run.to_owned(),
            namespaces,
            known: processes().filter_map(|path| identity(&path)).collect(),
        }
    }

    /// What is to be seen of it now.
    pub(crate) fn traces(&self) -> Traces {
        let mut traces = Traces::default();
        for process in processes() {
            let known = identity(&process).is_some_and(|identity| self.known.contains(&identity));
            let held = |kind: &str| {
                let links = links(&process.join(kind));
                links.filter(|link| known && self.namespaces.contains(link)).collect::<Vec<_>>()
            };
            let inside = held("ns");
            if marked(&process, &self.run) || !inside.is_empty() {
                let command = fs::read(process.join("cmdline")).unwrap_or_default();
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                traces.processes.insert(format!("{} {command}", process.display()));
            }
            traces.namespaces.extend(inside);
            traces.namespaces.extend(held("fd"));
            traces.mounts.extend(mounts(&process, &self.run));
        }
        let name = self.run.file_name().unwrap_or_default();
        let groups = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
        let groups = groups.flat_map(|controller| [controller.path(), controller.path().join(name)]);
        traces.control_groups.extend(groups.filter(|path| path.ends_with(name) && path.exists()));
        traces
    }
}

/// Every process that the machine has.
fn processes() -> impl Iterator<Item = PathBuf> {
    let numbered = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path()).filter(numbered)
}

/// Its number and the time of its start, which no other process ever has together.
fn identity(process: &Path) -> Option<String> {
    let status = fs::read_to_string(process.join("stat")).ok()?;
    // The name, in brackets, may hold anything; the start is the 20th word after it.
    let start = status.rsplit_once(')')?.1.split_whitespace().nth(19)?.to_owned();
    Some(format!("{} {start}", process.display()))
}

fn marked(process: &Path, run: &Path) -> bool {
    let mark = format!("MIZZEN_RUN={}", run.display());
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

/// What a process has mounted from the run's folder. A pod's own root is among it.
fn mounts(process: &Path, run: &Path) -> Vec<String> {
    let (all, run) = (fs::read_to_string(process.join("mountinfo")), run.to_string_lossy());
    all.unwrap_or_default().lines().filter(|mount| mount.contains(&*run)).map(str::to_owned).collect()
}

fn links(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
}
