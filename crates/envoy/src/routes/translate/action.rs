//! Where a route's requests go.

use super::{Operations, hash, mirror, retry};
use crate::{message::number, names};
use mizzen_proto::{
    envoy::{
        config::route::v3::{
            RouteAction, WeightedCluster,
            route_action::{ClusterSpecifier, HashPolicy, HostRewriteSpecifier},
            weighted_cluster::{ClusterWeight, cluster_weight},
        },
        r#type::matcher::v3::{RegexMatchAndSubstitute, RegexMatcher},
    },
    google::protobuf,
    istio::networking::v1alpha3::{Destination, DestinationRule, HttpRetry, HttpRoute, HttpRouteDestination},
};

const NO_TIMEOUT: protobuf::Duration = protobuf::Duration { seconds: 0, nanos: 0 };

/// What is known of the destinations of one route, by their places in it.
pub(in crate::routes) trait Destinations {
    fn cluster(&self, slot: Slot, destination: Option<&Destination>) -> String;
    /// The rule of the destination, if it hashes.
    fn rule(&self, slot: Slot) -> Option<&DestinationRule>;
}

pub(in crate::routes) use super::super::outline::Slot;

/// All requests to one cluster: the route of a service that nobody routes otherwise.
pub(in crate::routes) fn plain_route(
    cluster: String,
    retries: Option<&HttpRetry>,
    hash: Option<HashPolicy>,
) -> RouteAction {
    RouteAction {
        cluster_specifier: Some(ClusterSpecifier::Cluster(cluster)),
        retry_policy: retry::policy(retries, false),
        hash_policy: hash.into_iter().collect(),
        ..timed(NO_TIMEOUT)
    }
}

/// Nothing but the time that a request may take; none is no limit.
#[allow(deprecated, reason = "the field that is to take its place does not do the same for gRPC")]
pub(in crate::routes) fn timed(timeout: protobuf::Duration) -> RouteAction {
    RouteAction { timeout: Some(timeout), max_grpc_timeout: Some(timeout), ..RouteAction::default() }
}

/// `operations` are the route's; those of a single destination are added to them.
pub(in crate::routes) fn route_action(
    route: &HttpRoute,
    destinations: &impl Destinations,
    operations: &mut Operations,
    retries: Option<&HttpRetry>,
    forwarded_host: bool,
) -> RouteAction {
    let timeout = route.timeout.and_then(crate::message::duration).unwrap_or(NO_TIMEOUT);
    let mut action = timed(timeout);
    let mut authority = operations.authority.take();
    if let Some(rewrite) = &route.rewrite {
        action.append_x_forwarded_host = forwarded_host;
        if let Some(regex) = &rewrite.uri_regex_rewrite {
            action.regex_rewrite = Some(RegexMatchAndSubstitute {
                pattern: Some(RegexMatcher { regex: regex.r#match.clone(), ..RegexMatcher::default() }),
                substitution: regex.rewrite.clone(),
            });
        } else {
            action.prefix_rewrite = rewrite.uri.clone();
        }
        if !rewrite.authority.is_empty() {
            authority = Some(rewrite.authority.clone());
        }
    }
    action.host_rewrite_specifier = authority.map(HostRewriteSpecifier::HostRewriteLiteral);
    mirrors(route, destinations, &mut action);
    let sticky = match route.route.as_slice() {
        [only] => single(only, destinations, &mut action, operations),
        several => {
            weighted(several, destinations, &mut action);
            false
        }
    };
    action.retry_policy = retry::policy(route.retries.as_ref().or(retries), sticky);
    action
}

fn mirrors(route: &HttpRoute, destinations: &impl Destinations, action: &mut RouteAction) {
    if let (Some(to), Some(share)) = (&route.mirror, mirror::share(route)) {
        let cluster = destinations.cluster(Slot::Mirror, Some(to));
        action.request_mirror_policies.push(mirror::policy(cluster, share));
    }
    for (index, several) in (0..).zip(&route.mirrors) {
        if let (Some(to), Some(share)) = (&several.destination, mirror::share_of(several)) {
            let cluster = destinations.cluster(Slot::Mirrors(index), Some(to));
            action.request_mirror_policies.push(mirror::policy(cluster, share));
        }
    }
}

/// Tells whether requests are tied to hosts.
fn single(
    to: &HttpRouteDestination,
    destinations: &impl Destinations,
    action: &mut RouteAction,
    operations: &mut Operations,
) -> bool {
    let slot = Slot::Route(0);
    action.cluster_specifier =
        Some(ClusterSpecifier::Cluster(destinations.cluster(slot, to.destination.as_ref())));
    if let Some(headers) = &to.headers {
        let more = Operations::of(headers);
        operations.request_add.extend(more.request_add);
        operations.request_remove.extend(more.request_remove);
        operations.response_add.extend(more.response_add);
        operations.response_remove.extend(more.response_remove);
        // The route's own word goes before the destination's, as it does for weighted ones inside Envoy.
        if action.host_rewrite_specifier.is_none() {
            action.host_rewrite_specifier = more.authority.map(HostRewriteSpecifier::HostRewriteLiteral);
        }
    }
    hashed(to, slot, destinations, action)
}

fn weighted(several: &[HttpRouteDestination], destinations: &impl Destinations, action: &mut RouteAction) {
    let mut clusters = Vec::with_capacity(several.len());
    for (index, to) in (0..).zip(several) {
        let Some(weight) = u32::try_from(to.weight).ok().filter(|weight| *weight > 0) else { continue };
        let slot = Slot::Route(index);
        let operations = to.headers.as_ref().map(Operations::of).unwrap_or_default();
        clusters.push(ClusterWeight {
            name: destinations.cluster(slot, to.destination.as_ref()),
            weight: Some(number(weight)),
            request_headers_to_add: operations.request_add,
            request_headers_to_remove: operations.request_remove,
            response_headers_to_add: operations.response_add,
            response_headers_to_remove: operations.response_remove,
            host_rewrite_specifier: operations
                .authority
                .map(cluster_weight::HostRewriteSpecifier::HostRewriteLiteral),
            ..ClusterWeight::default()
        });
        hashed(to, slot, destinations, action);
    }
    action.cluster_specifier = Some(if clusters.is_empty() {
        // Envoy refuses an empty list, and with it every other route. Validation refuses such objects.
        ClusterSpecifier::Cluster(names::BLACK_HOLE.to_owned())
    } else {
        ClusterSpecifier::WeightedClusters(WeightedCluster { clusters, ..WeightedCluster::default() })
    });
}

fn hashed(
    to: &HttpRouteDestination,
    slot: Slot,
    destinations: &impl Destinations,
    action: &mut RouteAction,
) -> bool {
    let hash = to.destination.as_ref().and_then(|to| hash::of_destination(destinations.rule(slot)?, to));
    let tied = hash.is_some();
    action.hash_policy.extend(hash.flatten());
    tied
}
