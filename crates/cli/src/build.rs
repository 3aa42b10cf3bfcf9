//! Where this binary came from, as the build script found it.

use serde::Serialize;

/// The Istio line whose objects, flags and configuration this version speaks.
pub(crate) const ISTIO: &str = "1.31";

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The first five fields are those of `istioctl version -o json`, except that `golang_version` is `rust_version`;
/// the others are ours. What is not known is `unknown`, as there.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Build {
    /// Mizzen's version, not Istio's.
    pub(crate) version: &'static str,
    /// The commit.
    pub(crate) revision: &'static str,
    pub(crate) rust_version: &'static str,
    /// `Clean` or `Modified`: whether the sources are those of the revision.
    pub(crate) status: &'static str,
    /// The tag at the revision.
    pub(crate) tag: &'static str,
    pub(crate) istio_version: &'static str,
    pub(crate) target: &'static str,
    /// `debug` or `release`.
    pub(crate) profile: &'static str,
}

impl Build {
    /// As Istio's programs say it to each other: `1.31.0-<revision>-Clean`.
    pub(crate) fn in_a_word(&self) -> String {
        format!("{}-{}-{}", self.version, self.revision, self.status)
    }
}

pub(crate) const BUILD: Build = Build {
    version: VERSION,
    revision: env!("MIZZEN_BUILT_REVISION"),
    rust_version: env!("MIZZEN_BUILT_RUST"),
    status: env!("MIZZEN_BUILT_STATUS"),
    tag: env!("MIZZEN_BUILT_TAG"),
    istio_version: ISTIO,
    target: env!("MIZZEN_BUILT_TARGET"),
    profile: env!("MIZZEN_BUILT_PROFILE"),
};
