//! Clusters of a service, for its clients: one for each port, and one for each subset of it that a rule makes.

use super::{
    Client, balancer,
    draft::Draft,
    outlier, pool,
    stat_name::stat_name,
    tls::{self, Server},
};
use crate::{
    Context, Resource,
    endpoints::{self, Assignment, Holder, PERSISTENT_SESSION},
    message::{any, duration, number},
    metadata::Value,
    names,
    policy::{Balance, Policy},
};
use mizzen_mesh::{
    Accounts, ByPointer, Port, Protocol, ProxyKind, Registry, Resolution, Service, TlsMode, Visible,
    config::{DestinationRule, MtlsMode},
    input::PortName,
};
use mizzen_proto::{
    Duration,
    envoy::{
        config::{
            cluster::v3::cluster::{DiscoveryType, DnsLookupFamily, LbConfig, OriginalDstLbConfig},
            core::v3::{HealthStatus, HealthStatusSet, TypedExtensionConfig},
        },
        extensions::network::dns_resolver::cares::v3::CaresDnsResolverConfig,
    },
    istio::networking::v1alpha3::{self, Subset, TrafficPolicy, client_tls_settings::TlSmode},
};
use std::{collections::HashSet, sync::Arc};

/// Everything that the clusters of one service are built from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    client: Arc<Client>,
    service: ByPointer<Service>,
    rule: Option<ByPointer<DestinationRule>>,
    accounts: Option<ByPointer<Accounts>>,
    /// What the workloads of the service's namespace want.
    wants: MtlsMode,
    /// Ports with hosts that speak no mutual TLS, or without hosts. Known only where clients go to the host that they asked for.
    plain: Vec<u32>,
    resolved: Option<Resolved>,
}

/// For services whose names the client resolves: the endpoints are part of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Resolved {
    family: i32,
    /// Of each port, and each subset of it.
    endpoints: Vec<endpoints::Inputs>,
}

impl Inputs {
    /// Nothing for services that have no clusters.
    pub(super) fn of(context: &Context<'_>, client: &Arc<Client>, visible: &Visible) -> Option<Self> {
        let service = &visible.service;
        if matches!(service.resolution, Resolution::Alias | Resolution::DynamicDns) {
            return None;
        }
        let rule = visible.rule(context.proxy);
        let dns = matches!(service.resolution, Resolution::Dns | Resolution::DnsRoundRobin);
        Some(Self {
            client: Arc::clone(client),
            service: ByPointer::from(service),
            accounts: context.snapshot.accounts_of(&service.key).map(ByPointer::from),
            wants: context.snapshot.authentication().of_namespace(&service.key.namespace),
            plain: plain_ports(context, service, rule.map(|rule| &rule.spec)),
            resolved: dns.then(|| Resolved {
                family: lookup_family(context.proxy.families()).into(),
                endpoints: service
                    .ports
                    .iter()
                    .flat_map(|port| {
                        let subsets = 0..rule.map_or(0, |rule| rule.spec.subsets.len());
                        let all = std::iter::once(None).chain(subsets.map(Some));
                        all.map(|subset| (port.number, subset))
                    })
                    .map(|place| endpoints::Inputs::of(context, Holder::Cluster, visible, rule, place))
                    .collect(),
            }),
            rule: rule.map(ByPointer::from),
        })
    }

    fn spec(&self) -> Option<&v1alpha3::DestinationRule> {
        self.rule.as_ref().map(|rule| &rule.spec)
    }

    fn kind(&self) -> DiscoveryType {
        match self.service.resolution {
            Resolution::Dns => DiscoveryType::StrictDns,
            Resolution::DnsRoundRobin => DiscoveryType::LogicalDns,
            // Nobody asked a gateway for an address.
            Resolution::Passthrough if self.client.kind == ProxyKind::Sidecar => DiscoveryType::OriginalDst,
            _ => DiscoveryType::Eds,
        }
    }

    /// The names that its certificates may have: with every name of our trust domain, in order.
    fn accounts(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.service.subject_alt_names.iter().map(|name| name.to_string()).collect();
        names.extend(self.accounts.iter().flat_map(|accounts| accounts.iter()).map(|name| name.to_string()));
        let aliases = &self.client.mesh.trust_domain_aliases;
        let expanded = names.iter().filter_map(|name| name.strip_prefix("spiffe://")?.split_once('/'));
        let expanded: Vec<String> = expanded
            .flat_map(|(_, path)| aliases.iter().map(move |alias| format!("spiffe://{alias}/{path}")))
            .collect();
        names.extend(expanded);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What its workloads want, for clients under this policy.
    fn wants(&self, port: &Port, policy: Option<&TrafficPolicy>) -> Option<MtlsMode> {
        if self.service.external {
            return None;
        }
        let to_host = self.service.resolution == Resolution::Passthrough || Policy::passes_through(policy);
        let plain = to_host && self.plain.contains(&port.number);
        Some(if plain { MtlsMode::Disable } else { self.wants })
    }
}

fn lookup_family((v4, v6): (bool, bool)) -> DnsLookupFamily {
    if v6 && !v4 { DnsLookupFamily::V6Only } else { DnsLookupFamily::V4Only }
}

fn plain_ports(
    context: &Context<'_>,
    service: &Service,
    rule: Option<&v1alpha3::DestinationRule>,
) -> Vec<u32> {
    let by_rule = || {
        rule.is_some_and(|rule| {
            let subsets = rule.subsets.iter().map(|subset| subset.traffic_policy.as_ref());
            std::iter::once(rule.traffic_policy.as_ref()).chain(subsets).any(Policy::passes_through)
        })
    };
    let endpoints = match service.resolution {
        Resolution::Passthrough => context.snapshot.named_endpoints_of(&service.key),
        _ if by_rule() => context.snapshot.endpoints_of(&service.key),
        _ => return Vec::new(),
    };
    let plain = |port: &&Port| {
        let mut hosts = endpoints
            .iter()
            .flat_map(|all| &all.endpoints)
            .filter(|one| one.port_name == port.name)
            .peekable();
        hosts.peek().is_none() || hosts.any(|host| host.tls == TlsMode::Disabled)
    };
    service.ports.iter().filter(plain).map(|port| port.number).collect()
}

pub(super) fn build(inputs: &Inputs) -> Arc<[Arc<Resource>]> {
    let accounts = inputs.accounts();
    let mut clusters = Vec::new();
    // Of two that would have one name the first one is it.
    let mut numbers = HashSet::new();
    for port in &inputs.service.ports {
        if port.protocol == Protocol::Udp || !numbers.insert(port.number) {
            continue;
        }
        let Some((whole, kind)) =
            Builder { inputs, port, accounts: &accounts, subset: None }.build(inputs.kind())
        else {
            continue;
        };
        clusters.push(whole);
        let mut names = HashSet::new();
        for (index, subset) in inputs.spec().iter().flat_map(|rule| &rule.subsets).enumerate() {
            if !names.insert(&subset.name) {
                continue;
            }
            let builder = Builder { inputs, port, accounts: &accounts, subset: Some((index, subset)) };
            // What the rule made of the whole holds for its parts.
            clusters.extend(builder.build(kind).map(|(part, _)| part));
        }
    }
    clusters.into()
}

struct Builder<'a> {
    inputs: &'a Inputs,
    port: &'a Port,
    accounts: &'a [String],
    subset: Option<(usize, &'a Subset)>,
}

impl Builder<'_> {
    /// Nothing if it would be resolved and has no host to resolve.
    fn build(&self, kind: DiscoveryType) -> Option<(Arc<Resource>, DiscoveryType)> {
        let Self { inputs, port, .. } = *self;
        let Inputs { client, service, .. } = inputs;
        let mesh = &client.mesh;
        let subset = self.subset.map_or("", |(_, subset)| &subset.name);
        let name = names::outbound(port.number, subset, service.host());
        let own = self.subset.and_then(|(_, subset)| subset.traffic_policy.as_ref());
        let kind = if Policy::passes_through(own) { DiscoveryType::OriginalDst } else { kind };
        let mut draft = Draft::of_service(name, kind, client, port);
        self.resolve(&mut draft)?;
        draft.say_services(std::iter::once(&**service));
        if !mesh.outbound_cluster_stat_name.is_empty() {
            draft.cluster.alt_stat_name =
                stat_name(&mesh.outbound_cluster_stat_name, service, subset, port, 0);
        }
        if self.subset.is_none() && keeps_sessions(service) {
            draft.lb_config().override_host_status = Some(usable_in_sessions());
        }
        let policy = self.policy();
        if pool::upgrades(policy.pool, port, mesh) {
            draft.use_http2();
        }
        pool::apply(&mut draft, mesh, &policy);
        if let Some(outlier) = policy.outlier {
            outlier::apply(&mut draft, service, outlier);
        }
        balancer::apply(&mut draft, &policy, &Balance::of(mesh, policy.balancer, service));
        self.encrypt(&mut draft, &policy, subset);
        draft.subscribe();
        if client.exchange {
            draft.exchange_metadata();
        }
        self.describe(&mut draft, &policy, subset);
        let kind = draft.kind();
        Some((draft.finish(), kind))
    }

    fn policy(&self) -> Policy<'_> {
        let inputs = self.inputs;
        let whole = Policy::of_destination(inputs.spec(), self.port.number).or_mesh(&inputs.client.mesh);
        self.subset.map_or(whole, |(_, subset)| whole.under(subset, self.port.number))
    }

    fn resolve(&self, draft: &mut Draft) -> Option<()> {
        let kind = draft.kind();
        match kind {
            DiscoveryType::StrictDns | DiscoveryType::LogicalDns => {
                let resolved = self.inputs.resolved.as_ref()?;
                let assignment = self.endpoints(resolved, &draft.cluster.name)?;
                if assignment.groups.is_empty() {
                    return None;
                }
                draft.assignment = Some(assignment);
                look_up(draft, resolved.family, self.inputs.client.mesh.dns_refresh_rate);
            }
            DiscoveryType::OriginalDst => {
                // An entry without resolution may move its requests to another port.
                if let (Registry::External, Some(PortName::Number(target))) =
                    (self.inputs.service.registry, &self.port.target)
                    && let Ok(target) = u32::try_from(*target)
                    && target != 0
                    && self.inputs.service.resolution == Resolution::Passthrough
                {
                    draft.cluster.lb_config = Some(LbConfig::OriginalDstLbConfig(OriginalDstLbConfig {
                        upstream_port_override: Some(number(target)),
                        ..OriginalDstLbConfig::default()
                    }));
                }
            }
            _ => {}
        }
        Some(())
    }

    fn endpoints(&self, resolved: &Resolved, cluster: &str) -> Option<Assignment> {
        let subset = self.subset.map(|(index, _)| index);
        let own =
            resolved.endpoints.iter().find(|own| own.port == self.port.number && own.subset == subset)?;
        Some(own.assignment(cluster))
    }

    fn encrypt(&self, draft: &mut Draft, policy: &Policy<'_>, subset: &str) {
        let Inputs { client, service, rule, .. } = self.inputs;
        let written = match self.subset {
            Some((_, subset)) => subset.traffic_policy.as_ref(),
            None => self.inputs.spec().and_then(|rule| rule.traffic_policy.as_ref()),
        };
        let server = Server {
            service,
            wants: self.inputs.wants(self.port, written),
            accounts: self.accounts,
            sni: &names::sni(self.port.number, subset, service.host()),
            rule_has_selector: rule.as_ref().is_some_and(|rule| !rule.selector.is_empty()),
        };
        tls::apply(draft, client, &server, policy);
        if let Some(protocol) = policy.proxy_protocol {
            tls::announce(draft, protocol);
        }
    }

    fn describe(&self, draft: &mut Draft, policy: &Policy<'_>, subset: &str) {
        if self.subset.is_none() && self.inputs.service.external {
            draft.set("external", Value::yes(true));
        }
        let Some(rule) = &self.inputs.rule else { return };
        draft.say_rule(rule.from.first());
        if self.subset.is_some() {
            draft.set("subset", Value::text(subset));
        }
        if matches!(policy.tls_mode(), TlSmode::Simple | TlSmode::Mutual) {
            // The ALPN is what the other side is used to, not the mesh's.
            draft.set("alpn_override", Value::text("false"));
            if self.inputs.client.announced {
                // What the listeners' stock filter offers instead of the mesh's names.
                let offers = if draft.http2().is_some() { "h2" } else { "http/1.1" };
                draft.set("alpn", Value::text(offers));
            }
        }
    }
}

#[allow(deprecated, reason = "Istio says how names are looked up in the cluster itself")]
fn look_up(draft: &mut Draft, family: i32, refresh: Option<Duration>) {
    let resolver =
        CaresDnsResolverConfig { udp_max_queries: Some(number(100)), ..CaresDnsResolverConfig::default() };
    let cluster = &mut draft.cluster;
    cluster.dns_lookup_family = family;
    cluster.dns_refresh_rate = refresh.and_then(duration);
    cluster.dns_jitter = duration(Duration::from_millis(100));
    cluster.respect_dns_ttl = true;
    cluster.typed_dns_resolver_config = Some(TypedExtensionConfig {
        name: "envoy.network.dns_resolver.cares".to_owned(),
        typed_config: Some(any(&resolver)),
    });
}

fn keeps_sessions(service: &Service) -> bool {
    let labels = [PERSISTENT_SESSION, "istio.io/persistent-session-header"];
    labels.iter().any(|label| service.labels.get(*label).is_some_and(|value| !value.is_empty()))
}

/// A host that drains is used by sessions that it has.
fn usable_in_sessions() -> HealthStatusSet {
    let statuses =
        [HealthStatus::Healthy, HealthStatus::Draining, HealthStatus::Unknown, HealthStatus::Degraded];
    HealthStatusSet { statuses: statuses.into_iter().map(i32::from).collect() }
}
