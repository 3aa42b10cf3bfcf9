//! A folder or a `.tgz` on this machine: charts and profiles side by side, or a single chart.

use std::{borrow::Cow, collections::BTreeMap, fs, io, path::Path};

use bytes::Bytes;
use mizzen_template::helm::{ArchiveLimits, Chart, unpack};
use mizzen_text::Source;

use super::{BuiltIn, FOLDERS, error::SourceError, tree::Tree, unreadable};
use crate::{Charts, ChartsError, Folder};

/// A release has binaries in it, which are passed by.
const RELEASE: ArchiveLimits =
    ArchiveLimits { total: 100 << 20, file: 5 << 20, files: 100_000, stream: 2 << 30 };
/// As large as an archive file may be.
const ARCHIVE: u64 = 512 << 20;

pub(super) fn open(path: &Path) -> Result<Box<dyn Charts>, ChartsError> {
    let read = |error| unreadable(SourceError::Read { path: path.to_owned(), error });
    let meta = fs::metadata(path).map_err(read)?;
    let place = path.display().to_string();
    if meta.is_dir() {
        if path.join("Chart.yaml").is_file() {
            let chart =
                Chart::from_folder(path).map_err(|error| ChartsError::Unreadable(error.to_string()))?;
            return Ok(Box::new(Single { chart, place }));
        }
        return Ok(Box::new(Folder::open(path)?));
    }
    if !meta.is_file() {
        return Err(unreadable(SourceError::Read {
            path: path.to_owned(),
            error: io::Error::other("it is no file"),
        }));
    }
    if meta.len() > ARCHIVE {
        let limit = usize::try_from(ARCHIVE).unwrap_or(usize::MAX);
        return Err(unreadable(SourceError::TooLarge { url: place, limit }));
    }
    archive(&place, &fs::read(path).map_err(read)?).map_err(unreadable)
}

/// The charts in a `.tgz`: a release, or one chart.
pub(super) fn archive(place: &str, bytes: &[u8]) -> Result<Box<dyn Charts>, SourceError> {
    let failed = |error| SourceError::Archive { place: place.to_owned(), error };
    let mut chart = false;
    let wanted = |path: &str| {
        chart |= path.split('/').count() == 2 && path.ends_with("/Chart.yaml");
        split(path).is_some()
    };
    let files = unpack(bytes, &RELEASE, wanted).map_err(failed)?;
    if chart {
        let chart = Chart::from_archive(bytes)
            .map_err(|error| SourceError::Chart { place: place.to_owned(), error })?;
        return Ok(Box::new(Single { chart, place: place.to_owned() }));
    }
    // A release has samples with charts of their own: the folder that has profiles, too, is the one.
    let roots = files.iter().filter_map(|(path, _)| split(path));
    let root = roots.min_by_key(|(above, inner)| (*inner != "profiles/default.yaml", above.len()));
    let Some(root) = root.map(|(above, _)| above.to_owned()) else {
        return Err(SourceError::Neither { place: place.to_owned() });
    };
    let inner = files.into_iter().filter_map(|(path, data)| {
        let (above, inner) = split(&path)?;
        (above == root).then(|| (Cow::Owned(inner.to_owned()), data))
    });
    let files: BTreeMap<Cow<'static, str>, Bytes> = inner.collect();
    Ok(Box::new(Tree { files, what: format!("the charts in {place}") }))
}

/// `istio-1.31.0/manifests/charts/base/Chart.yaml` → `istio-1.31.0/manifests`, `charts/base/Chart.yaml`
fn split(path: &str) -> Option<(&str, &str)> {
    let starts = |folder: &str| {
        if path.starts_with(folder) { Some(0) } else { path.find(&format!("/{folder}")).map(|at| at + 1) }
    };
    let at = [starts("charts/"), starts("profiles/")].into_iter().flatten().min()?;
    Some((path[..at].trim_end_matches('/'), &path[at..]))
}

/// One chart; the profiles are those built in.
struct Single {
    chart: Chart,
    place: String,
}

impl Charts for Single {
    fn profile(&self, name: &str) -> Result<Source, ChartsError> {
        BuiltIn.profile(name)
    }

    fn profiles(&self) -> Vec<String> {
        BuiltIn.profiles()
    }

    fn chart(&self, folder: &str) -> Result<Chart, ChartsError> {
        let own = FOLDERS.iter().find(|(_, name)| *name == self.chart.name());
        if own.is_some_and(|(own, _)| *own == folder) {
            return Ok(self.chart.clone());
        }
        Err(ChartsError::NoChart { folder: folder.to_owned(), source_name: self.describe() })
    }

    fn describe(&self) -> String {
        format!("{}, which is the chart {} alone", self.place, self.chart.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_with_the_charts_is_found_in_a_release() {
        for (path, wanted) in [
            ("charts/base/Chart.yaml", Some(("", "charts/base/Chart.yaml"))),
            ("istio-1.0/manifests/profiles/demo.yaml", Some(("istio-1.0/manifests", "profiles/demo.yaml"))),
            ("a/charts/b/charts/c", Some(("a", "charts/b/charts/c"))),
            ("a/mycharts/b", None),
            ("bin/istioctl", None),
        ] {
            assert_eq!(split(path), wanted, "{path}");
        }
    }
}
