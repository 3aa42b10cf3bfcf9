//! `--istio-manifests`: charts of one version, or a folder with those of several.

use std::{fs, path::Path};

/// The places of all sets of charts. What has none is handed on: whoever opens it says why not.
pub(super) fn of(place: &str) -> Vec<String> {
    let folder = Path::new(place);
    let has_charts = |folder: &Path| folder.join("charts").is_dir() || folder.join("profiles").is_dir();
    if !folder.is_dir() || has_charts(folder) {
        return vec![place.to_owned()];
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // A release has its charts one level further down.
    let below = entries.flat_map(|entry| [entry.join("manifests"), entry]);
    let mut found: Vec<String> =
        below.filter(|folder| has_charts(folder)).map(|folder| folder.display().to_string()).collect();
    found.sort();
    if found.is_empty() { vec![place.to_owned()] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process};

    #[test]
    fn a_folder_may_have_several() {
        let root = env::temp_dir().join(format!("mizzen-sources-{}", process::id()));
        for folder in ["1.30/charts", "istio-1.31.0/manifests/charts", "other/docs"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let name = |folder: &str| root.join(folder).display().to_string();
        assert_eq!(of(&root.display().to_string()), [name("1.30"), name("istio-1.31.0/manifests")]);
        assert_eq!(of(&name("1.30")), [name("1.30")]);
        assert_eq!(of(&name("other")), [name("other")], "it has none");
        assert_eq!(of("oci://charts.example/istio"), ["oci://charts.example/istio"]);
        fs::remove_dir_all(&root).unwrap();
    }
}
