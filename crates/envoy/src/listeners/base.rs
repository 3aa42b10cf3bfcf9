//! What all listeners of a proxy have in common, so that it is found out once.
//!
//! In: the mesh configuration, the process's options and what the proxy says of itself. Out: a [`Base`], the same one for all proxies that
//! say the same; a listener's key holds it by its address.

use super::{
    access_log::AccessLogs,
    address::Families,
    connection,
    spans::{self, Origin},
};
use crate::{Context, Options, local, names};
use mizzen_mesh::{ByPointer, ProxyKind};
use mizzen_proto::{
    Duration,
    envoy::extensions::filters::network::http_connection_manager::v3::http_connection_manager::Tracing,
    istio::mesh::v1alpha1::{
        MeshConfig, MeshNetworks, ProxyConfig, mesh_config::outbound_traffic_policy::Mode,
        proxy_config::ConnectionSettings,
    },
};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    mesh: ByPointer<MeshConfig>,
    networks: ByPointer<MeshNetworks>,
    options: Options,
    kind: ProxyKind,
    families: Families,
    local: Option<Arc<str>>,
    origin: Option<Origin>,
    /// The proxy's own configuration as JSON, where it has one.
    config: Option<Arc<str>>,
    http10: bool,
    idle: Option<Duration>,
    outbound_balance: bool,
}

impl Inputs {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let settings = context.settings();
        let proxy = context.proxy;
        let config = proxy.metadata("PROXY_CONFIG").filter(|text| !text.is_empty());
        Self {
            mesh: ByPointer::from(&settings.mesh),
            networks: ByPointer::from(&settings.networks),
            options: context.options.clone(),
            kind: proxy.kind(),
            families: Families::new(proxy.families()),
            local: local::address(proxy),
            origin: origin(context),
            config,
            http10: proxy.metadata("HTTP10").as_deref() == Some("1"),
            idle: proxy.metadata("IDLE_TIMEOUT").and_then(|text| text.parse().ok()),
            outbound_balance: is_true(proxy.metadata("OUTBOUND_LISTENER_EXACT_BALANCE").as_ref()),
        }
    }
}

pub(super) fn is_true(value: Option<&Arc<str>>) -> bool {
    matches!(value.map(|value| &**value), Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
}

/// Asked only if it gets into spans: it tells nearly every workload from every other.
fn origin(context: &Context<'_>) -> Option<Origin> {
    if !context.mesh().enable_tracing {
        return None;
    }
    let proxy = context.proxy;
    let or = |value: Option<Arc<str>>, other: &str| match value {
        Some(value) if !value.is_empty() => value,
        _ => other.into(),
    };
    Some(Origin {
        revision: or(proxy.label("service.istio.io/canonical-revision"), "latest"),
        service: or(proxy.label("service.istio.io/canonical-name"), "unknown"),
        mesh: or(proxy.metadata("MESH_ID"), "unknown"),
        namespace: or(proxy.metadata("NAMESPACE"), "default"),
        cluster: or(proxy.metadata("CLUSTER_ID"), "unknown"),
    })
}

#[derive(Debug)]
pub(super) struct Base {
    pub(super) mesh: Arc<MeshConfig>,
    pub(super) networks: Arc<MeshNetworks>,
    pub(super) options: Options,
    pub(super) families: Families,
    /// The address that it has on a machine that it shares.
    pub(super) local: Option<Arc<str>>,
    pub(super) config: ProxyConfig,
    pub(super) connection: Option<ConnectionSettings>,
    pub(super) tracing: Option<Tracing>,
    pub(super) logs: AccessLogs,
    pub(super) http10: bool,
    pub(super) idle: Option<Duration>,
    pub(super) outbound_balance: bool,
}

impl Base {
    pub(super) fn new(inputs: &Inputs) -> Arc<Self> {
        let mesh = &inputs.mesh.0;
        let own = inputs.config.as_deref().and_then(|text| match serde_json::from_str(text) {
            Ok(config) => Some(config),
            Err(error) => {
                tracing::warn!("a proxy's PROXY_CONFIG cannot be read, the mesh's holds: {error}");
                None
            }
        });
        let config: ProxyConfig = own.or_else(|| mesh.default_config.clone()).unwrap_or_default();
        let origin = inputs.origin.as_ref().filter(|_| spans::tagged(&config));
        Arc::new(Self {
            tracing: mesh.enable_tracing.then(|| spans::tracing(&config, origin)),
            logs: AccessLogs::new(mesh),
            connection: connection::settings(&config, mesh, inputs.kind),
            config,
            mesh: Arc::clone(mesh),
            networks: Arc::clone(&inputs.networks.0),
            options: inputs.options.clone(),
            families: inputs.families,
            local: inputs.local.clone(),
            http10: inputs.http10,
            idle: inputs.idle,
            outbound_balance: inputs.outbound_balance,
        })
    }

    /// Where only the workload beside the proxy reaches it; the first names the listener.
    pub(super) fn localhosts(&self) -> Vec<&str> {
        match &self.local {
            Some(address) => vec![address],
            None => self.families.localhosts().to_vec(),
        }
    }

    /// Where traffic goes that no service takes.
    pub(super) fn unknown_traffic(&self) -> String {
        let policy = self.mesh.outbound_traffic_policy.as_ref();
        let mode = policy.and_then(|policy| Mode::try_from(policy.mode).ok()).unwrap_or(Mode::RegistryOnly);
        match mode {
            Mode::RegistryOnly => names::BLACK_HOLE.to_owned(),
            _ => names::PASSTHROUGH.to_owned(),
        }
    }
}
