//! One HTTP route: what it matches, and the one thing that is done.

use super::{
    super::{
        shape::{Block, Rule, Shape, attribute, list},
        syntax,
    },
    DESTINATION,
    actions::{CORS, DELEGATE, DIRECT_RESPONSE, FAULT, HEADERS, MIRROR, REDIRECT, RETRIES, REWRITE},
    matches::MATCH,
    weights,
};

pub(super) static ROUTE: Block = Block::new(&[
    attribute("name", "name", Shape::Text(syntax::any), "A name for logs"),
    attribute(
        "matches",
        "match",
        list(&Shape::Block(&MATCH)),
        "Which requests; one of several is enough. Default: all",
    ),
    attribute(
        "destinations",
        "route",
        Shape::List { of: &Shape::Block(&DESTINATION), least: 1, most: usize::MAX },
        "Where they go",
    ),
    attribute("redirect", "redirect", Shape::Block(&REDIRECT), "Where the client is sent instead"),
    attribute(
        "directResponse",
        "directResponse",
        Shape::Block(&DIRECT_RESPONSE),
        "An answer that needs no service",
    ),
    attribute("delegateTo", "delegate", Shape::Block(&DELEGATE), "A VirtualService with the routes"),
    attribute("rewrite", "rewrite", Shape::Block(&REWRITE), "What the service sees as path and host"),
    attribute("timeout", "timeout", Shape::Duration, "How long an answer may take. Default: no limit"),
    attribute("retries", "retries", Shape::Block(&RETRIES), "What is done when an attempt fails"),
    attribute("faultInjection", "fault", Shape::Block(&FAULT), "Failures on purpose, for tests"),
    attribute("mirrors", "mirrors", list(&Shape::Block(&MIRROR)), "Who gets a copy of the requests"),
    attribute("cors", "corsPolicy", Shape::Block(&CORS), "Which web pages of others may call"),
    attribute("headers", "headers", Shape::Block(&HEADERS), "Headers that are changed"),
])
.rules(&[
    Rule::ExactlyOne(&["destinations", "redirect", "directResponse", "delegateTo"]),
    Rule::AtMostOne(&["redirect", "faultInjection"]),
    Rule::AtMostOne(&["redirect", "rewrite"]),
])
.finish(weights);
