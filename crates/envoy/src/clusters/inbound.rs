//! Clusters of what the proxy's own workload serves: one for each port that it listens on.

use super::{
    Client,
    draft::Draft,
    fixed::{BIND_V4, BIND_V6},
    pool,
    stat_name::stat_name,
};
use crate::{
    Context, Resource,
    endpoints::{Assignment, EndpointAddress, Group, LbEndpoint},
    message::{address, seconds, socket_address},
    names,
    policy::Policy,
};
use mizzen_mesh::{ByPointer, Target, config::DestinationRule};
use mizzen_proto::{
    envoy::config::{cluster::v3::cluster::DiscoveryType, core::v3::BindConfig},
    istio::mesh::v1alpha1::{MeshConfig, mesh_config::inbound_traffic_policy::Mode},
};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    client: Arc<Client>,
    /// Those on one port of the workload; the first one decides.
    targets: Vec<Target>,
    /// Of the first one's service.
    rule: Option<ByPointer<DestinationRule>>,
    /// IPv4, IPv6.
    families: (bool, bool),
    /// Where the workload listens, if it is not where the proxy's port says.
    app: Option<SocketAddr>,
}

impl Inputs {
    pub(super) fn all(
        context: &Context<'_>,
        client: &Arc<Client>,
        apps: &BTreeMap<u32, SocketAddr>,
    ) -> Vec<Self> {
        let (scope, families) = (context.scope(), context.proxy.families());
        let mut ports: BTreeMap<u32, Vec<Target>> = BTreeMap::new();
        for target in context.proxy.targets().iter() {
            ports.entry(target.target_port).or_default().push(target.clone());
        }
        let inputs = |targets: Vec<Target>| {
            // A rule for some clients says nothing about a server.
            let rules = targets
                .first()
                .and_then(|target| scope.service(target.service.host()))
                .map(|seen| &seen.rules);
            let rule = rules.and_then(|rules| rules.iter().find(|rule| rule.selector.is_empty()));
            let app = targets.first().and_then(|target| apps.get(&target.target_port)).copied();
            Self { client: Arc::clone(client), rule: rule.map(ByPointer::from), targets, families, app }
        };
        ports.into_values().map(inputs).collect()
    }
}

/// The cleanup of idle hosts is put off for ever, which is as far as a duration goes.
const NEVER: i64 = 9_223_372_035;

pub(super) fn build(inputs: &Inputs) -> Arc<Resource> {
    let Inputs { client, targets, rule, families, app } = inputs;
    let mesh = &client.mesh;
    // Inputs are made of targets: there is a first one.
    let Some(first) = targets.first() else { return Arc::new(Resource::new("", Vec::new())) };
    let name = names::inbound(first.target_port);
    let local = match app {
        Some(app) => Some((app.ip().to_string(), u32::from(app.port()))),
        None => local_address(mesh, *families).map(|address| (address.to_owned(), first.target_port)),
    };
    let kind = if local.is_some() { DiscoveryType::Static } else { DiscoveryType::OriginalDst };
    let mut draft = Draft::of_service(name.clone(), kind, client, &first.port);
    if !first.service.external {
        let mut hosts = Vec::new();
        let alike = targets.iter().filter(|target| target.port.number == first.port.number);
        let services = alike.map(|target| &*target.service).filter(|service| {
            let new = !hosts.contains(&&service.key.host);
            hosts.push(&service.key.host);
            new
        });
        draft.say_services(services.collect::<Vec<_>>().into_iter());
    }
    if !mesh.inbound_cluster_stat_name.is_empty() {
        draft.cluster.alt_stat_name =
            stat_name(&mesh.inbound_cluster_stat_name, &first.service, "", &first.port, first.target_port);
    }
    let rule = rule.as_ref().filter(|rule| rule.spec.traffic_policy.is_some());
    let policy = Policy::of_destination(rule.map(|rule| &rule.spec), first.port.number).or_mesh(mesh);
    if let (Some(rule), Some(_)) = (rule, &draft.metadata) {
        draft.say_rule(rule.from.first());
    }
    pool::apply(&mut draft, mesh, &policy);
    match local {
        Some((local, port)) => {
            let endpoint = EndpointAddress { address: Some(address(&local, port)) };
            let group = Group {
                endpoints: vec![LbEndpoint { endpoint: Some(endpoint), ..LbEndpoint::default() }],
                ..Group::default()
            };
            draft.assignment = Some(Assignment { cluster_name: name, groups: vec![group] });
        }
        None => {
            draft.cluster.cleanup_interval = Some(seconds(NEVER));
            draft.cluster.upstream_bind_config = Some(BindConfig {
                source_address: Some(socket_address(if families.0 { BIND_V4 } else { BIND_V6 }, 0)),
                ..BindConfig::default()
            });
        }
    }
    draft.finish()
}

/// Where applications listen if the mesh says that they do so on the loopback address only.
fn local_address(mesh: &MeshConfig, (v4, _): (bool, bool)) -> Option<&'static str> {
    let mode = mesh.inbound_traffic_policy.as_ref().map(|policy| policy.mode);
    (mode == Some(Mode::Localhost.into())).then_some(if v4 { "127.0.0.1" } else { "::1" })
}
