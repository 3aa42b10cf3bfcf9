//! Each rule's text, as the CRDs have it, and its function.

use std::collections::HashSet;

use mizzen_api::proto::Duration;
use serde_json::Value;

use super::{Holds, at_most_one, has, items, keys, present, text, text_or, url};

const FETCHED_FROM: &[&str] = &["", "http", "https", "file", "oci"];

pub(super) const RULES: &[(&str, Holds)] = &[
    (r#"!self.contains("*")"#, |value| !text(value).contains('*')),
    (r#"self.all(key, !key.contains("*"))"#, |value| keys(value).all(|key| !key.contains('*'))),
    ("self.all(key, key.size() != 0)", |value| keys(value).all(|key| !key.is_empty())),
    ("self.size() == 0", |value| text(value).is_empty()),
    (r#"self != "*""#, |value| text(value) != "*"),
    (r#"self in ["", "HTTP", "HTTPS"]"#, |value| matches!(text(value), "" | "HTTP" | "HTTPS")),
    ("0 < self && self <= 65535", |value| value.as_i64().is_some_and(is_port)),
    ("duration(self) >= duration('1ms')", |value| {
        text(value).parse::<Duration>().is_ok_and(|length| length >= Duration::from_millis(1))
    }),
    (r#"url(self).getScheme() in ["http", "https"]"#, |value| {
        url::scheme(text(value)).is_some_and(|scheme| scheme == "http" || scheme == "https")
    }),
    (
        "isURL(self) ? (url(self).getScheme() in [\"\", \"http\", \"https\", \"file\", \"oci\"]) : (isURL(\"http://\" \
         + self) &&\nurl(\"http://\" + self).getScheme() in [\"\", \"http\", \"https\", \"file\", \"oci\"])",
        can_be_fetched,
    ),
    (
        "isURL(self) ? (url(self).getScheme() in [\"\", \"http\", \"https\", \"oci\", \"file\"]) : (isURL(\"http://\" \
         + self) &&\nurl(\"http://\" + self).getScheme() in [\"\", \"http\", \"https\", \"oci\", \"file\"])",
        can_be_fetched,
    ),
    // Unix domain sockets as addresses.
    (
        r#"self.startsWith("unix://") ? (self.substring(7, 8) == "/" || self.substring(7, 8) == "@") : true"#,
        |value| text(value).strip_prefix("unix://").is_none_or(|path| path.starts_with(['/', '@'])),
    ),
    (r#"self.startsWith("unix://") ? !self.endsWith("/") : true"#, |value| {
        !(text(value).starts_with("unix://") && text(value).ends_with('/'))
    }),
    (r#"(has(self.address) ? self.address : "").startsWith("unix://") ? !has(self.ports) : true"#, |value| {
        !(text_or(value, "address", "").starts_with("unix://") && has(value, "ports"))
    }),
    ("has(self.address) || has(self.network)", |value| has(value, "address") || has(value, "network")),
    // One of several fields.
    (ONE_TARGET, |value| at_most_one(value, &["selector", "targetRef", "targetRefs"])),
    ("(has(self.selector) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["selector", "targetRefs"])
    }),
    ("(has(self.workloadSelector) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["workloadSelector", "targetRefs"])
    }),
    ("(has(self.workloadSelector) ? 1 : 0) + (has(self.endpoints) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["workloadSelector", "endpoints"])
    }),
    ("(has(self.tlsCertificates) ? 1 : 0) + (has(self.credentialNames) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["tlsCertificates", "credentialNames"])
    }),
    ("(has(self.credentialNames) ? 1 : 0) + (has(self.tlsCertificates) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["credentialNames", "tlsCertificates"])
    }),
    ("(has(self.credentialName) ? 1 : 0) + (has(self.credentialNames) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["credentialName", "credentialNames"])
    }),
    ("(has(self.jwksUri) ? 1 : 0) + (has(self.jwks_uri) ? 1 : 0) + (has(self.jwks) ? 1 : 0) <= 1", |value| {
        at_most_one(value, &["jwksUri", "jwks_uri", "jwks"])
    }),
    ("has(self.wasm) != has(self.lua)", |value| has(value, "wasm") != has(value, "lua")),
    // One field that decides about another.
    (r#"(has(self.valueFrom) ? self.valueFrom : "") != "HOST" || !has(self.value)"#, |value| {
        text_or(value, "valueFrom", "") != "HOST" || !has(value, "value")
    }),
    (
        "has(self.context) ? ((self.context == \"WAYPOINT\") ? has(self.waypoint) : !has(self.waypoint)) : \
         !has(self.waypoint)",
        |value| (text_or(value, "context", "") == "WAYPOINT") == has(value, "waypoint"),
    ),
    (
        "(has(self.serviceAccounts) || has(self.notServiceAccounts)) ? (!has(self.principals) &&\n\
         !has(self.notPrincipals) && !has(self.namespaces) && !has(self.notNamespaces)) : true",
        |value| {
            let any = |fields: &[&str]| fields.iter().any(|field| has(value, field));
            !any(&["serviceAccounts", "notServiceAccounts"])
                || !any(&["principals", "notPrincipals", "namespaces", "notNamespaces"])
        },
    ),
    (
        "has(self.portLevelMtls) ? (((has(self.selector) && has(self.selector.matchLabels)) ? \
         self.selector.matchLabels : {}).size() > 0) : true",
        |value| {
            let labels = present(value, "selector").and_then(|selector| present(selector, "matchLabels"));
            !has(value, "portLevelMtls") || labels.is_some_and(|labels| keys(labels).next().is_some())
        },
    ),
    (r#"((has(self.operation) ? self.operation : "") == "UPSERT") ? (self.value != "") : true"#, |value| {
        text_or(value, "operation", "") != "UPSERT" || !text_or(value, "value", "").is_empty()
    }),
    (r#"((has(self.operation) ? self.operation : "") == "REMOVE") ? !has(self.value) : true"#, |value| {
        text_or(value, "operation", "") != "REMOVE" || !has(value, "value")
    }),
    // Ports.
    (
        r#"self.all(key, size(key) < 63 && key.matches("^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$"))"#,
        |value| keys(value).all(|key| key.len() < 63 && is_port_name(key)),
    ),
    ("self.all(key, 0 < int(key) && int(key) <= 65535)", |value| {
        keys(value).all(|key| key.parse().is_ok_and(is_port))
    }),
    ("self.all(l1, self.exists_one(l2, l1.number == l2.number))", |value| {
        let numbers: Option<Vec<_>> =
            items(Some(value)).iter().map(|port| port.get("number")?.as_i64()).collect();
        numbers.is_some_and(|numbers| numbers.iter().collect::<HashSet<_>>().len() == numbers.len())
    }),
    // How a ServiceEntry is resolved.
    (
        "!((has(self.addresses) ? self.addresses : []).exists(k, k.contains(\"/\")) && !((has(self.resolution) ? \
         self.resolution : \"NONE\") in [\"STATIC\", \"NONE\"]))",
        |value| {
            let ranges = items(present(value, "addresses")).iter().any(|address| text(address).contains('/'));
            !ranges || matches!(text_or(value, "resolution", "NONE"), "STATIC" | "NONE")
        },
    ),
    (
        r#"((has(self.resolution) ? self.resolution : "NONE") == "NONE") ? !has(self.endpoints) : true"#,
        |value| text_or(value, "resolution", "NONE") != "NONE" || !has(value, "endpoints"),
    ),
    (
        "((has(self.resolution) ? self.resolution : \"\") == \"DNS_ROUND_ROBIN\") ? ((has(self.endpoints) ? \
         self.endpoints : []).size() <= 1) : true",
        |value| {
            text_or(value, "resolution", "") != "DNS_ROUND_ROBIN"
                || items(present(value, "endpoints")).len() <= 1
        },
    ),
];

const ONE_TARGET: &str =
    "(has(self.selector) ? 1 : 0) + (has(self.targetRef) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1";

fn is_port(number: i64) -> bool {
    (1..=65535).contains(&number)
}

fn is_port_name(name: &str) -> bool {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// A module's address: with a scheme that can be fetched from, or a host and path without any.
fn can_be_fetched(value: &Value) -> bool {
    let address = text(value);
    let scheme =
        if url::is_url(address) { url::scheme(address) } else { url::scheme(&format!("http://{address}")) };
    scheme.is_some_and(|scheme| FETCHED_FROM.contains(&scheme.as_str()))
}
