//! Which of its hosts a cluster takes for a request.

use super::draft::Draft;
use crate::{
    message::{duration, long, percent},
    policy::{Balance, Policy},
};
use mizzen_proto::{
    envoy::config::{
        cluster::v3::cluster::{
            ClusterDiscoveryType, DiscoveryType, LbConfig, LbPolicy, LeastRequestLbConfig, MaglevLbConfig,
            RingHashLbConfig, RoundRobinLbConfig, SlowStartConfig,
            common_lb_config::{LocalityConfigSpecifier, LocalityWeightedLbConfig, ZoneAwareLbConfig},
        },
        core::v3::RuntimeDouble,
    },
    istio::networking::v1alpha3::{
        LoadBalancerSettings,
        load_balancer_settings::{ConsistentHashLb, SimpleLb, consistent_hash_lb::HashAlgorithm},
    },
};

pub(super) fn apply(draft: &mut Draft, policy: &Policy<'_>, balance: &Balance<'_>) {
    // Unhealthy hosts are sent along to be counted: Envoy must not fall back to them.
    draft.lb_config().healthy_panic_threshold.get_or_insert_with(|| percent(0.0));
    by_locality(draft, balance);
    if draft.is_original_destination() {
        return;
    }
    match policy.simple() {
        SimpleLb::Random => set(draft, LbPolicy::Random, None),
        SimpleLb::RoundRobin => {
            let config = slow_start(policy.balancer).map(|slow| {
                LbConfig::RoundRobinLbConfig(RoundRobinLbConfig { slow_start_config: Some(slow) })
            });
            set(draft, LbPolicy::RoundRobin, config);
        }
        SimpleLb::Passthrough => {
            draft.cluster.cluster_discovery_type =
                Some(ClusterDiscoveryType::Type(DiscoveryType::OriginalDst.into()));
            draft.assignment = None;
        }
        SimpleLb::LeastConn | SimpleLb::LeastRequest | SimpleLb::Unspecified => {
            let config = slow_start(policy.balancer).map(|slow| {
                LbConfig::LeastRequestLbConfig(LeastRequestLbConfig {
                    slow_start_config: Some(slow),
                    ..LeastRequestLbConfig::default()
                })
            });
            set(draft, LbPolicy::LeastRequest, config);
        }
    }
    if let Some(hash) = policy.consistent_hash() {
        by_hash(draft, hash);
    }
}

fn set(draft: &mut Draft, policy: LbPolicy, config: Option<LbConfig>) {
    draft.cluster.lb_policy = policy.into();
    draft.cluster.lb_config = config.or(draft.cluster.lb_config.take());
}

fn by_hash(draft: &mut Draft, hash: &ConsistentHashLb) {
    let ring = |size| {
        LbConfig::RingHashLbConfig(RingHashLbConfig {
            minimum_ring_size: Some(long(size)),
            ..RingHashLbConfig::default()
        })
    };
    let sized = |size: u64| (size != 0).then_some(size);
    match &hash.hash_algorithm {
        Some(HashAlgorithm::Maglev(maglev)) => {
            let config = sized(maglev.table_size)
                .map(|size| LbConfig::MaglevLbConfig(MaglevLbConfig { table_size: Some(long(size)) }));
            set(draft, LbPolicy::Maglev, config);
        }
        Some(HashAlgorithm::RingHash(own)) => {
            set(draft, LbPolicy::RingHash, sized(own.minimum_ring_size).map(ring));
        }
        None => set(draft, LbPolicy::RingHash, Some(ring(sized(hash.minimum_ring_size).unwrap_or(1024)))),
    }
}

/// New hosts get their share little by little.
fn slow_start(balancer: Option<&LoadBalancerSettings>) -> Option<SlowStartConfig> {
    let balancer = balancer?;
    match (&balancer.warmup, balancer.warmup_duration_secs) {
        (Some(warmup), _) => Some(SlowStartConfig {
            slow_start_window: warmup.duration.and_then(duration),
            aggression: Some(RuntimeDouble {
                default_value: warmup.aggression.unwrap_or(1.0),
                // A key that no runtime has; Envoy wants one.
                runtime_key: "(".to_owned(),
            }),
            min_weight_percent: Some(percent(warmup.minimum_percent.unwrap_or(10.0))),
        }),
        (None, Some(length)) => {
            Some(SlowStartConfig { slow_start_window: duration(length), ..SlowStartConfig::default() })
        }
        (None, None) => None,
    }
}

/// Weights of localities are set only where somebody asked for them: they change what the policy below them does.
fn by_locality(draft: &mut Draft, balance: &Balance<'_>) {
    let ejects = draft.cluster.outlier_detection.is_some();
    let specifier = match balance {
        Balance::Even => return,
        Balance::Locality(wishes) => {
            let fails_over = !wishes.failover.is_empty() || !wishes.priorities.is_empty();
            if wishes.distribute.is_empty() && !(fails_over && (ejects || wishes.always)) {
                return;
            }
            LocalityConfigSpecifier::LocalityWeightedLbConfig(LocalityWeightedLbConfig {})
        }
        Balance::ZoneAware { on, min_cluster_size, .. } => {
            LocalityConfigSpecifier::ZoneAwareLbConfig(ZoneAwareLbConfig {
                routing_enabled: (!on).then(|| percent(0.0)),
                min_cluster_size: min_cluster_size.map(|size| long(u64::from(size))),
                ..ZoneAwareLbConfig::default()
            })
        }
    };
    draft.lb_config().locality_config_specifier = Some(specifier);
}
