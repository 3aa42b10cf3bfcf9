//! The tools cache on disk: commands in `bin/`, folders beside it, and a stamp for everything that is complete.
//!
//! A tool counts as installed when its stamp says so: the stamp is written last, so whatever was interrupted is
//! done again, and it holds a digest of the recipe, so a changed pin is noticed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::list::{From, List, Tool};
use crate::root;

#[expect(unreachable_pub, reason = "the file is public in testkit")]
#[path = "../../../crates/testkit/src/tools/cache.rs"]
mod place;

pub(crate) struct Cache {
    pub(crate) folder: PathBuf,
}

#[derive(Deserialize, Serialize)]
struct Stamp {
    version: String,
    recipe: String,
    size: u64,
    /// Of a file, in seconds; 0 for a folder.
    modified: u64,
    seconds: f64,
}

impl Cache {
    pub(crate) fn open() -> io::Result<Self> {
        let folder = place::cache();
        // Absolute: builds run in other folders.
        let folder = std::path::absolute(folder)?;
        for part in ["bin", "installed", "log", "partial"] {
            fs::create_dir_all(folder.join(part))?;
        }
        Ok(Self { folder })
    }

    /// Where a tool is, or will be.
    pub(crate) fn place(&self, tool: &Tool) -> PathBuf {
        match &tool.from {
            From::Apt(apt) => apt.provides.first().map(PathBuf::from).unwrap_or_default(),
            _ if tool.name.contains('/') => self.folder.join(&tool.name),
            _ => self.folder.join("bin").join(&tool.name),
        }
    }

    /// A fresh folder for what is not complete yet, on the same file system.
    pub(crate) fn partial(&self, tool: &Tool) -> io::Result<PathBuf> {
        let folder = self.folder.join("partial").join(file_name(tool));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Throws away what a failed attempt has left.
    pub(crate) fn clear_partial(&self, tool: &Tool) {
        let _ = fs::remove_dir_all(self.folder.join("partial").join(file_name(tool)));
    }

    /// What the programs that made it have printed.
    pub(crate) fn log(&self, tool: &Tool) -> PathBuf {
        self.folder.join("log").join(format!("{}.log", file_name(tool)))
    }

    pub(crate) fn is_current(&self, tool: &Tool, recipe: &str) -> bool {
        let read = || serde_json::from_slice::<Stamp>(&fs::read(self.stamp_file(tool)).ok()?).ok();
        let as_stamped = |stamp: Stamp| {
            // Libraries grow when they are used: Python keeps what it has compiled beside them.
            let whole = |(size, modified)| match modified {
                0 => size >= stamp.size,
                _ => (size, modified) == (stamp.size, stamp.modified),
            };
            stamp.recipe == recipe && seen(&self.place(tool)).is_ok_and(whole)
        };
        read().is_some_and(as_stamped)
    }

    /// Moves a finished tool to its place and stamps it.
    pub(crate) fn install(&self, tool: &Tool, recipe: &str, from: &Path, seconds: f64) -> io::Result<()> {
        let place = self.place(tool);
        self.remove(tool)?;
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::rename(from, &place)?;
        let (size, modified) = seen(&place)?;
        let stamp =
            Stamp { version: tool.version.clone(), recipe: recipe.to_owned(), size, modified, seconds };
        fs::write(self.stamp_file(tool), serde_json::to_vec_pretty(&stamp)?)
    }

    /// Takes away what is not as the list wants it: a test must rather do without than use another version.
    pub(crate) fn remove(&self, tool: &Tool) -> io::Result<()> {
        let place = self.place(tool);
        let _ = fs::remove_file(self.stamp_file(tool));
        if place.is_dir() && !place.is_symlink() {
            fs::remove_dir_all(&place)?;
        } else if place.exists() || place.is_symlink() {
            fs::remove_file(&place)?;
        }
        Ok(())
    }

    fn stamp_file(&self, tool: &Tool) -> PathBuf {
        self.folder.join("installed").join(format!("{}.json", file_name(tool)))
    }
}

/// What tells a damaged tool from a whole one without reading it: the size, and of a file when it was last written.
fn seen(place: &Path) -> io::Result<(u64, u64)> {
    let data = fs::metadata(place)?;
    if data.is_dir() {
        return Ok((disk_use(place), 0));
    }
    let modified = data.modified()?.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    Ok((data.len(), modified))
}

fn file_name(tool: &Tool) -> String {
    tool.name.replace('/', "-")
}

/// A digest of everything that decides what a tool will be.
pub(crate) fn recipe(list: &List, tool: &Tool) -> String {
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(&(&tool.name, &tool.version, &tool.from)).unwrap_or_default());
    if let From::Go(go) | From::Run(go) = &tool.from {
        hash.update(serde_json::to_vec(&list.wrapper.get(&go.wrapper)).unwrap_or_default());
        for file in files_below(&root().join("tools/go").join(&go.wrapper)) {
            hash.update(fs::read(file).unwrap_or_default());
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every file below a folder, in the same order every time.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The bytes that files below a folder take.
pub(crate) fn disk_use(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => disk_use(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
