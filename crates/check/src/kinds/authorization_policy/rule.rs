//! One rule: from whom, to what, when.

use super::{
    condition,
    value::{self, Sort},
};
use crate::Findings;
use mizzen_api::proto::istio::security::v1beta1::{Operation, Rule, Source, authorization_policy::Action};
use mizzen_text::At;

pub(super) fn check(action: Action, rule: &Rule, at: &At<'_>, found: &mut Findings) {
    let from = at.field("from");
    for (index, one) in rule.from.iter().enumerate() {
        let at = from.index(index);
        match &one.source {
            Some(one) => source(action, one, &at.field("source"), found),
            None => found.error(&at.field("source"), "`from.source` must be set"),
        }
    }
    let to = at.field("to");
    for (index, one) in rule.to.iter().enumerate() {
        let at = to.index(index);
        match &one.operation {
            Some(one) => operation(one, &at.field("operation"), found),
            None => found.error(&at.field("operation"), "`to.operation` must be set"),
        }
    }
    let when = at.field("when");
    for (index, one) in rule.when.iter().enumerate() {
        condition::check(action, one, &when.index(index), found);
    }
    if action == Action::Deny && denies_all_tcp(rule) {
        found.warning(
            at,
            "configured AuthorizationPolicy will deny all traffic to TCP ports under its scope due to the use of \
             only HTTP attributes in a DENY rule; it is recommended to explicitly specify the port",
        );
    }
}

type List<'a> = (&'static str, &'a [String], Sort);

fn source_lists(source: &Source) -> [List<'_>; 14] {
    [
        ("principals", &source.principals, Sort::Name),
        ("notPrincipals", &source.not_principals, Sort::Name),
        ("requestPrincipals", &source.request_principals, Sort::Name),
        ("notRequestPrincipals", &source.not_request_principals, Sort::Name),
        ("namespaces", &source.namespaces, Sort::Name),
        ("notNamespaces", &source.not_namespaces, Sort::Name),
        ("serviceAccounts", &source.service_accounts, Sort::ServiceAccount),
        ("notServiceAccounts", &source.not_service_accounts, Sort::ServiceAccount),
        ("ipBlocks", &source.ip_blocks, Sort::Address),
        ("notIpBlocks", &source.not_ip_blocks, Sort::Address),
        ("remoteIpBlocks", &source.remote_ip_blocks, Sort::Address),
        ("notRemoteIpBlocks", &source.not_remote_ip_blocks, Sort::Address),
        ("trustDomains", &source.trust_domains, Sort::TrustDomain),
        ("notTrustDomains", &source.not_trust_domains, Sort::TrustDomain),
    ]
}

/// Lists that hold for any connection, not for HTTP requests only. Trust domains are not counted among them, as
/// upstream does not.
fn tcp_lists(source: &Source) -> [&[String]; 10] {
    [
        &source.principals,
        &source.not_principals,
        &source.namespaces,
        &source.not_namespaces,
        &source.service_accounts,
        &source.not_service_accounts,
        &source.ip_blocks,
        &source.not_ip_blocks,
        &source.remote_ip_blocks,
        &source.not_remote_ip_blocks,
    ]
}

/// What an external authorizer is asked cannot depend on who asks: only on addresses.
fn custom_allows(list: &str) -> bool {
    matches!(list, "ipBlocks" | "notIpBlocks" | "remoteIpBlocks" | "notRemoteIpBlocks")
}

fn source(action: Action, source: &Source, at: &At<'_>, found: &mut Findings) {
    let lists = source_lists(source);
    if lists.iter().all(|(_, values, _)| values.is_empty()) {
        found.error(at, "`from.source` must not be empty");
    }
    let identities = [&source.principals, &source.not_principals, &source.namespaces, &source.not_namespaces];
    let accounts = [&source.service_accounts, &source.not_service_accounts];
    if identities.iter().any(|list| !list.is_empty()) && accounts.iter().any(|list| !list.is_empty()) {
        found.error(at, "cannot set serviceAccounts with namespaces or principals");
    }
    for (name, values, sort) in lists {
        let at = at.field(name);
        if action == Action::Custom && !values.is_empty() && !custom_allows(name) {
            found.error(&at, format!("{name} is currently not supported with CUSTOM action"));
        }
        value::list(sort, values, &at, found);
    }
}

fn operation(operation: &Operation, at: &At<'_>, found: &mut Findings) {
    let lists: [List<'_>; 8] = [
        ("hosts", &operation.hosts, Sort::Name),
        ("notHosts", &operation.not_hosts, Sort::Name),
        ("ports", &operation.ports, Sort::Port),
        ("notPorts", &operation.not_ports, Sort::Port),
        ("methods", &operation.methods, Sort::Name),
        ("notMethods", &operation.not_methods, Sort::Name),
        ("paths", &operation.paths, Sort::Path),
        ("notPaths", &operation.not_paths, Sort::Path),
    ];
    if lists.iter().all(|(_, values, _)| values.is_empty()) {
        found.error(at, "`to.operation` must not be empty");
    }
    for (name, values, sort) in lists {
        value::list(sort, values, &at.field(name), found);
    }
}

/// A DENY rule that speaks of requests only holds for every TCP connection, for which there is none.
fn denies_all_tcp(rule: &Rule) -> bool {
    let mut sources = rule.from.iter().filter_map(|from| from.source.as_ref()).peekable();
    let mut operations = rule.to.iter().filter_map(|to| to.operation.as_ref()).peekable();
    if operations.peek().is_some() {
        return operations.all(|operation| operation.ports.is_empty() && operation.not_ports.is_empty());
    }
    sources.peek().is_some() && sources.all(|source| tcp_lists(source).iter().all(|list| list.is_empty()))
}
