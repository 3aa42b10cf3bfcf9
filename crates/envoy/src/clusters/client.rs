//! What of a proxy all of its clusters depend on.

use crate::{Context, Filters};
use mizzen_mesh::{ByPointer, ProxyKind};
use mizzen_proto::istio::mesh::v1alpha1::MeshConfig;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Client {
    pub kind: ProxyKind,
    pub mesh: ByPointer<MeshConfig>,
    /// Header names of HTTP/1 keep their case.
    pub preserve_case: bool,
    /// Tells the other side who it is, by Istio's filter.
    pub exchange: bool,
    /// HTTP is announced by a filter state, which holds for every cluster that does not say otherwise.
    pub announced: bool,
    /// Certificates on the proxy's disk, instead of the mesh's.
    pub certificates: Option<Certificates>,
}

/// Paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Certificates {
    pub chain: Arc<str>,
    pub key: Arc<str>,
    pub root: Arc<str>,
}

impl Client {
    pub(super) fn ask(context: &Context<'_>) -> Self {
        let proxy = context.proxy;
        let path = |key| proxy.metadata(key).unwrap_or_default();
        let chain = path("TLS_CLIENT_CERT_CHAIN");
        Self {
            kind: proxy.kind(),
            mesh: ByPointer::from(&context.settings().mesh),
            preserve_case: preserve_case(context),
            announced: context.options.filters == Filters::Stock && context.options.alpn,
            exchange: context.options.filters == Filters::Istio && context.options.metadata_exchange,
            certificates: (!chain.is_empty()).then(|| Certificates {
                chain,
                key: path("TLS_CLIENT_KEY"),
                root: path("TLS_CLIENT_ROOT_CERT"),
            }),
        }
    }
}

/// The proxy's own configuration, else the mesh's default for proxies.
fn preserve_case(context: &Context<'_>) -> bool {
    if let Some(own) = context.proxy.metadata_part("PROXY_CONFIG", "/proxyHeaders/preserveHttp1HeaderCase") {
        return &*own == "true";
    }
    let default = context.mesh().default_config.as_ref().and_then(|config| config.proxy_headers.as_ref());
    default.and_then(|headers| headers.preserve_http1_header_case) == Some(true)
}
