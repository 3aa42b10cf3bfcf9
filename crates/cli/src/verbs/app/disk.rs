//! The files of an application on this machine.

use crate::inputs::{self, Input};
use mizzen_app::Files;
use mizzen_text::{Code, Diagnostic, Place, Source, yaml::Options};
use std::path::{Path, PathBuf};

pub(super) struct Disk {
    pub(super) folder: PathBuf,
    /// A file that was named on the command line, so from where that was typed.
    pub(super) platform: Option<String>,
}

impl Disk {
    /// As it is shown: without a `./` that nobody typed.
    fn path(&self, name: &str) -> PathBuf {
        match &self.platform {
            Some(platform) if name == platform => PathBuf::from(platform),
            _ if self.folder == Path::new(".") => PathBuf::from(name),
            _ => self.folder.join(name),
        }
    }
}

impl Files for Disk {
    fn file(&self, name: &str) -> Result<Option<Source>, Box<Diagnostic>> {
        let path = self.path(name);
        // Whatever else is wrong with it is told when it is read.
        if matches!(path.try_exists(), Ok(false)) {
            return Ok(None);
        }
        // A pipe that nobody writes into would be waited for without end; one that somebody has named is theirs.
        let typed = self.platform.as_deref() == Some(name);
        if path.metadata().is_ok_and(|about| about.is_dir() || !about.is_file() && !typed) {
            let place = Place::whole(&Source::new(path.display().to_string(), Vec::new()));
            return Err(Box::new(
                Diagnostic::new(Code::AppFile, format!("{} is no file", path.display())).at(place),
            ));
        }
        self.folder(name).into_iter().next().transpose()
    }

    fn names(&self) -> Vec<String> {
        // Whatever is wrong with the folder is told when a file of it is read.
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn folder(&self, name: &str) -> Vec<Result<Source, Box<Diagnostic>>> {
        let path = [self.path(name).display().to_string()];
        let read = inputs::read(&path, &Options::OWN).map(|input| match input {
            Input::Source(source) => Ok(source),
            Input::Unreadable(diagnostic) => Err(diagnostic),
        });
        read.collect()
    }
}
