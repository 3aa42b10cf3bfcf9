//! ProxyConfig: how a sidecar itself runs. It takes effect when pods are started anew.

use super::{
    shape::{Block, INT32, Shape, attribute, map, whole},
    syntax,
};
use crate::problem::On;

/// The types that Istio publishes.
const IMAGES: [&str; 3] = ["debug", "default", "distroless"];

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "workloadSelector",
        "selector.matchLabels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
    attribute(
        "concurrency",
        "concurrency",
        whole(0, INT32),
        "Worker threads; 0 is one for each core. Default: by the CPU limit",
    ),
    attribute(
        "environmentVariables",
        "environmentVariables",
        map(syntax::variable, &Shape::Text(variable)),
        "Environment variables of the proxy",
    ),
    attribute("imageType", "image.imageType", Shape::Text(syntax::not_empty), "default, debug or distroless"),
])
.finish(|_, rendered, decode, at| {
    let image = rendered.get("image").and_then(|image| image["imageType"].as_str());
    if image.is_some_and(|image| !IMAGES.contains(&image)) {
        decode.warn(
            &at.field("imageType"),
            On::Value,
            "is none that Istio publishes: debug, default, distroless",
        );
    }
});

fn variable(text: &str) -> syntax::Verdict {
    if text.chars().count() > 2048 { Err("must have at most 2048 characters".to_owned()) } else { Ok(()) }
}
