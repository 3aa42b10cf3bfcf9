//! VirtualService: where requests to a host go.

mod actions;
mod http;
mod l4;
mod matches;

use super::{
    decode::{Decode, has},
    shape::{Block, Fields, NOWHERE, PORT, Rule, Shape, UINT32, attribute, list, whole},
    syntax,
};
use crate::problem::{On, Problem};
use mizzen_text::{At, Code, Severity};
use serde_json::Value;

pub(super) static BLOCK: Block = Block::new(&[
    attribute("hosts", "hosts", list(&Shape::Text(syntax::not_empty)), "The hosts whose requests are routed; left out only with `delegate: true`"),
    attribute("delegate", NOWHERE, Shape::Truth, "The routes are for another VirtualService, which delegates to this one"),
    attribute("gateways", "gateways", list(&Shape::Gateway), "The Gateways whose requests are routed: names, keys of the application's own, or `mesh`. Default: mesh"),
    attribute("namespaces", "exportTo", list(&Shape::Text(syntax::not_empty)), "The namespaces that see it; `.` is its own. Default: all"),
    attribute("httpRoutes", "http", list(&Shape::Block(&http::ROUTE)), "The first route that matches counts"),
    attribute("tlsRoutes", "tls", list(&Shape::Block(&l4::TLS_ROUTE)), "For TLS that is not ended, by the name that the client asks for"),
    attribute("tcpRoutes", "tcp", list(&Shape::Block(&l4::TCP_ROUTE)), "For everything that is not HTTP"),
])
.rules(&[Rule::AtLeastOne(&["httpRoutes", "tlsRoutes", "tcpRoutes"])])
.finish(delegate);

fn delegate(written: &Fields, _: &mut Fields, decode: &mut Decode<'_>, at: &At<'_>) {
    let is_delegate = written.get("delegate").and_then(Value::as_bool).unwrap_or_default();
    if !is_delegate && !has(written, "hosts") {
        let problem = Problem::new(Code::AppMissing, at.field("hosts").path(), On::Key, "`hosts` is missing");
        decode.problems.push(problem.hint("only with `delegate: true` it can be left out"));
    }
    for name in ["hosts", "gateways", "tlsRoutes", "tcpRoutes"] {
        if is_delegate && has(written, name) {
            decode.together(&at.field(name), &format!("`{name}` cannot be given with `delegate: true`"));
        }
    }
}

/// Where requests of a route go.
pub(super) static DESTINATION: Block = Block::new(&[
    attribute("host", "destination.host", Shape::Text(syntax::not_empty), "The service").required(),
    attribute(
        "subset",
        "destination.subset",
        Shape::Text(syntax::label),
        "One of the subsets that a DestinationRule names",
    ),
    attribute("port", "destination.port.number", PORT, "The service's port, where it has several"),
    attribute("weight", "weight", whole(0, UINT32), "The share of the requests"),
    attribute("headers", "headers", Shape::Block(&actions::HEADERS), "Headers that are changed on this way"),
]);

/// The same for what is not HTTP.
static L4_DESTINATION: Block = Block::new(&[
    attribute("host", "destination.host", Shape::Text(syntax::not_empty), "The service").required(),
    attribute(
        "subset",
        "destination.subset",
        Shape::Text(syntax::label),
        "One of the subsets that a DestinationRule names",
    ),
    attribute("port", "destination.port.number", PORT, "The service's port, where it has several"),
    attribute("weight", "weight", whole(0, UINT32), "The share of the connections"),
]);

/// Weights are shares, whatever they come to; but most people mean percents.
fn weights(written: &Fields, _: &mut Fields, decode: &mut Decode<'_>, at: &At<'_>) {
    let Some(destinations) = written.get("destinations").and_then(Value::as_array) else { return };
    let weights: Vec<u64> =
        destinations.iter().filter_map(|destination| destination["weight"].as_u64()).collect();
    let sum: u64 = weights.iter().sum();
    if weights.len() > 1 && sum != 100 && sum != 0 {
        let message = format!("the weights come to {sum}, not to 100");
        decode.warn(&at.field("destinations"), On::Key, &message).severity = Severity::Info;
    }
}
