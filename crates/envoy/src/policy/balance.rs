//! How requests are spread over localities, and who says so: the DestinationRule, then the service's traffic
//! distribution, then the mesh.

use mizzen_mesh::{Service, TrafficDistribution};
use mizzen_proto::istio::{
    mesh::v1alpha1::MeshConfig,
    networking::v1alpha3::{
        LoadBalancerSettings, LocalityLoadBalancerSetting, ZoneAwareLoadBalancerSetting,
        locality_load_balancer_setting::Distribute,
    },
};

#[derive(Clone, Debug)]
pub enum Balance<'a> {
    /// It was switched off, or nobody wants any.
    Even,
    Locality(Wishes<'a>),
    /// By Envoy's own zone aware routing within a region.
    ZoneAware {
        wishes: Wishes<'a>,
        on: bool,
        min_cluster_size: Option<u32>,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Wishes<'a> {
    pub distribute: &'a [Distribute],
    /// Region to region.
    pub failover: Vec<(&'a str, &'a str)>,
    /// Labels, the most important first; `label=value` for another value than the client's own.
    pub priorities: Vec<&'a str>,
    /// Without outlier detection, too: health comes with the endpoints.
    pub always: bool,
}

pub const NETWORK: &str = "topology.istio.io/network";
pub const CLUSTER: &str = "topology.istio.io/cluster";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const SUBZONE: &str = "topology.istio.io/subzone";
pub const HOSTNAME: &str = "kubernetes.io/hostname";

impl<'a> Balance<'a> {
    pub fn of(mesh: &'a MeshConfig, balancer: Option<&'a LoadBalancerSettings>, service: &Service) -> Self {
        if let Some(zone_aware) = balancer.and_then(|balancer| balancer.zone_aware_lb_setting.as_ref()) {
            return Self::zone_aware(zone_aware);
        }
        if let Some(locality) = balancer.and_then(|balancer| balancer.locality_lb_setting.as_ref()) {
            return Self::locality(locality);
        }
        if let Some(labels) = distribution(service) {
            return Self::Locality(Wishes { priorities: labels.to_vec(), always: true, ..Wishes::default() });
        }
        match (&mesh.zone_aware_lb_setting, &mesh.locality_lb_setting) {
            (Some(zone_aware), _) => Self::zone_aware(zone_aware),
            (None, Some(locality)) => Self::locality(locality),
            (None, None) => Self::Even,
        }
    }

    fn locality(setting: &'a LocalityLoadBalancerSetting) -> Self {
        if setting.enabled == Some(false) {
            return Self::Even;
        }
        Self::Locality(Wishes {
            distribute: &setting.distribute,
            failover: setting.failover.iter().map(|pair| (&*pair.from, &*pair.to)).collect(),
            priorities: setting.failover_priority.iter().map(String::as_str).collect(),
            always: false,
        })
    }

    fn zone_aware(setting: &'a ZoneAwareLoadBalancerSetting) -> Self {
        Self::ZoneAware {
            wishes: Wishes {
                distribute: &[],
                failover: setting.failover.iter().map(|pair| (&*pair.from, &*pair.to)).collect(),
                priorities: setting.failover_priority.iter().map(String::as_str).collect(),
                always: true,
            },
            on: setting.enabled != Some(false),
            min_cluster_size: setting.min_cluster_size,
        }
    }
}

impl<'a> Wishes<'a> {
    /// What is left of them where no labels count: nothing, if labels were all that they are about.
    pub fn without_priorities(self) -> Balance<'a> {
        if !self.priorities.is_empty() && self.failover.is_empty() && self.distribute.is_empty() {
            return Balance::Even;
        }
        Balance::Locality(Self { priorities: Vec::new(), ..self })
    }
}

/// The labels in which a service wants its clients to agree with the endpoints that they use.
fn distribution(service: &Service) -> Option<&'static [&'static str]> {
    match service.traffic_distribution {
        TrafficDistribution::Any => None,
        TrafficDistribution::SameNode => Some(&[NETWORK, REGION, ZONE, SUBZONE, HOSTNAME]),
        TrafficDistribution::SameZone => Some(&[NETWORK, REGION, ZONE]),
    }
}

/// Whether the service has such a wish, and so needs to know of unhealthy endpoints.
pub fn is_distributed(service: &Service) -> bool {
    distribution(service).is_some()
}
