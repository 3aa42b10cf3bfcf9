//! ServiceEntry: a service that the mesh would not know otherwise.

use super::{
    decode::{Decode, has},
    shape::{Block, Fields, PORT, Rule, Shape, attribute, list},
    syntax, workload_entry,
};
use mizzen_text::At;
use serde_json::Value;

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "hosts",
        "hosts",
        Shape::List { of: &Shape::Text(syntax::not_empty), least: 1, most: 256 },
        "Its names",
    )
    .required(),
    attribute(
        "addresses",
        "addresses",
        Shape::List { of: &Shape::Text(syntax::not_empty), least: 0, most: 256 },
        "Its addresses, or ranges of them",
    ),
    attribute(
        "ports",
        "ports",
        Shape::List { of: &Shape::Block(&SERVICE_PORT), least: 0, most: 256 },
        "Its ports",
    ),
    attribute(
        "location",
        "location",
        Shape::WordTo(&[("EXTERNAL", "MESH_EXTERNAL"), ("INTERNAL", "MESH_INTERNAL")]),
        "Outside of the mesh or part of it. Default: EXTERNAL",
    ),
    attribute(
        "resolution",
        "resolution",
        Shape::Word(&["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN", "DYNAMIC_DNS"]),
        "How its addresses are found. Default: NONE",
    ),
    attribute(
        "endpoints",
        "endpoints",
        Shape::List { of: &Shape::Block(&workload_entry::BLOCK), least: 0, most: 4096 },
        "Where it runs",
    ),
    attribute(
        "workloadSelector",
        "workloadSelector.labels",
        Shape::Selector,
        "The pods and WorkloadEntries that are it, or `self`",
    ),
    attribute(
        "subjectAltNames",
        "subjectAltNames",
        list(&Shape::Text(syntax::not_empty)),
        "Names that its certificate may have",
    ),
    attribute(
        "namespaces",
        "exportTo",
        list(&Shape::Text(syntax::not_empty)),
        "The namespaces that see it; `.` is its own, `~` alone is none. Default: all",
    ),
])
.rules(&[Rule::AtMostOne(&["endpoints", "workloadSelector"])])
.finish(|written, _, decode, at| {
    let resolution = written.get("resolution").and_then(Value::as_str).unwrap_or("NONE");
    if has(written, "endpoints") && resolution.eq_ignore_ascii_case("NONE") {
        let message = "`endpoints` cannot be given with `resolution: NONE`, which is the default";
        decode.together(&at.field("endpoints"), message);
        if let Some(problem) = decode.problems.last_mut() {
            problem.hint = Some("say STATIC, or DNS where the endpoints are names".to_owned());
        }
    }
});

static SERVICE_PORT: Block = Block::new(&[
    attribute("number", "number", PORT, "The port").required(),
    attribute(
        "protocol",
        "protocol",
        Shape::Word(&[
            "HTTP", "HTTPS", "HTTP2", "GRPC", "GRPC-Web", "TCP", "TLS", "UDP", "Mongo", "Redis", "MySQL",
        ]),
        "What is spoken there. Default: found out",
    ),
    attribute(
        "name",
        "name",
        Shape::Text(syntax::label),
        "Default: the protocol and the number, such as http-80",
    ),
    attribute("targetPort", "targetPort", PORT, "The port of the endpoints, where it is another"),
])
.finish(named);

/// A port's name where nobody wrote one.
pub(super) fn named(_: &Fields, rendered: &mut Fields, _: &mut Decode<'_>, _: &At<'_>) {
    if let (false, Some(number)) = (rendered.contains_key("name"), rendered.get("number")) {
        let protocol = rendered.get("protocol").and_then(Value::as_str).unwrap_or("port").to_lowercase();
        let name = format!("{protocol}-{number}");
        rendered.insert("name".to_owned(), name.into());
    }
}
