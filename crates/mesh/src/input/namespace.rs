use super::null_is_default;
use mizzen_api::Metadata;
use serde::Deserialize;

/// Its labels choose, and name its network.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Namespace {
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: Metadata,
}
