//! Folders as they were read last, and what is different now.

use super::{
    object::{self, Contents, Found},
    stamp::Stamp,
};
use mizzen_mesh::{Event, Key};
use mizzen_text::{Source, yaml::Options};
use std::{
    collections::{BTreeMap, HashSet, btree_map::Entry},
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];

/// Folders in each other, links among them.
const DEPTH: usize = 16;
/// Files in all.
const FILES: usize = 100_000;

pub(super) struct Folder {
    paths: Vec<PathBuf>,
    registry: bool,
    files: BTreeMap<PathBuf, Known>,
    /// What was told of each object.
    told: BTreeMap<Key, u64>,
    /// What cannot be looked into, one of the folders itself perhaps, and why.
    closed: BTreeMap<PathBuf, String>,
}

struct Known {
    stamp: Stamp,
    objects: Vec<Found>,
    problems: Vec<String>,
}

#[derive(Default)]
pub(super) struct Changes {
    pub(super) events: Vec<Event>,
    /// Something is being written: look again after this.
    pub(super) again: Option<Duration>,
    /// Everything that is wrong now, if that may have changed.
    pub(super) problems: Option<Vec<String>>,
}

impl Folder {
    pub(super) fn new(paths: Vec<PathBuf>, registry: bool) -> Self {
        Self { paths, registry, files: BTreeMap::new(), told: BTreeMap::new(), closed: BTreeMap::new() }
    }

    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    pub(super) fn objects(&self) -> usize {
        self.told.len()
    }

    /// What is different since the last time.
    pub(super) fn read(&mut self, now: SystemTime) -> Changes {
        let mut changes = Changes::default();
        let mut below = Below::default();
        for path in &self.paths {
            // A folder that disappears takes nothing with it: it may be a mount that comes back.
            if let Err(error) = below.walk(path, 0) {
                below.closed.insert(path.clone(), error.to_string());
            }
        }
        let mut touched = false;
        let mut before = std::mem::take(&mut self.files);
        for (path, stamp) in below.files {
            let known = before.remove(&path);
            if let Some(known) = known {
                if known.stamp == stamp {
                    self.files.insert(path, known);
                    continue;
                }
                if let Some(wait) = stamp.unsettled(now) {
                    changes.again = Some(changes.again.map_or(wait, |other| other.max(wait)));
                    self.files.insert(path, known);
                    continue;
                }
                touched = true;
                let read = self.file(&path, stamp, Some(known));
                self.files.insert(path, read);
            } else if let Some(wait) = stamp.unsettled(now) {
                changes.again = Some(changes.again.map_or(wait, |other| other.max(wait)));
            } else {
                touched = true;
                let read = self.file(&path, stamp, None);
                self.files.insert(path, read);
            }
        }
        // What cannot be looked into takes nothing with it either.
        let closed = |path: &Path| below.closed.keys().any(|closed| path.starts_with(closed));
        self.files.extend(before.extract_if(.., |path, _| closed(path)));
        touched |= !before.is_empty() || below.closed != self.closed;
        for (path, reason) in below.closed.iter().filter(|(path, _)| !self.closed.contains_key(*path)) {
            tracing::error!("{}: {reason}; what was read there before stays", path.display());
        }
        self.closed = below.closed;
        if touched {
            let (events, doubles) = self.difference();
            changes.events = events;
            let closed = self.closed.iter().map(|(path, reason)| format!("{}: {reason}", path.display()));
            let of_files = self.files.values().flat_map(|file| file.problems.iter().cloned());
            changes.problems = Some(closed.chain(of_files).chain(doubles).collect());
        }
        changes
    }

    fn file(&self, path: &Path, stamp: Stamp, before: Option<Known>) -> Known {
        let contents = match bytes(path) {
            Ok(bytes) => object::read(&Source::new(path.display().to_string(), bytes), self.registry),
            Err(error) => {
                let problems = vec![format!("{}: {error}", path.display())];
                Contents { problems, incomplete: true, ..Contents::default() }
            }
        };
        let mut objects = contents.objects;
        if contents.incomplete
            && let Some(before) = before
        {
            // Nobody knows which of its objects the broken part was: all that are missing now stay as they were.
            let missing = |old: &Found| !objects.iter().any(|new| new.key == old.key);
            let kept: Vec<Found> = before.objects.into_iter().filter(missing).collect();
            objects.extend(kept);
        }
        for problem in &contents.problems {
            tracing::error!("{problem}; the last good version stays");
        }
        Known { stamp, objects, problems: contents.problems }
    }

    /// Of two files with one object the first by name counts; the others are told.
    fn difference(&mut self) -> (Vec<Event>, Vec<String>) {
        let mut doubles = Vec::new();
        let mut now: BTreeMap<Key, (&Found, &Path)> = BTreeMap::new();
        for (path, file) in &self.files {
            for found in &file.objects {
                match now.entry(found.key.clone()) {
                    Entry::Vacant(entry) => {
                        entry.insert((found, path));
                    }
                    Entry::Occupied(entry) => {
                        let (first, key) = (entry.get().1.display(), &found.key);
                        doubles
                            .push(format!("{}: {key} is in {first} already, which counts", path.display()));
                    }
                }
            }
        }
        let mut events = Vec::new();
        self.told.retain(|key, _| {
            let stays = now.contains_key(key);
            if !stays {
                events.push(Event::Gone(key.clone()));
            }
            stays
        });
        for (key, (found, _)) in now {
            if self.told.insert(key, found.hash) != Some(found.hash) {
                events.push(found.event.clone());
            }
        }
        for double in &doubles {
            tracing::warn!("{double}");
        }
        (events, doubles)
    }
}

/// What is below a folder.
#[derive(Default)]
struct Below {
    files: Vec<(PathBuf, Stamp)>,
    closed: BTreeMap<PathBuf, String>,
    /// Folders by device and number: links may lead to one again.
    seen: HashSet<(u64, u64)>,
}

impl Below {
    fn walk(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // Kubernetes mounts a ConfigMap as links into a folder `..data`; what is hidden is not meant to be read twice.
            if path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.')) {
                continue;
            }
            if let Err(error) = self.look(&path, depth)
                // It may go while we look.
                && error.kind() != io::ErrorKind::NotFound
            {
                self.closed.insert(path, error.to_string());
            }
        }
        Ok(())
    }

    fn look(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            if depth < DEPTH && self.seen.insert((metadata.dev(), metadata.ino())) {
                return self.walk(path, depth + 1);
            }
        } else if metadata.is_file() && has_ending(path) && self.files.len() < FILES {
            self.files.push((path.to_owned(), Stamp::of(&metadata)));
        }
        Ok(())
    }
}

fn has_ending(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// No more than is read of one file and a byte, so that the reader can tell that it is too large.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(Options::default().max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
