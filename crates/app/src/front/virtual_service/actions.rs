//! What is done with an HTTP request.

use super::super::{
    decode::has,
    shape::{Block, INT32, PORT, Rule, Shape, attribute, list, map, whole},
    syntax,
};
use serde_json::Value;

const PERCENT: Shape = Shape::Number { least: 0.0, most: 100.0 };
const STATUS: Shape = whole(200, 599);
const TEXTS: Shape = list(&Shape::Text(syntax::not_empty));
const TEXT_MAP: Shape = map(syntax::not_empty, &Shape::Text(syntax::any));

pub(super) static REDIRECT: Block = Block::new(&[
    attribute("path", "uri", Shape::Text(syntax::not_empty), "The path"),
    attribute("authority", "authority", Shape::Text(syntax::not_empty), "The host"),
    attribute("scheme", "scheme", Shape::Word(&["http", "https"]), "http or https"),
    attribute("port", "port", PORT, "The port"),
    attribute(
        "derivePort",
        "derivePort",
        Shape::Word(&["FROM_PROTOCOL_DEFAULT", "FROM_REQUEST_PORT"]),
        "Which port instead of one that is written",
    ),
    attribute("code", "redirectCode", whole(300, 399), "Default: 301"),
])
.rules(&[
    Rule::AtLeastOne(&["path", "authority", "scheme", "port", "derivePort"]),
    Rule::AtMostOne(&["port", "derivePort"]),
]);

pub(super) static DIRECT_RESPONSE: Block = Block::new(&[
    attribute("status", "status", STATUS, "The HTTP status").required(),
    attribute("body", "body.string", Shape::Text(syntax::any), "What is answered"),
    attribute("bodyBase64", "body.bytes", Shape::Text(syntax::not_empty), "The same for what is no text"),
])
.rules(&[Rule::AtMostOne(&["body", "bodyBase64"])]);

pub(super) static DELEGATE: Block = Block::new(&[
    attribute(
        "name",
        "name",
        Shape::Name("virtualServices"),
        "The VirtualService, or the key of one of the application's own",
    )
    .required(),
    attribute(
        "namespace",
        "namespace",
        Shape::Text(syntax::label),
        "Its namespace. Default: the application's",
    ),
]);

pub(super) static REWRITE: Block = Block::new(&[
    attribute("path", "uri", Shape::Text(syntax::not_empty), "The path, or the matched prefix of it"),
    attribute("authority", "authority", Shape::Text(syntax::not_empty), "The host"),
    attribute(
        "pathRegex",
        "uriRegexRewrite",
        Shape::Block(&PATH_REGEX),
        "Parts of the path by an expression",
    ),
])
.rules(&[Rule::AtLeastOne(&["path", "authority", "pathRegex"]), Rule::AtMostOne(&["path", "pathRegex"])]);

static PATH_REGEX: Block = Block::new(&[
    attribute("match", "match", Shape::Text(syntax::not_empty), "An RE2 expression").required(),
    attribute(
        "replacement",
        "rewrite",
        Shape::Text(syntax::not_empty),
        "What is put there; \\1 is the first group",
    )
    .required(),
]);

pub(super) static RETRIES: Block = Block::new(&[
    attribute("attempts", "attempts", whole(0, INT32), "How often again; 0 switches it off. Default: 2"),
    attribute("perTryTimeout", "perTryTimeout", Shape::Duration, "How long one attempt may take"),
    attribute(
        "conditions",
        "retryOn",
        Shape::Joined(syntax::not_empty),
        "After which failures: Envoy's words or HTTP statuses. Default: connect-failure, refused-stream, unavailable, cancelled",
    ),
    attribute("backoff", "backoff", Shape::Duration, "How long to wait before the next one. Default: 25ms"),
    attribute(
        "otherLocalities",
        "retryRemoteLocalities",
        Shape::Truth,
        "Whether pods elsewhere are asked, too",
    ),
    attribute(
        "avoidPreviousHosts",
        "retryIgnorePreviousHosts",
        Shape::Truth,
        "Whether another pod is asked. Default: true",
    ),
])
.finish(|written, _, decode, at| {
    if written.get("attempts").and_then(Value::as_i64) == Some(0) {
        for name in written.keys().filter(|name| *name != "attempts" && has(written, name)) {
            let message = format!("`{name}` cannot be given with `attempts: 0`, which switches retries off");
            decode.together(&at.field(name), &message);
        }
    }
});

pub(super) static FAULT: Block = Block::new(&[
    attribute("delay", "delay", Shape::Block(&DELAY), "Answers that come late"),
    attribute("abort", "abort", Shape::Block(&ABORT), "Answers that are errors"),
])
.rules(&[Rule::AtLeastOne(&["delay", "abort"])]);

static DELAY: Block = Block::new(&[
    attribute("duration", "fixedDelay", Shape::Duration, "How late").required(),
    attribute("percent", "percentage.value", PERCENT, "How many of the requests"),
]);

static ABORT: Block = Block::new(&[
    attribute("httpStatus", "httpStatus", STATUS, "The HTTP status"),
    attribute(
        "grpcStatus",
        "grpcStatus",
        Shape::Word(&mizzen_api::GRPC_STATUSES),
        "The gRPC status by its name",
    ),
    attribute("percent", "percentage.value", PERCENT, "How many of the requests"),
])
.rules(&[Rule::ExactlyOne(&["httpStatus", "grpcStatus"])]);

pub(super) static MIRROR: Block = Block::new(&[
    attribute("host", "destination.host", Shape::Text(syntax::not_empty), "The service").required(),
    attribute(
        "subset",
        "destination.subset",
        Shape::Text(syntax::label),
        "One of the subsets that a DestinationRule names",
    ),
    attribute("port", "destination.port.number", PORT, "The service's port, where it has several"),
    attribute("percent", "percentage.value", PERCENT, "How many of the requests. Default: 100"),
]);

const METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", "*"];

pub(super) static CORS: Block = Block::new(&[
    attribute("allowOrigins", "allowOrigins", list(&Shape::Match), "Which pages"),
    attribute("allowMethods", "allowMethods", list(&Shape::Word(METHODS)), "Which methods"),
    attribute("allowHeaders", "allowHeaders", TEXTS, "Which headers they may send"),
    attribute("exposeHeaders", "exposeHeaders", TEXTS, "Which headers they may read"),
    attribute("maxAge", "maxAge", Shape::Duration, "How long a browser may remember it; whole seconds"),
    attribute("allowCredentials", "allowCredentials", Shape::Truth, "Whether cookies are sent"),
    attribute(
        "unmatchedPreflights",
        "unmatchedPreflights",
        Shape::Word(&["FORWARD", "IGNORE"]),
        "What is done with questions of other pages. Default: FORWARD",
    ),
]);

pub(super) static HEADERS: Block = Block::new(&[
    attribute("request", "request", Shape::Block(&OPERATIONS), "What the service sees"),
    attribute("response", "response", Shape::Block(&OPERATIONS), "What the client sees"),
]);

static OPERATIONS: Block = Block::new(&[
    attribute("set", "set", TEXT_MAP, "Headers that are overwritten"),
    attribute("add", "add", TEXT_MAP, "Headers that are added"),
    attribute("remove", "remove", TEXTS, "Headers that are taken away"),
]);
