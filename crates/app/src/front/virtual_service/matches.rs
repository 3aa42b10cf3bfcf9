//! Which HTTP requests a route is for.

use super::super::{
    conventions::LABELS,
    shape::{Block, PORT, Shape, attribute, list, map},
    syntax,
};

const HEADERS: Shape = map(syntax::not_empty, &Shape::MatchOrPresent);

pub(super) static MATCH: Block = Block::new(&[
    attribute("path", "uri", Shape::Match, "The path, with its query"),
    attribute(
        "ignorePathCase",
        "ignoreUriCase",
        Shape::Truth,
        "Whether upper and lower case are the same in an exact or prefix path. Default: false",
    ),
    attribute("method", "method", Shape::Match, "GET, POST, …"),
    attribute("scheme", "scheme", Shape::Match, "http or https"),
    attribute("authority", "authority", Shape::Match, "The host that the client asks for"),
    attribute("headers", "headers", HEADERS, "Headers by name; `{}` if it only has to be there"),
    attribute("withoutHeaders", "withoutHeaders", HEADERS, "Headers that must not match"),
    attribute(
        "queryParameters",
        "queryParams",
        map(syntax::not_empty, &Shape::Match),
        "Query parameters by name",
    ),
    attribute("port", "port", PORT, "The port that the client calls"),
    attribute("sourceLabels", "sourceLabels", LABELS, "Labels of the client's pod"),
    attribute(
        "sourceNamespace",
        "sourceNamespace",
        Shape::Text(syntax::label),
        "The namespace of the client's pod",
    ),
    attribute("gateways", "gateways", list(&Shape::Gateway), "Only requests of these Gateways"),
    attribute("name", "name", Shape::Text(syntax::any), "A name for logs"),
    attribute(
        "statPrefix",
        "statPrefix",
        Shape::Text(syntax::any),
        "A prefix for the statistics of these requests",
    ),
]);
