//! Sidecar: what pods can reach, and how they are reached.

use super::{
    destination_rule::CONNECTION_POOL,
    gateway, service_entry,
    shape::{Block, PORT, Rule, Shape, attribute, list},
    syntax,
};

const HOSTS: Shape = Shape::List { of: &Shape::Text(syntax::not_empty), least: 1, most: usize::MAX };
const CAPTURE: Shape = Shape::Word(&["DEFAULT", "IPTABLES", "NONE"]);

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "workloadSelector",
        "workloadSelector.labels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
    attribute(
        "reachableHosts",
        "egress",
        Shape::Single(&Shape::Within("hosts", &HOSTS)),
        "What can be reached: namespace/host, with `.` for the own namespace, `*` for all and `~` for none",
    ),
    attribute("egress", "egress", list(&Shape::Block(&EGRESS)), "The same for each port"),
    attribute("ingress", "ingress", list(&Shape::Block(&INGRESS)), "The ports that are reached"),
    attribute(
        "outboundMode",
        "outboundTrafficPolicy.mode",
        Shape::Word(&["ALLOW_ANY", "REGISTRY_ONLY"]),
        "Whether hosts that nobody knows can be reached. Default: ALLOW_ANY",
    ),
    attribute(
        "egressProxy",
        "outboundTrafficPolicy.egressProxy",
        Shape::Block(&EGRESS_PROXY),
        "Who forwards requests to hosts that nobody knows; only with ALLOW_ANY",
    ),
    attribute(
        "inboundConnectionPoolSettings",
        "inboundConnectionPool",
        Shape::Block(&CONNECTION_POOL),
        "How many connections and requests there may be",
    ),
])
.rules(&[
    Rule::AtMostOne(&["reachableHosts", "egress"]),
    Rule::AtLeastOne(&[
        "reachableHosts",
        "egress",
        "ingress",
        "outboundMode",
        "egressProxy",
        "inboundConnectionPoolSettings",
    ]),
])
.finish(|_, rendered, decode, at| {
    let policy = rendered.get("outboundTrafficPolicy");
    if policy.is_some_and(|policy| policy["mode"] == "REGISTRY_ONLY" && !policy["egressProxy"].is_null()) {
        let message = "`egressProxy` cannot be given with `outboundMode: REGISTRY_ONLY`";
        decode.together(&at.field("egressProxy"), message);
    }
});

static EGRESS: Block = Block::new(&[
    attribute("hosts", "hosts", HOSTS, "namespace/host").required(),
    attribute("port", "port", Shape::Block(&LISTENER_PORT), "The port; the last listener may have none"),
    attribute("bind", "bind", Shape::Text(syntax::not_empty), "The address that is listened on"),
    attribute(
        "captureMode",
        "captureMode",
        CAPTURE,
        "Whether requests are redirected to it. Default: DEFAULT",
    ),
]);

static INGRESS: Block = Block::new(&[
    attribute("port", "port", Shape::Block(&LISTENER_PORT), "The port").required(),
    attribute(
        "defaultEndpoint",
        "defaultEndpoint",
        Shape::Text(syntax::not_empty),
        "Where the application listens: 127.0.0.1:port, 0.0.0.0:port or unix:///path",
    ),
    attribute("bind", "bind", Shape::Text(syntax::not_empty), "The address that is listened on"),
    attribute(
        "captureMode",
        "captureMode",
        CAPTURE,
        "Whether requests are redirected to it. Default: DEFAULT",
    ),
    attribute("tlsSettings", "tls", Shape::Block(&gateway::TLS), "TLS that the sidecar ends"),
    attribute(
        "connectionPoolSettings",
        "connectionPool",
        Shape::Block(&CONNECTION_POOL),
        "How many connections and requests there may be",
    ),
]);

static LISTENER_PORT: Block = Block::new(&[
    attribute("number", "number", PORT, "The port").required(),
    attribute(
        "protocol",
        "protocol",
        Shape::Word(&["HTTP", "HTTPS", "HTTP2", "GRPC", "GRPC-Web", "TCP", "TLS", "Mongo", "Redis", "MySQL"]),
        "What is spoken there",
    )
    .required(),
    attribute(
        "name",
        "name",
        Shape::Text(syntax::label),
        "Default: the protocol and the number, such as http-80",
    ),
])
.finish(service_entry::named);

static EGRESS_PROXY: Block = Block::new(&[
    attribute("host", "host", Shape::Text(syntax::not_empty), "The service").required(),
    attribute(
        "subset",
        "subset",
        Shape::Text(syntax::label),
        "One of the subsets that a DestinationRule names",
    ),
    attribute("port", "port.number", PORT, "The service's port").required(),
]);
