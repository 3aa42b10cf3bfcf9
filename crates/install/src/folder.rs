//! Charts and profiles in a folder, as an Istio release has them: `charts/` and `profiles/` side by side.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mizzen_template::helm::Chart;
use mizzen_text::Source;

use crate::{Charts, ChartsError};

/// A profile is a page of text; more is no profile.
const LARGEST_PROFILE: u64 = 4 << 20;

#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder that has `charts` and `profiles` in it.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, ChartsError> {
        let root = root.into();
        if !root.join("charts").is_dir() && !root.join("profiles").is_dir() {
            let shown = root.display();
            let message = if root.is_dir() {
                format!(
                    "{shown} has neither `charts` nor `profiles` in it: give the folder `manifests` of an Istio release"
                )
            } else {
                format!("{shown} is no folder: give the folder `manifests` of an Istio release")
            };
            return Err(ChartsError::Unreadable(message));
        }
        Ok(Self { root })
    }
}

impl Charts for Folder {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        if !is_name(name) {
            return Err(ChartsError::no_profile(name, self));
        }
        let path = self.root.join("profiles").join(format!("{name}.yaml"));
        let shown = path.display().to_string();
        let read = fs::metadata(&path).and_then(|found| {
            if found.len() > LARGEST_PROFILE {
                return Err(io::Error::other("it is too large for a profile"));
            }
            fs::read(&path)
        });
        match read {
            Ok(bytes) => Ok(Source::new(shown, bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ChartsError::no_profile(name, self)),
            Err(error) => Err(ChartsError::Unreadable(format!("{shown}: {error}"))),
        }
    }

    fn profiles(&self) -> Vec<String> {
        let files = fs::read_dir(self.root.join("profiles")).into_iter().flatten().flatten();
        let names =
            files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".yaml")?.to_owned()));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let path = self.root.join("charts").join(folder);
        if !path.is_dir() {
            return Err(ChartsError::NoChart { folder: folder.to_owned(), source_name: self.describe() });
        }
        Chart::from_folder(&path).map_err(|error| ChartsError::Unreadable(error.to_string()))
    }

    fn describe(&self) -> String {
        format!("the charts in {}", self.root.display())
    }
}

/// A name leads to no other folder.
fn is_name(name: &str) -> bool {
    !name.is_empty() && Path::new(name).file_name().is_some_and(|file| file == name) && !name.contains('\\')
}
