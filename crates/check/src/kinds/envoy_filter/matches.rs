//! Which part of the configuration a patch changes: what is matched must be of the sort that is patched.

use super::names::{HTTP_CONNECTION_MANAGER, HTTP_CONNECTION_MANAGER_BEFORE, name_today};
use crate::{Findings, value::regex::regex};
use mizzen_api::proto::istio::networking::v1alpha3::envoy_filter::{
    ApplyTo, EnvoyConfigObjectMatch, ListenerMatch, envoy_config_object_match::ObjectTypes,
    listener_match::FilterMatch,
};
use mizzen_text::At;

/// A longer one is not even compiled by Istio, only passed by.
const LONGEST_VERSION: usize = 1024;

pub(super) fn check(matches: &EnvoyConfigObjectMatch, apply_to: i32, at: &At<'_>, found: &mut Findings) {
    if let Some(proxy) = &matches.proxy {
        let at = at.field("proxy");
        version(&proxy.proxy_version, &at.field("proxyVersion"), found);
    }
    let (Some(object), Ok(applied)) = (&matches.object_types, ApplyTo::try_from(apply_to)) else { return };
    let (class, wanted) = match applied {
        ApplyTo::Listener | ApplyTo::FilterChain | ApplyTo::NetworkFilter | ApplyTo::HttpFilter => {
            if let ObjectTypes::Listener(matched) = object {
                listener(matched, applied, &at.field("listener"), found);
                return;
            }
            ("listener", "listener")
        }
        ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => {
            if let ObjectTypes::RouteConfiguration(_) = object {
                return;
            }
            ("http route", "route configuration")
        }
        ApplyTo::Cluster => {
            if let ObjectTypes::Cluster(_) = object {
                return;
            }
            ("cluster", "cluster")
        }
        ApplyTo::Invalid | ApplyTo::ExtensionConfig | ApplyTo::Bootstrap | ApplyTo::ListenerFilter => return,
    };
    let written = match object {
        ObjectTypes::Listener(_) => "listener",
        ObjectTypes::RouteConfiguration(_) => "routeConfiguration",
        ObjectTypes::Cluster(_) => "cluster",
        ObjectTypes::Waypoint(_) => "waypoint",
    };
    found.error(
        &at.field(written),
        format!("Envoy filter: applyTo for {class} class objects cannot have non {wanted} match"),
    );
}

fn version(expression: &str, at: &At<'_>, found: &mut Findings) {
    if expression.len() > LONGEST_VERSION {
        found.warning(
            at,
            format!(
                "Envoy filter: proxyVersion match exceeds {LONGEST_VERSION} characters and will be ignored"
            ),
        );
    } else if let Err(why) = regex(expression) {
        found.error(at, format!("Envoy filter: invalid regex for proxy version: {why}"));
    }
}

fn listener(matched: &ListenerMatch, applied: ApplyTo, at: &At<'_>, found: &mut Findings) {
    let Some(chain) = &matched.filter_chain else { return };
    let Some(filter) = &chain.filter else { return };
    let at = at.field("filterChain");
    let at = at.field("filter");
    if matches!(applied, ApplyTo::Listener | ApplyTo::FilterChain) {
        let applied = applied.as_str_name();
        found.warning(&at, format!("Envoy filter: filter match has no effect when used with {applied}"));
    }
    let name_at = at.field("name");
    if filter.name.is_empty() {
        found.error(&name_at, "Envoy filter: filter match has no name to match on");
    }
    old_name(&filter.name, &name_at, found);
    sub_filter(filter, applied, &at, found);
}

fn sub_filter(filter: &FilterMatch, applied: ApplyTo, at: &At<'_>, found: &mut Findings) {
    let Some(sub_filter) = &filter.sub_filter else { return };
    let sub_at = at.field("subFilter");
    // Without a name of the filter nothing is known about what is in it; that was told already.
    if filter.name.is_empty() {
        return;
    }
    if applied != ApplyTo::HttpFilter {
        found.error(&sub_at, "Envoy filter: subfilter match can be used with applyTo HTTP_FILTER only");
    }
    if filter.name != HTTP_CONNECTION_MANAGER && filter.name != HTTP_CONNECTION_MANAGER_BEFORE {
        found.error(
            &at.field("name"),
            format!("Envoy filter: subfilter match requires filter match with {HTTP_CONNECTION_MANAGER}"),
        );
    }
    let name_at = sub_at.field("name");
    if sub_filter.name.is_empty() {
        found.error(&name_at, "Envoy filter: subfilter match has no name to match on");
    }
    old_name(&sub_filter.name, &name_at, found);
}

fn old_name(name: &str, at: &At<'_>, found: &mut Findings) {
    if let Some(today) = name_today(name) {
        found.warning(at, format!("using deprecated filter name {name:?}; use {today:?} instead"));
    }
}
