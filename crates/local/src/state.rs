//! The folder `.mizzen`, in which everything is that a mesh leaves on disk, and who has it.
//!
//! ```text
//! .mizzen/
//!   lock        held by `mizzen up` as long as it lives
//!   run.json    what runs where: for `status`, `down`, `logs` and `traffic`
//!   run/        sockets, what Envoys start with, what the control plane reads; gone when the mesh is
//!   logs/       of every process
//!   up.log      what a mesh in the background has told
//!   sample/     the sample mesh, where nobody brought another one
//! ```

use serde::{Deserialize, Serialize};
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

pub const FOLDER: &str = ".mizzen";

/// The variable that every process of a mesh carries; its value is the mesh's folder.
pub const MARK: &str = "MIZZEN_UP";

#[derive(Clone, Debug)]
pub struct State {
    root: PathBuf,
}

/// What others need to know to find a mesh that is up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub pid: u32,
    pub page: SocketAddr,
    pub ingress: SocketAddr,
    /// The processes whose logs there are.
    pub processes: Vec<String>,
    /// Everything has answered once.
    pub ready: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("a mesh is up here already{}", .0.as_ref().map(|record| format!(": process {}, http://{}", record.pid, record.page)).unwrap_or_default())]
    Up(Option<Box<Record>>),
    #[error("{path} cannot be used: {source}")]
    Folder { path: PathBuf, source: io::Error },
}

/// Given up when it is dropped, and by the kernel when the process ends in whatever way.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "it is held, not read")] File);

impl State {
    /// Of a mesh whose file is in this folder.
    pub fn of(folder: &Path) -> io::Result<Self> {
        // Through whichever link it is named: processes carry its one name.
        Ok(Self { root: fs::canonicalize(folder)?.join(FOLDER) })
    }

    /// The nearest one, here or above, that has been used.
    pub fn nearest(here: &Path) -> io::Result<Option<Self>> {
        let here = fs::canonicalize(here)?;
        let found =
            here.ancestors().map(|folder| folder.join(FOLDER)).find(|root| root.join("lock").exists());
        Ok(found.map(|root| Self { root }))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    pub fn log(&self, name: &str) -> PathBuf {
        self.logs().join(format!("{name}.log"))
    }

    pub fn sample(&self) -> PathBuf {
        self.root.join("sample")
    }

    /// Makes the folder and takes it.
    pub fn lock(&self) -> Result<Lock, Refused> {
        let refused = |path: &Path| {
            let path = path.to_owned();
            |source| Refused::Folder { path, source }
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.root).map_err(refused(&self.root))?;
        let path = self.root.join("lock");
        let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = open.map_err(refused(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Refused::Up(self.record().map(Box::new))),
            Err(TryLockError::Error(source)) => return Err(Refused::Folder { path, source }),
        }
        // Who has it, for those who want it to end: whoever reads this while it is locked reads the truth.
        let noted = file.set_len(0).and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
        noted.map_err(refused(&path))?;
        // It is no part of anybody's project.
        write(&self.root.join(".gitignore"), b"*\n").map_err(refused(&self.root))?;
        Ok(Lock(file))
    }

    /// Whether somebody has it now.
    pub fn is_locked(&self) -> bool {
        let file = OpenOptions::new().write(true).open(self.root.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// The process that has it.
    pub fn holder(&self) -> Option<u32> {
        let text = fs::read_to_string(self.root.join("lock")).ok()?;
        text.parse().ok().filter(|_| self.is_locked())
    }

    /// Fresh folders for a run; logs of the last one go.
    pub fn prepare(&self) -> Result<(), Refused> {
        self.clean();
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        for path in [self.run(), self.run().join("objects"), self.logs()] {
            builder.create(&path).map_err(|source| Refused::Folder { path, source })?;
        }
        for log in fs::read_dir(self.logs()).into_iter().flatten().flatten() {
            let _ = fs::remove_file(log.path());
        }
        Ok(())
    }

    /// Takes away what belongs to a run.
    pub fn clean(&self) {
        let _ = fs::remove_dir_all(self.run());
        let _ = fs::remove_file(self.root.join("run.json"));
    }

    pub fn tell(&self, record: &Record) -> io::Result<()> {
        write(&self.root.join("run.json"), &serde_json::to_vec_pretty(record)?)
    }

    pub fn record(&self) -> Option<Record> {
        serde_json::from_slice(&fs::read(self.root.join("run.json")).ok()?).ok()
    }
}

/// In one step: nobody sees half of it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    // Hidden from those who read folders.
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    let new = path.with_file_name(hidden);
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("mizzen-state-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn the_second_is_told_who_the_first_is() {
        let folder = folder("second");
        let state = State::of(&folder).unwrap();
        let lock = state.lock().unwrap();
        state.prepare().unwrap();
        let record = Record {
            pid: 7,
            page: "127.0.0.1:8081".parse().unwrap(),
            ingress: "127.0.0.1:8080".parse().unwrap(),
            processes: Vec::new(),
            ready: true,
        };
        state.tell(&record).unwrap();
        let refused = state.lock().unwrap_err().to_string();
        assert!(refused.contains("process 7") && refused.contains("http://127.0.0.1:8081"), "{refused}");
        assert_eq!(state.holder(), Some(std::process::id()));
        drop(lock);
        assert!(state.holder().is_none() && state.lock().is_ok());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_mesh_is_found_from_the_folders_below_it() {
        let folder = folder("below");
        let below = folder.join("a/b");
        fs::create_dir_all(&below).unwrap();
        assert!(State::nearest(&below).unwrap().is_none());
        drop(State::of(&folder).unwrap().lock().unwrap());
        assert_eq!(State::nearest(&below).unwrap().unwrap().root(), folder.join(FOLDER));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = folder("file");
        fs::write(folder.join(FOLDER), "").unwrap();
        let refused = State::of(&folder).unwrap().lock().unwrap_err();
        assert!(refused.to_string().contains(FOLDER), "{refused}");
        fs::remove_dir_all(folder).unwrap();
    }
}
