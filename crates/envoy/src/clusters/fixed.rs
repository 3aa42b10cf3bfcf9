//! Clusters that are there whatever the mesh has: to nowhere, and to where the client wanted to go.

use super::{
    Client,
    draft::{Draft, preserve_case, protocol_of_request},
    pool,
};
use crate::{
    Resource,
    message::{duration, seconds, socket_address},
    names,
    policy::Policy,
};
use mizzen_mesh::ByPointer;
use mizzen_proto::{
    envoy::{
        config::{
            cluster::v3::cluster::DiscoveryType,
            core::v3::{self, BindConfig, ExtraSourceAddress, Http1ProtocolOptions},
        },
        extensions::upstreams::http::v3::HttpProtocolOptions,
    },
    istio::mesh::v1alpha1::MeshConfig,
};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Inputs {
    BlackHole {
        mesh: ByPointer<MeshConfig>,
    },
    Passthrough {
        client: Arc<Client>,
    },
    /// Families: IPv4, IPv6.
    InboundPassthrough {
        client: Arc<Client>,
        families: (bool, bool),
    },
}

/// Connections from these addresses are not redirected back to the proxy.
pub(super) const BIND_V4: &str = "127.0.0.6";
pub(super) const BIND_V6: &str = "::6";

pub(super) fn build(inputs: &Inputs) -> Arc<Resource> {
    match inputs {
        Inputs::BlackHole { mesh } => {
            let mut draft = Draft::new(names::BLACK_HOLE.to_owned(), DiscoveryType::Static);
            draft.cluster.connect_timeout = mesh.connect_timeout.and_then(duration);
            draft.finish()
        }
        Inputs::Passthrough { client } => {
            let mut draft = passthrough(client);
            if client.exchange {
                draft.exchange_metadata();
            }
            draft.finish()
        }
        Inputs::InboundPassthrough { client, families } => {
            let mut draft = passthrough(client);
            // It is counted under the other's name: Istio's dashboards know it so.
            names::INBOUND_PASSTHROUGH.clone_into(&mut draft.cluster.name);
            let (v4, v6) = *families;
            let extra = ExtraSourceAddress {
                address: Some(socket_address(BIND_V6, 0)),
                ..ExtraSourceAddress::default()
            };
            draft.cluster.upstream_bind_config = Some(BindConfig {
                source_address: Some(socket_address(if v4 { BIND_V4 } else { BIND_V6 }, 0)),
                extra_source_addresses: if v4 && v6 { vec![extra] } else { Vec::new() },
                ..BindConfig::default()
            });
            draft.finish()
        }
    }
}

fn passthrough(client: &Client) -> Draft {
    let mut draft = Draft::new(names::PASSTHROUGH.to_owned(), DiscoveryType::OriginalDst);
    let mesh = &client.mesh;
    pool::apply(&mut draft, mesh, &Policy { outlier: None, ..Policy::default().or_mesh(mesh) });
    let http1 = if client.preserve_case { preserve_case() } else { Http1ProtocolOptions::default() };
    // What the mesh's pool says about HTTP does not hold here: nobody knows what is spoken.
    draft.http = Some(HttpProtocolOptions {
        common_http_protocol_options: Some(v3::HttpProtocolOptions {
            idle_timeout: Some(seconds(5 * 60)),
            ..v3::HttpProtocolOptions::default()
        }),
        upstream_protocol_options: Some(protocol_of_request(http1)),
        ..HttpProtocolOptions::default()
    });
    draft
}
