//! Tracing as the mesh's and the proxy's configuration ask for it: how many requests, and which tags their spans get.

use super::message::number;
use mizzen_proto::{
    envoy::{
        extensions::filters::network::http_connection_manager::v3::http_connection_manager::Tracing,
        r#type::{
            metadata::v3::{
                MetadataKey, MetadataKind,
                metadata_key::{PathSegment, path_segment::Segment},
                metadata_kind,
            },
            tracing::v3::{CustomTag, custom_tag},
            v3::Percent,
        },
    },
    istio::mesh::v1alpha1::{ProxyConfig, tracing::custom_tag as istio},
};
use std::sync::Arc;

/// Whose spans they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) revision: Arc<str>,
    pub(super) service: Arc<str>,
    pub(super) mesh: Arc<str>,
    pub(super) namespace: Arc<str>,
    pub(super) cluster: Arc<str>,
}

/// `PILOT_TRACE_SAMPLING`
const DEFAULT_PERCENT: f64 = 1.0;

/// Whether spans get Istio's tags.
pub(super) fn tagged(config: &ProxyConfig) -> bool {
    config.tracing.as_ref().and_then(|tracing| tracing.enable_istio_tags).unwrap_or(true)
}

pub(super) fn tracing(config: &ProxyConfig, origin: Option<&Origin>) -> Tracing {
    let asked = config.tracing.as_ref();
    let percent = |value| Some(Percent { value });
    let mut tags: Vec<CustomTag> = origin.map(istio_tags).unwrap_or_default();
    if let Some(asked) = asked {
        tags.extend(asked.custom_tags.iter().filter_map(|(name, tag)| custom(name, tag.r#type.as_ref()?)));
    }
    tags.sort_by(|a, b| a.tag.cmp(&b.tag));
    Tracing {
        client_sampling: percent(100.0),
        overall_sampling: percent(100.0),
        random_sampling: percent(match asked.map(|asked| asked.sampling) {
            Some(sampling) if sampling > 100.0 => 1.0,
            Some(sampling) if sampling != 0.0 => sampling,
            _ => DEFAULT_PERCENT,
        }),
        max_path_tag_length: asked
            .map(|asked| asked.max_path_tag_length)
            .filter(|&length| length != 0)
            .and_then(number),
        custom_tags: tags,
        ..Tracing::default()
    }
}

fn tag(name: &str, r#type: custom_tag::Type) -> CustomTag {
    CustomTag { tag: name.to_owned(), r#type: Some(r#type) }
}

fn literal(name: &str, value: &str) -> CustomTag {
    tag(name, custom_tag::Type::Literal(custom_tag::Literal { value: value.to_owned() }))
}

fn istio_tags(origin: &Origin) -> Vec<CustomTag> {
    let mut tags = vec![
        literal("istio.canonical_revision", &origin.revision),
        literal("istio.canonical_service", &origin.service),
        literal("istio.mesh_id", &origin.mesh),
        literal("istio.namespace", &origin.namespace),
        literal("istio.cluster_id", &origin.cluster),
    ];
    for action in ["allow", "deny"] {
        for (what, key) in [("name", "shadow_effective_policy_id"), ("result", "shadow_engine_result")] {
            tags.push(tag(
                &format!("istio.authorization.dry_run.{action}_policy.{what}"),
                custom_tag::Type::Metadata(request_metadata(&format!("istio_dry_run_{action}_{key}"))),
            ));
        }
    }
    tags
}

/// What authorization wrote down about the request.
fn request_metadata(key: &str) -> custom_tag::Metadata {
    custom_tag::Metadata {
        kind: Some(MetadataKind { kind: Some(metadata_kind::Kind::Request(metadata_kind::Request {})) }),
        metadata_key: Some(MetadataKey {
            key: "envoy.filters.http.rbac".to_owned(),
            path: vec![PathSegment { segment: Some(Segment::Key(key.to_owned())) }],
        }),
        ..custom_tag::Metadata::default()
    }
}

fn custom(name: &str, asked: &istio::Type) -> Option<CustomTag> {
    Some(tag(
        name,
        match asked {
            istio::Type::Literal(literal) => {
                custom_tag::Type::Literal(custom_tag::Literal { value: literal.value.clone() })
            }
            istio::Type::Environment(variable) => custom_tag::Type::Environment(custom_tag::Environment {
                name: variable.name.clone(),
                default_value: variable.default_value.clone(),
            }),
            istio::Type::Header(header) => custom_tag::Type::RequestHeader(custom_tag::Header {
                name: header.name.clone(),
                default_value: header.default_value.clone(),
            }),
            #[allow(unreachable_patterns, reason = "what a newer API adds")]
            _ => return None,
        },
    ))
}
