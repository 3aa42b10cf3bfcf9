//! Routes of connections: by the name that a TLS client asks for, or by nothing but addresses.

use super::{
    super::{
        conventions::LABELS,
        shape::{Block, PORT, Shape, attribute, list},
        syntax,
    },
    L4_DESTINATION, weights,
};

const DESTINATIONS: Shape = Shape::List { of: &Shape::Block(&L4_DESTINATION), least: 1, most: usize::MAX };
const TEXTS: Shape = list(&Shape::Text(syntax::not_empty));

pub(super) static TLS_ROUTE: Block = Block::new(&[
    attribute(
        "matches",
        "match",
        Shape::List { of: &Shape::Block(&TLS_MATCH), least: 1, most: usize::MAX },
        "Which connections; one of several is enough",
    )
    .required(),
    attribute("destinations", "route", DESTINATIONS, "Where they go").required(),
])
.finish(weights);

static TLS_MATCH: Block = Block::new(&[
    attribute(
        "sniHosts",
        "sniHosts",
        Shape::List { of: &Shape::Text(syntax::not_empty), least: 1, most: usize::MAX },
        "Names that the client asks for; each is one of `hosts`",
    )
    .required(),
    attribute("port", "port", PORT, "The port that the client calls"),
    attribute("destinationSubnets", "destinationSubnets", TEXTS, "The addresses that the client calls"),
    attribute("sourceLabels", "sourceLabels", LABELS, "Labels of the client's pod"),
    attribute(
        "sourceNamespace",
        "sourceNamespace",
        Shape::Text(syntax::label),
        "The namespace of the client's pod",
    ),
    attribute("gateways", "gateways", list(&Shape::Gateway), "Only connections of these Gateways"),
]);

pub(super) static TCP_ROUTE: Block = Block::new(&[
    attribute(
        "matches",
        "match",
        list(&Shape::Block(&TCP_MATCH)),
        "Which connections; one of several is enough. Default: all",
    ),
    attribute("destinations", "route", DESTINATIONS, "Where they go").required(),
])
.finish(weights);

static TCP_MATCH: Block = Block::new(&[
    attribute("port", "port", PORT, "The port that the client calls"),
    attribute("destinationSubnets", "destinationSubnets", TEXTS, "The addresses that the client calls"),
    attribute("sourceLabels", "sourceLabels", LABELS, "Labels of the client's pod"),
    attribute(
        "sourceNamespace",
        "sourceNamespace",
        Shape::Text(syntax::label),
        "The namespace of the client's pod",
    ),
    attribute("gateways", "gateways", list(&Shape::Gateway), "Only connections of these Gateways"),
]);
