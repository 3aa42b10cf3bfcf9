//! Telemetry: traces, metrics and access logs.

use super::{
    conventions::ATTACH_TO,
    decode::{Decode, has, put},
    shape::{Block, Fields, NOWHERE, Own, Rule, Shape, attribute, list, map},
    syntax,
};
use mizzen_text::At;
use serde_json::{Value, json};

const MODE: Shape = Shape::Word(&["CLIENT_AND_SERVER", "CLIENT", "SERVER"]);
const PROVIDERS: Shape = list(&Shape::Within("name", &Shape::Text(syntax::not_empty)));

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "workloadSelector",
        "selector.matchLabels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
    attribute("attachTo", "targetRefs", ATTACH_TO, "The same by Kind/name, for waypoints"),
    attribute("tracing", "tracing", Shape::Single(&Shape::Block(&TRACING)), "Traces"),
    attribute("metrics", "metrics", list(&Shape::Block(&METRICS)), "Metrics"),
    attribute("accessLogs", "accessLogging", list(&Shape::Block(&ACCESS_LOG)), "Access logs"),
])
.rules(&[
    Rule::AtMostOne(&["workloadSelector", "attachTo"]),
    Rule::AtLeastOne(&["tracing", "metrics", "accessLogs"]),
]);

static TRACING: Block = Block::new(&[
    attribute("providers", "providers", PROVIDERS, "Who gets the traces. Default: the mesh's"),
    attribute(
        "samplingPercent",
        "randomSamplingPercentage",
        Shape::Number { least: 0.0, most: 100.0 },
        "How many of the requests",
    ),
    attribute("enabled", "disableSpanReporting", Shape::Untruth, "Default: true"),
    attribute("tags", "customTags", map(syntax::not_empty, &Shape::Block(&TAG)), "More tags of each span"),
    attribute(
        "sampleByRequestId",
        "useRequestIdForTraceSampling",
        Shape::Truth,
        "Whether the request's id decides. Default: true",
    ),
    attribute(
        "istioTags",
        "enableIstioTags",
        Shape::Truth,
        "Whether Istio's own tags are there. Default: true",
    ),
    attribute(
        "propagateContext",
        "disableContextPropagation",
        Shape::Untruth,
        "Whether the trace goes on behind the proxy. Default: true",
    ),
    attribute("mode", "match.mode", MODE, "For requests that are sent, received, or both. Default: both"),
]);

static TAG: Block = Block::new(&[
    attribute("literal", "literal.value", Shape::Text(syntax::not_empty), "This text"),
    attribute("header", "header.name", Shape::Text(syntax::not_empty), "What a header of the request holds"),
    attribute(
        "environment",
        "environment.name",
        Shape::Text(syntax::not_empty),
        "What an environment variable of the proxy holds",
    ),
    attribute(
        "formatter",
        "formatter.value",
        Shape::Text(syntax::not_empty),
        "A format of Envoy's access logs",
    ),
    attribute(
        "default",
        NOWHERE,
        Shape::Text(syntax::any),
        "What it is where the header or the variable is not there",
    ),
])
.rules(&[Rule::ExactlyOne(&["literal", "header", "environment", "formatter"])])
.finish(|written, rendered, decode, at| {
    let Some(default) = written.get("default").filter(|default| default.is_string()) else { return };
    match ["header", "environment"].into_iter().find(|name| has(written, name)) {
        Some(name) => put(rendered, &format!("{name}.defaultValue"), default.clone()),
        None => decode.together(&at.field("default"), "`default` needs `header` or `environment` beside it"),
    }
});

static METRICS: Block = Block::new(&[
    attribute("providers", "providers", PROVIDERS, "Who gets the metrics. Default: the mesh's"),
    attribute("interval", "reportingInterval", Shape::Duration, "How often. Default: 5s"),
    attribute("overrides", "overrides", list(&Shape::Block(&OVERRIDE)), "What is changed of single metrics"),
]);

static OVERRIDE: Block = Block::new(&[
    attribute(
        "metric",
        "match.metric",
        Shape::Word(&[
            "ALL_METRICS",
            "REQUEST_COUNT",
            "REQUEST_DURATION",
            "REQUEST_SIZE",
            "RESPONSE_SIZE",
            "TCP_OPENED_CONNECTIONS",
            "TCP_CLOSED_CONNECTIONS",
            "TCP_SENT_BYTES",
            "TCP_RECEIVED_BYTES",
            "GRPC_REQUEST_MESSAGES",
            "GRPC_RESPONSE_MESSAGES",
        ]),
        "One of Istio's metrics",
    ),
    attribute(
        "customMetric",
        "match.customMetric",
        Shape::Text(syntax::not_empty),
        "Another one, by its name",
    ),
    attribute("mode", "match.mode", MODE, "For requests that are sent, received, or both. Default: both"),
    attribute("enabled", "disabled", Shape::Untruth, "Default: true"),
    attribute(
        "tags",
        "tagOverrides",
        Shape::Own(&Own { decode: tag_overrides, schema: tag_schema }),
        "Tags and what they are; null takes one away",
    ),
])
.rules(&[Rule::AtMostOne(&["metric", "customMetric"])]);

static ACCESS_LOG: Block = Block::new(&[
    attribute("providers", "providers", PROVIDERS, "Who writes the logs. Default: the mesh's"),
    attribute("enabled", "disabled", Shape::Untruth, "Default: true"),
    attribute("mode", "match.mode", MODE, "For requests that are sent, received, or both. Default: both"),
    attribute(
        "filter",
        "filter.expression",
        Shape::Text(syntax::not_empty),
        "Which requests: a CEL expression such as response.code >= 400",
    ),
]);

fn tag_overrides(value: &Value, decode: &mut Decode<'_>, at: &At<'_>) -> Option<Value> {
    let Some(tags) = value.as_object() else { return decode.wrong_type("a map", value, at) };
    let mut overrides = Fields::new();
    for (tag, value) in tags {
        let rendered = match value {
            Value::Null => json!({"operation": "REMOVE"}),
            value => match decode.text(syntax::not_empty, value, &at.field(tag)) {
                Some(text) => json!({"operation": "UPSERT", "value": text}),
                None => continue,
            },
        };
        overrides.insert(tag.clone(), rendered);
    }
    Some(overrides.into())
}

fn tag_schema() -> Value {
    json!({"type": "object", "additionalProperties": {"type": ["string", "null"], "minLength": 1}})
}
