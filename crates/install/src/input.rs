//! What a person gives: files, flags, and what is said about the cluster.

use mizzen_text::Source;

#[derive(Clone, Debug, Default)]
pub struct Input {
    /// IstioOperator files, left to right.
    pub files: Vec<Source>,
    /// `--set path=value`, in order.
    pub sets: Vec<String>,
    /// `--revision`; `default` is none.
    pub revision: Option<String>,
    /// `--manifests`: where charts and profiles are.
    pub manifests: Option<String>,
    /// What is wrong becomes a warning.
    pub force: bool,
    /// The cluster's version, for instance `v1.33.4`; without one istioctl's oldest supported.
    pub kube_version: Option<String>,
    /// Images that the program was built with; they stand between profile and user.
    pub images: Option<Images>,
}

/// Where images are and which ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    pub hub: String,
    pub tag: String,
}

impl Input {
    /// All assignments as the user would find them on the command line, with what `--set` would take.
    pub(crate) fn assignments(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> = self.sets.iter().map(|set| (format!("--set {set}"), set.clone())).collect();
        if let Some(path) = self.manifests.as_deref().filter(|path| !path.is_empty()) {
            all.push((format!("--manifests {path}"), format!("installPackagePath={path}")));
        }
        if let Some(revision) = self.revision.as_deref().filter(|name| !matches!(*name, "" | "default")) {
            all.push((format!("--revision {revision}"), format!("revision={revision}")));
        }
        all
    }
}
