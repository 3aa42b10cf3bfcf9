//! What a process says, on disk: two files of bounded size, the newer one under the log's name.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
};

/// A file is put aside when it is this long.
const LIMIT: u64 = 8 << 20;

pub(crate) struct Log {
    path: PathBuf,
    file: Option<File>,
    written: u64,
    /// The last write failed, and it was said.
    failed: bool,
}

impl Log {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None, written: 0, failed: false }
    }

    /// Never fails: a process must not stop because nobody can write down what it says. The first failure is returned.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Option<io::Error> {
        match self.append(bytes) {
            Ok(()) => {
                self.failed = false;
                None
            }
            Err(error) => {
                self.file = None;
                (!std::mem::replace(&mut self.failed, true)).then_some(error)
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.written > LIMIT {
            self.file = None;
            fs::rename(&self.path, self.path.with_extension("log.old"))?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
                self.written = file.metadata()?.len();
                self.file.insert(file)
            }
        };
        file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_bounded_and_a_place_that_takes_nothing_is_told_once() {
        let folder = std::env::temp_dir().join(format!("mizzen-log-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let mut log = Log::new(folder.join("a.log"));
        assert!(log.write(b"x").is_some(), "there is no folder");
        assert!(log.write(b"x").is_none(), "it was told");
        fs::create_dir_all(&folder).unwrap();
        let line = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            assert!(log.write(&line).is_none());
        }
        let sizes: u64 =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(sizes <= 2 * (LIMIT + (2 << 20)), "{sizes}");
        fs::remove_dir_all(folder).unwrap();
    }
}
