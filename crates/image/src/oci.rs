//! The documents of an OCI image, as far as we write them. Fields are serialised in the order in which they stand
//! here, so the bytes, and with them the digests, depend on nothing else.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::digest::Digest;

pub(crate) const LAYOUT: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// Not compressed: images here travel between processes of one machine.
pub(crate) const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Index {
    pub(crate) schema_version: u8,
    pub(crate) media_type: &'static str,
    pub(crate) manifests: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) schema_version: u8,
    pub(crate) media_type: &'static str,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub(crate) media_type: &'static str,
    pub(crate) digest: Digest,
    pub(crate) size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<Platform>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<&'static str, String>,
}

impl Descriptor {
    pub(crate) fn new(media_type: &'static str, digest: Digest, size: u64) -> Self {
        Self { media_type, digest, size, platform: None, annotations: BTreeMap::new() }
    }
}

#[derive(Serialize)]
pub(crate) struct Platform {
    pub(crate) architecture: &'static str,
    pub(crate) os: &'static str,
}

/// The image's configuration. It has no creation time: that would be the only thing that changes from one build of
/// the same files to the next.
#[derive(Serialize)]
pub(crate) struct Configuration<'a> {
    pub(crate) architecture: &'static str,
    pub(crate) os: &'static str,
    pub(crate) config: &'a Execution,
    pub(crate) rootfs: RootFs,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Execution {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) user: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) env: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) entrypoint: Vec<String>,
    pub(crate) working_dir: &'static str,
}

#[derive(Serialize)]
pub(crate) struct RootFs {
    pub(crate) r#type: &'static str,
    /// Digests of the layers before compression; ours are not compressed, so these are the layers' own.
    pub(crate) diff_ids: Vec<Digest>,
}
