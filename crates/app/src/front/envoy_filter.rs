//! EnvoyFilter: patches of Envoy's own configuration. For experts; the platform may forbid it.

use super::{
    conventions::ATTACH_TO,
    decode::has,
    shape::{Block, INT32, Rule, Shape, attribute, list, whole},
    syntax,
};
use crate::problem::On;

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "workloadSelector",
        "workloadSelector.labels",
        Shape::Selector,
        "The pods that are patched, or `self`. Default: all of the namespace",
    ),
    attribute("attachTo", "targetRefs", ATTACH_TO, "The same by Kind/name, for waypoints"),
    attribute("priority", "priority", whole(-INT32 - 1, INT32), "Lower numbers are first. Default: 0"),
    attribute("patches", "configPatches", list(&Shape::Block(&PATCH)), "What is changed, in this order"),
])
.rules(&[Rule::AtMostOne(&["workloadSelector", "attachTo"])]);

static PATCH: Block = Block::new(&[
    attribute(
        "target",
        "applyTo",
        Shape::Word(&[
            "LISTENER",
            "FILTER_CHAIN",
            "NETWORK_FILTER",
            "HTTP_FILTER",
            "ROUTE_CONFIGURATION",
            "VIRTUAL_HOST",
            "HTTP_ROUTE",
            "CLUSTER",
            "EXTENSION_CONFIG",
            "LISTENER_FILTER",
            "BOOTSTRAP",
        ]),
        "The part of the configuration",
    )
    .required(),
    attribute(
        "context",
        "match.context",
        Shape::Word(&["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY", "WAYPOINT"]),
        "For which proxies and direction. Default: ANY",
    ),
    attribute("match", "match", Shape::Block(&MATCH), "Which parts of that kind"),
    attribute(
        "proxyVersion",
        "match.proxy.proxyVersion",
        Shape::Text(syntax::not_empty),
        "Only proxies whose version matches this expression",
    ),
    attribute(
        "operation",
        "patch.operation",
        Shape::Word(&["MERGE", "ADD", "REMOVE", "INSERT_BEFORE", "INSERT_AFTER", "INSERT_FIRST", "REPLACE"]),
        "What is done",
    )
    .required(),
    attribute("value", "patch.value", Shape::Free, "Envoy's own fields; needed but for REMOVE"),
    attribute(
        "filterClass",
        "patch.filterClass",
        Shape::Word(&["AUTHN", "AUTHZ", "STATS"]),
        "Among which filters a new one stands",
    ),
])
.finish(|written, rendered, decode, at| {
    let operation = rendered.get("patch").and_then(|patch| patch["operation"].as_str());
    if let Some(operation) = operation.filter(|operation| *operation != "REMOVE" && !has(written, "value")) {
        decode.together(&at.field("operation"), &format!("`operation: {operation}` needs `value` beside it"));
    }
    if rendered.get("applyTo").is_some_and(|target| target == "BOOTSTRAP") {
        decode.warn(
            &at.field("target"),
            On::Value,
            "is deprecated: BOOTSTRAP needs pods that are started anew",
        );
    }
});

static MATCH: Block = Block::new(&[
    attribute("listener", "listener", Shape::Free, "Istio's own fields of a listener match"),
    attribute("route", "routeConfiguration", Shape::Free, "Istio's own fields of a route match"),
    attribute("cluster", "cluster", Shape::Free, "Istio's own fields of a cluster match"),
    attribute("waypoint", "waypoint", Shape::Free, "Istio's own fields of a waypoint match"),
])
.rules(&[Rule::ExactlyOne(&["listener", "route", "cluster", "waypoint"])]);
