//! Versions as images have them.

use serde_json::Value;

use crate::Version;

/// A container of a pod; a native sidecar is among the first ones.
pub(super) fn container<'p>(pod: &'p Value, name: &str) -> Option<&'p Value> {
    let of = |field: &str| pod["spec"][field].as_array().into_iter().flatten();
    of("containers").chain(of("initContainers")).find(|container| container["name"] == name)
}

/// The version of a container's image, or its tag where that is none.
pub(super) fn version_of(pod: &Value, name: &str) -> Option<String> {
    let (_, tag) = name_and_tag(container(pod, name)?["image"].as_str()?);
    let tag = tag?;
    Some(Version::of_tag(tag).map_or_else(|| tag.to_owned(), |version| version.to_string()))
}

/// `pilot` and `1.31.0` of `hub/pilot:1.31.0@sha256:…`
pub(crate) fn name_and_tag(image: &str) -> (&str, Option<&str>) {
    let image = image.split('@').next().unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)))
}
