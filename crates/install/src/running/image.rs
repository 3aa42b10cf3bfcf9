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
    let image = container(pod, name)?["image"].as_str()?;
    let image = image.split('@').next().unwrap_or_default();
    let tag = image.rsplit('/').next()?.split_once(':')?.1;
    Some(Version::of_tag(tag).map_or_else(|| tag.to_owned(), |version| version.to_string()))
}
