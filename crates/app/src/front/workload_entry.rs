//! WorkloadEntry: something that runs outside of the cluster, or one endpoint of a ServiceEntry.

use super::{
    shape::{Block, PORT, Rule, Shape, UINT32, attribute, whole},
    syntax,
};

pub(super) static BLOCK: Block = Block::new(&[
    attribute("address", "address", Shape::Text(syntax::not_empty), "An IP address, a name, or unix:///path"),
    attribute(
        "ports",
        "ports",
        Shape::Map { key: syntax::label, of: &PORT, most: 128 },
        "Port names and numbers",
    ),
    // These are the workload's; the object itself has only those that are made.
    attribute(
        "labels",
        "labels",
        Shape::Map { key: syntax::label_key, of: &Shape::Text(syntax::label_value), most: 256 },
        "Labels of the workload",
    ),
    attribute("network", "network", Shape::Text(syntax::not_empty), "The network that it is reached through"),
    attribute("locality", "locality", Shape::Text(syntax::not_empty), "Where it runs: region/zone/subzone"),
    attribute("serviceAccount", "serviceAccount", Shape::Text(account), "The account that it runs as"),
    attribute("weight", "weight", whole(0, UINT32), "The share of the requests"),
])
.rules(&[Rule::AtLeastOne(&["address", "network"])]);

fn account(text: &str) -> syntax::Verdict {
    syntax::not_empty(text)?;
    if text.len() > 253 { Err("must have at most 253 characters".to_owned()) } else { Ok(()) }
}
