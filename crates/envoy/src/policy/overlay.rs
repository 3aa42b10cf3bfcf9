//! Port over destination, subset over both.

use mizzen_proto::istio::{
    mesh::v1alpha1::MeshConfig,
    networking::v1alpha3::{
        ClientTlsSettings, ConnectionPoolSettings, DestinationRule, LoadBalancerSettings, OutlierDetection,
        Subset, TrafficPolicy,
        client_tls_settings::TlSmode,
        load_balancer_settings::{ConsistentHashLb, LbPolicy, SimpleLb},
        traffic_policy::{PortTrafficPolicy, ProxyProtocol, RetryBudget},
    },
};

/// The settings that hold for one cluster, wherever they were written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy<'a> {
    pub pool: Option<&'a ConnectionPoolSettings>,
    pub outlier: Option<&'a OutlierDetection>,
    pub balancer: Option<&'a LoadBalancerSettings>,
    pub tls: Option<&'a ClientTlsSettings>,
    pub proxy_protocol: Option<ProxyProtocol>,
    pub retry_budget: Option<RetryBudget>,
}

impl<'a> Policy<'a> {
    /// Of the destination, without its subsets.
    pub fn of_destination(rule: Option<&'a DestinationRule>, port: u32) -> Self {
        let policy = rule.and_then(|rule| rule.traffic_policy.as_ref());
        policy.map_or_else(Self::default, |policy| Self::at_port(policy, port).0)
    }

    /// The settings of a port stand instead of those beside them: none is inherited.
    fn at_port(policy: &'a TrafficPolicy, port: u32) -> (Self, bool) {
        match settings_of_port(policy, port) {
            Some(own) => (
                Self {
                    pool: own.connection_pool.as_ref(),
                    outlier: own.outlier_detection.as_ref(),
                    balancer: own.load_balancer.as_ref(),
                    tls: own.tls.as_ref(),
                    proxy_protocol: None,
                    retry_budget: None,
                },
                true,
            ),
            None => (
                Self {
                    pool: policy.connection_pool.as_ref(),
                    outlier: policy.outlier_detection.as_ref(),
                    balancer: policy.load_balancer.as_ref(),
                    tls: policy.tls.as_ref(),
                    proxy_protocol: policy.proxy_protocol,
                    retry_budget: policy.retry_budget,
                },
                false,
            ),
        }
    }

    /// This one where the subset says nothing.
    pub fn under(self, subset: &'a Subset, port: u32) -> Self {
        let Some(policy) = &subset.traffic_policy else { return self };
        let (over, whole) = Self::at_port(policy, port);
        fn pick<T>(over: Option<T>, under: Option<T>, whole: bool) -> Option<T> {
            if whole { over } else { over.or(under) }
        }
        Self {
            pool: pick(over.pool, self.pool, whole),
            outlier: pick(over.outlier, self.outlier, whole),
            balancer: pick(over.balancer, self.balancer, whole),
            tls: pick(over.tls, self.tls, whole),
            proxy_protocol: over.proxy_protocol.or(self.proxy_protocol),
            retry_budget: over.retry_budget.or(self.retry_budget),
        }
    }

    /// With the mesh's connection pool and outlier detection where nothing else is said.
    pub fn or_mesh(self, mesh: &'a MeshConfig) -> Self {
        let Some(default) = &mesh.default_traffic_policy else { return self };
        Self {
            pool: self.pool.or(default.connection_pool.as_ref()),
            outlier: self.outlier.or(default.outlier_detection.as_ref()),
            ..self
        }
    }

    pub fn simple(&self) -> SimpleLb {
        self.balancer.map_or(SimpleLb::Unspecified, simple)
    }

    pub fn consistent_hash(&self) -> Option<&'a ConsistentHashLb> {
        match self.balancer?.lb_policy.as_ref()? {
            LbPolicy::ConsistentHash(hash) => Some(hash),
            LbPolicy::Simple(_) => None,
        }
    }

    pub fn tls_mode(&self) -> TlSmode {
        self.tls.map_or(TlSmode::Disable, mode)
    }

    /// Whether the policy as it is written, whatever its ports say, asks for the original destination.
    pub fn passes_through(policy: Option<&TrafficPolicy>) -> bool {
        policy.and_then(|policy| policy.load_balancer.as_ref()).map(simple) == Some(SimpleLb::Passthrough)
    }
}

fn settings_of_port(policy: &TrafficPolicy, port: u32) -> Option<&PortTrafficPolicy> {
    policy.port_level_settings.iter().find(|own| own.port.as_ref().is_some_and(|of| of.number == port))
}

fn simple(balancer: &LoadBalancerSettings) -> SimpleLb {
    match balancer.lb_policy {
        Some(LbPolicy::Simple(value)) => SimpleLb::try_from(value).unwrap_or(SimpleLb::Unspecified),
        _ => SimpleLb::Unspecified,
    }
}

fn mode(tls: &ClientTlsSettings) -> TlSmode {
    TlSmode::try_from(tls.mode).unwrap_or(TlSmode::Disable)
}

/// The TLS mode that a rule orders for its endpoints. Unlike other settings it is inherited by a port that has
/// settings without TLS.
pub fn tls_mode(rule: &DestinationRule, subset: Option<&Subset>, port: u32) -> Option<TlSmode> {
    let of = |policy: Option<&TrafficPolicy>| {
        let policy = policy?;
        let own = policy
            .port_level_settings
            .iter()
            .find(|own| own.tls.is_some() && own.port.as_ref().is_some_and(|of| of.number == port));
        own.and_then(|own| own.tls.as_ref()).or(policy.tls.as_ref()).map(mode)
    };
    subset.and_then(|subset| of(subset.traffic_policy.as_ref())).or_else(|| of(rule.traffic_policy.as_ref()))
}
