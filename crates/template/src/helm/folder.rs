//! A folder → the files of a chart, without what its `.helmignore` names. Links are followed, as Helm follows them, but
//! never in a circle.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::{archive::ArchiveLimits, chart::File, error::ChartError, ignore::Rules};

/// Folders in each other.
const DEPTH: usize = 64;

pub(super) fn read(folder: &Path) -> Result<Vec<File>, ChartError> {
    let chart = folder.join("Chart.yaml");
    // First, so that a home folder given by mistake is not walked.
    if !chart.is_file() {
        return match fs::metadata(folder) {
            Err(error) => Err(ChartError::Read { path: folder.to_owned(), error }),
            Ok(_) => Err(ChartError::NotAChart { place: folder.display().to_string() }),
        };
    }
    let ignore = folder.join(".helmignore");
    let text = match fs::read_to_string(&ignore) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(ChartError::Read { path: ignore, error }),
    };
    let rules = Rules::new(&text).map_err(|(line, message)| ChartError::Folder {
        path: PathBuf::from(format!("{}:{line}", ignore.display())),
        message: message.to_owned(),
    })?;
    let mut walk = Walk { rules, files: Vec::new(), total: 0 };
    walk.folder(folder, "", &mut Vec::new())?;
    Ok(walk.files)
}

struct Walk {
    rules: Rules,
    files: Vec<File>,
    total: u64,
}

impl Walk {
    /// `above` are the real paths of the folders that led here.
    fn folder(&mut self, folder: &Path, prefix: &str, above: &mut Vec<PathBuf>) -> Result<(), ChartError> {
        let failed = |error| ChartError::Read { path: folder.to_owned(), error };
        let real = folder.canonicalize().map_err(failed)?;
        if above.contains(&real) || above.len() >= DEPTH {
            let message = "this folder holds itself through a link: remove the link".to_owned();
            return Err(ChartError::Folder { path: folder.to_owned(), message });
        }
        above.push(real);
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(own) = path.file_name().and_then(|name| name.to_str()) else {
                let message = "the file's name is not UTF-8: rename it".to_owned();
                return Err(ChartError::Folder { path, message });
            };
            let name = format!("{prefix}{own}");
            let meta = fs::metadata(&path);
            let is_folder = meta.as_ref().is_ok_and(fs::Metadata::is_dir);
            if self.rules.ignores(&name, is_folder) {
                continue;
            }
            let meta = meta.map_err(|error| ChartError::Read { path: path.clone(), error })?;
            if is_folder {
                self.folder(&path, &format!("{name}/"), above)?;
            } else {
                self.file(path, name, &meta)?;
            }
        }
        above.pop();
        Ok(())
    }

    fn file(&mut self, path: PathBuf, name: String, meta: &fs::Metadata) -> Result<(), ChartError> {
        let limits = ArchiveLimits::CHART;
        let refuse = |message: String| Err(ChartError::Folder { path: path.clone(), message });
        if !meta.is_file() {
            return refuse("this is no regular file: remove it or name it in .helmignore".into());
        }
        self.total += meta.len();
        if meta.len() > limits.file || self.total > limits.total || self.files.len() >= limits.files {
            return refuse(format!(
                "a chart may have {} files of {} MiB each and {} MiB together: name what is no part of it in .helmignore",
                limits.files,
                limits.file >> 20,
                limits.total >> 20
            ));
        }
        let data = fs::read(&path).map_err(|error| ChartError::Read { path, error })?;
        self.files.push(File { name, data: Bytes::from(data) });
        Ok(())
    }
}
