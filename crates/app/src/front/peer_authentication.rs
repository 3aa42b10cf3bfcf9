//! PeerAuthentication: whether pods take only connections that are encrypted by the mesh.

use super::{
    shape::{Block, Rule, Shape, attribute, map},
    syntax,
};

const MODE: Shape = Shape::Word(&["STRICT", "PERMISSIVE", "DISABLE"]);

pub(super) static BLOCK: Block = Block::new(&[
    attribute("mode", "mtls.mode", MODE, "Default: that of the namespace, or of the mesh"),
    attribute(
        "ports",
        "portLevelMtls",
        map(syntax::port, &Shape::Within("mode", &MODE)),
        "The mode of single ports of the pods",
    ),
    attribute(
        "workloadSelector",
        "selector.matchLabels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
])
.rules(&[Rule::Needs("ports", "workloadSelector")]);
