//! From a service's endpoints to the groups that a client gets.

use super::{
    Inputs,
    lb_endpoint::{health, lb_endpoint},
    spread,
};
use crate::{
    message::number,
    metadata::Metadata,
    policy::{is_distributed, tls_mode},
};
use mizzen_mesh::{Endpoint, Health, Locality, TlsMode, config::MtlsMode};
use mizzen_proto::{
    envoy::config::core::v3::{self, Address},
    google::protobuf::UInt32Value,
    istio::networking::v1alpha3::client_tls_settings::TlSmode,
};
use std::{collections::HashMap, net::IpAddr, sync::Arc};

/// `envoy.config.endpoint.v3.ClusterLoadAssignment` as far as it is used, with ordered metadata.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Assignment {
    #[prost(string, tag = "1")]
    pub cluster_name: String,
    #[prost(message, repeated, tag = "2")]
    pub groups: Vec<Group>,
}

/// `LocalityLbEndpoints`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Group {
    #[prost(message, optional, tag = "1")]
    pub locality: Option<v3::Locality>,
    #[prost(message, repeated, tag = "2")]
    pub endpoints: Vec<LbEndpoint>,
    #[prost(message, optional, tag = "3")]
    pub load_balancing_weight: Option<UInt32Value>,
    #[prost(uint32, tag = "5")]
    pub priority: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LbEndpoint {
    #[prost(message, optional, tag = "1")]
    pub endpoint: Option<EndpointAddress>,
    #[prost(enumeration = "v3::HealthStatus", tag = "2")]
    pub health_status: i32,
    #[prost(message, optional, tag = "3")]
    pub metadata: Option<Metadata>,
    #[prost(message, optional, tag = "4")]
    pub load_balancing_weight: Option<UInt32Value>,
}

/// `Endpoint`
#[derive(Clone, PartialEq, prost::Message)]
pub struct EndpointAddress {
    #[prost(message, optional, tag = "1")]
    pub address: Option<Address>,
}

/// Who holds the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// An assignment of its own: numeric addresses only.
    Assignment,
    /// The cluster itself, whose proxy resolves names.
    Cluster,
}

/// A group with what it was made of.
pub(super) struct Gathered<'a> {
    pub locality: &'a Locality,
    pub from: Vec<&'a Arc<Endpoint>>,
    pub group: Group,
}

/// A service with this label keeps sessions to an endpoint even while it drains.
pub(crate) const PERSISTENT_SESSION: &str = "istio.io/persistent-session";

impl Inputs {
    pub(crate) fn assignment(&self, cluster: &str) -> Assignment {
        let gathered = self.gather();
        let ejects = self.policy().outlier.is_some();
        let groups = spread::over(gathered, &self.balance(), &self.client, ejects);
        Assignment { cluster_name: cluster.to_owned(), groups }
    }

    /// The endpoints that this client may use, by locality, in the order of the localities' texts.
    pub(super) fn gather(&self) -> Vec<Gathered<'_>> {
        let Some(port) = self.service.port(self.port) else { return Vec::new() };
        let ordered = self.rule.as_ref().and_then(|rule| tls_mode(&rule.spec, self.subset(), self.port));
        let with_unhealthy = self.wants_unhealthy();
        let mut groups: Vec<Gathered<'_>> = Vec::new();
        let mut known: HashMap<&Locality, usize> = HashMap::new();
        for endpoint in self.endpoints.iter().flat_map(|all| &all.endpoints) {
            let usable = endpoint.port_name == port.name
                && self.in_subset(endpoint)
                && can_reach(endpoint, self.holder)
                && self.may_use(endpoint, with_unhealthy);
            if !usable {
                continue;
            }
            let index = *known.entry(&endpoint.locality).or_insert_with(|| {
                groups.push(Gathered::new(&endpoint.locality));
                groups.len() - 1
            });
            groups[index].from.push(endpoint);
            groups[index].group.endpoints.push(lb_endpoint(endpoint, self.is_mutual(endpoint, ordered)));
        }
        groups.sort_by_cached_key(|gathered| text(gathered.locality));
        for gathered in &mut groups {
            let weight = gathered
                .group
                .endpoints
                .iter()
                .fold(0, |sum: u32, endpoint| sum.saturating_add(weight(endpoint)));
            gathered.group.load_balancing_weight = Some(number(weight));
        }
        groups
    }

    fn in_subset(&self, endpoint: &Endpoint) -> bool {
        self.subset().is_none_or(|subset| {
            subset
                .labels
                .iter()
                .all(|(key, value)| endpoint.labels.get(key.as_str()).is_some_and(|own| **own == **value))
        })
    }

    fn may_use(&self, endpoint: &Endpoint, with_unhealthy: bool) -> bool {
        if self.client.node.as_ref().is_some_and(|node| *node != endpoint.node) {
            return false;
        }
        match health(endpoint) {
            Health::Healthy | Health::Unknown => true,
            Health::Unhealthy => with_unhealthy,
            Health::Draining => {
                self.service.labels.get(PERSISTENT_SESSION).is_some_and(|value| !value.is_empty())
            }
            Health::Terminating => false,
        }
    }

    /// Envoy counts them to know how much of a service is well; but with a threshold below which it uses all of them
    /// they would get requests.
    fn wants_unhealthy(&self) -> bool {
        is_distributed(&self.service)
            || self.policy().outlier.is_none_or(|outlier| outlier.min_health_percent <= 0)
    }

    /// Whether clients speak mutual TLS with it: by order of the rule, else by what it can and wants.
    fn is_mutual(&self, endpoint: &Endpoint, ordered: Option<TlSmode>) -> bool {
        if endpoint.tls == TlsMode::Disabled {
            return false;
        }
        match ordered {
            Some(mode) => mode == TlSmode::IstioMutual,
            None => {
                let wants =
                    self.authentication.of_workload(&endpoint.namespace, &endpoint.labels, endpoint.port);
                wants != MtlsMode::Disable
            }
        }
    }
}

impl<'a> Gathered<'a> {
    fn new(locality: &'a Locality) -> Self {
        let message = v3::Locality {
            region: locality.region.to_string(),
            zone: locality.zone.to_string(),
            sub_zone: locality.subzone.to_string(),
        };
        Self { locality, from: Vec::new(), group: Group { locality: Some(message), ..Group::default() } }
    }
}

pub(super) fn weight(endpoint: &LbEndpoint) -> u32 {
    endpoint.load_balancing_weight.as_ref().map_or(0, |weight| weight.value)
}

fn text(locality: &Locality) -> String {
    let Locality { region, zone, subzone } = locality;
    match (zone.is_empty(), subzone.is_empty()) {
        (true, true) => region.to_string(),
        (false, true) => format!("{region}/{zone}"),
        (_, false) => format!("{region}/{zone}/{subzone}"),
    }
}

fn can_reach(endpoint: &Endpoint, holder: Holder) -> bool {
    let Some(first) = endpoint.addresses.first() else { return false };
    holder == Holder::Cluster || first.starts_with("unix://") || first.parse::<IpAddr>().is_ok()
}
