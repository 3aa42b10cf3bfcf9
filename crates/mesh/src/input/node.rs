use super::null_is_default;
use mizzen_api::Metadata;
use serde::Deserialize;

/// Its labels say where it stands.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Node {
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: Metadata,
}
