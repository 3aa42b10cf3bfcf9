//! Charts and profiles as files in memory: `charts/…` and `profiles/…`.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use mizzen_template::helm::Chart;
use mizzen_text::Source;

use crate::{Charts, ChartsError};

/// Files by their paths from the folder that has `charts` and `profiles` in it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub files: BTreeMap<Cow<'static, str>, Bytes>,
    /// For sentences: `the charts in x.tgz`.
    pub what: String,
}

impl Charts for Tree {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        let path = format!("profiles/{name}.yaml");
        match self.files.get(path.as_str()) {
            Some(bytes) => Ok(Source::new(path, bytes.to_vec())),
            None => Err(ChartsError::no_profile(name, self)),
        }
    }

    fn profiles(&self) -> Vec<String> {
        let names =
            self.files.keys().filter_map(|path| path.strip_prefix("profiles/")?.strip_suffix(".yaml"));
        names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let prefix = format!("charts/{folder}/");
        let from = self.files.range(Cow::Borrowed(prefix.as_str())..);
        let own =
            from.map_while(|(path, bytes)| Some((path.strip_prefix(&prefix)?.to_owned(), bytes.clone())));
        let own: Vec<(String, Bytes)> = own.collect();
        if own.is_empty() {
            return Err(ChartsError::NoChart { folder: folder.to_owned(), source_name: self.what.clone() });
        }
        Chart::from_files(own).map_err(|error| ChartsError::Unreadable(format!("{}: {error}", self.what)))
    }

    fn describe(&self) -> String {
        self.what.clone()
    }
}
