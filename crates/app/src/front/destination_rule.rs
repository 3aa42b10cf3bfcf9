//! DestinationRule, with the names of the design document, exactly.

use super::{
    conventions::LABELS,
    decode::has,
    shape::{Block, INT32, Rule, Shape, attribute, list, whole},
    syntax,
};
use crate::problem::On;

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "host",
        "host",
        Shape::Text(syntax::not_empty),
        "The service that the rule is for; a short name is one of the application's namespace",
    )
    .required(),
    attribute(
        "subsets",
        "subsets",
        list(&Shape::Block(&SUBSET)),
        "Named sets of the service's pods, usually its versions",
    ),
    attribute(
        "namespaces",
        "exportTo",
        list(&Shape::Text(syntax::not_empty)),
        "The namespaces that see the rule; `.` is its own. Default: all",
    ),
    attribute(
        "workloadSelector",
        "workloadSelector.matchLabels",
        Shape::Selector,
        "The pods whose traffic the rule is for, or `self`. Default: all",
    ),
    attribute(
        "trafficPolicy",
        "trafficPolicy",
        Shape::Block(&TRAFFIC_POLICY),
        "What holds for the traffic to the host",
    ),
]);

static SUBSET: Block = Block::new(&[
    attribute("name", "name", Shape::Text(syntax::label), "The subset's name").required(),
    attribute("labels", "labels", LABELS, "The labels of the pods that belong to it"),
    attribute(
        "trafficPolicy",
        "trafficPolicy",
        Shape::Block(&TRAFFIC_POLICY),
        "What holds for the traffic to the subset, instead of the rule's",
    ),
]);

static TRAFFIC_POLICY: Block = Block::new(&[
    attribute(
        "loadBalancerSettings",
        "loadBalancer",
        Shape::Block(&LOAD_BALANCER),
        "How requests are spread over pods",
    ),
    attribute("tlsSettings", "tls", Shape::Block(&TLS), "How TLS is used towards the host"),
    attribute(
        "ejectionSettings",
        "outlierDetection",
        Shape::Block(&EJECTION),
        "When a failing pod is left out for a while; an empty block has Istio's defaults",
    ),
    attribute(
        "connectionPoolSettings",
        "connectionPool",
        Shape::Block(&CONNECTION_POOL),
        "How many connections and requests there may be",
    ),
])
.rules(&[Rule::AtLeastOne(&[
    "loadBalancerSettings",
    "tlsSettings",
    "ejectionSettings",
    "connectionPoolSettings",
])]);

static LOAD_BALANCER: Block = Block::new(&[attribute(
    "strategy",
    "simple",
    Shape::Word(&["ROUND_ROBIN", "LEAST_REQUEST", "LEAST_CONN", "PASSTHROUGH", "RANDOM"]),
    "Default: LEAST_REQUEST",
)])
.finish(|_, rendered, decode, at| {
    if rendered.get("simple").is_some_and(|strategy| strategy == "LEAST_CONN") {
        decode.warn(&at.field("strategy"), On::Value, "is deprecated: LEAST_CONN means LEAST_REQUEST").hint =
            Some("write LEAST_REQUEST".to_owned());
    }
});

static TLS: Block = Block::new(&[
    attribute(
        "mode",
        "mode",
        Shape::Word(&["DISABLE", "SIMPLE", "MUTUAL", "ISTIO_MUTUAL"]),
        "How TLS is enforced",
    ),
    attribute(
        "clientCertificate",
        "clientCertificate",
        Shape::Text(syntax::not_empty),
        "The file with the client's certificate; needed with MUTUAL",
    ),
    attribute(
        "clientPrivateKey",
        "privateKey",
        Shape::Text(syntax::not_empty),
        "The file with the client's private key; needed with MUTUAL",
    ),
    attribute(
        "caCertificates",
        "caCertificates",
        Shape::Text(syntax::not_empty),
        "The file with the certificates of those who may sign the server's",
    ),
])
.finish(|written, rendered, decode, at| match rendered.get("mode").and_then(|mode| mode.as_str()) {
    Some("MUTUAL") => {
        for name in ["clientCertificate", "clientPrivateKey"].iter().filter(|name| !has(written, name)) {
            decode.together(&at.field("mode"), &format!("`mode: MUTUAL` needs `{name}` beside it"));
        }
    }
    Some(mode @ ("ISTIO_MUTUAL" | "DISABLE")) => {
        for name in ["clientCertificate", "clientPrivateKey", "caCertificates"] {
            if has(written, name) {
                let message = format!("`{name}` cannot be given with `mode: {mode}`");
                decode.together(&at.field(name), &message);
            }
        }
    }
    _ => {}
});

static EJECTION: Block = Block::new(&[
    // The field of the same name is deprecated, and istiod does not read it.
    attribute(
        "consecutiveErrors",
        "consecutive5xxErrors",
        whole(0, INT32),
        "Errors in a row until a pod is left out; 0 switches it off. Default: 5",
    ),
    attribute("interval", "interval", Shape::Duration, "How often it is looked at. Default: 10s"),
    attribute(
        "minimumEjectionTime",
        "baseEjectionTime",
        Shape::Duration,
        "How long a pod is left out at least. Default: 30s",
    ),
]);

/// Sidecars have it, too.
pub(super) static CONNECTION_POOL: Block = Block::new(&[
    attribute("tcpSettings", "tcp", Shape::Block(&TCP), "Connections"),
    attribute("httpSettings", "http", Shape::Block(&HTTP), "HTTP requests"),
])
.rules(&[Rule::AtLeastOne(&["tcpSettings", "httpSettings"])]);

/// To istiod 0 is "not set", which is not what anybody who writes it means.
const LIMIT: Shape = Shape::Whole { least: 1, most: INT32, hint: Some("leave it out for no limit") };
const HTTP_LIMIT: Shape = Shape::Whole { least: 1, most: INT32, hint: Some("write 2147483647 for no limit") };

static TCP: Block = Block::new(&[
    attribute("maxTcpConnections", "maxConnections", LIMIT, "Connections to the host. Default: no limit"),
    attribute(
        "connectionTimeout",
        "connectTimeout",
        Shape::Duration,
        "How long a connection may take to be made. Default: 10s",
    ),
]);

/// The two limits of 1024 are promised to whoever writes the block, and they are not Istio's: so they are written out.
static HTTP: Block = Block::new(&[
    attribute(
        "maxPendingHttpConnections",
        "http1MaxPendingRequests",
        HTTP_LIMIT,
        "Requests that wait for a connection. Default: 1024",
    )
    .default(1024),
    attribute(
        "maxActiveHttpConnections",
        "http2MaxRequests",
        HTTP_LIMIT,
        "Requests at a time. Default: 1024",
    )
    .default(1024),
    attribute(
        "maxHttpRequestsPerConnection",
        "maxRequestsPerConnection",
        whole(0, 1 << 29),
        "Requests per connection; 0 is no limit, 1 no keep-alive. Default: no limit",
    ),
]);
