//! Fake nodes, in two zones.

use k8s_openapi::api::core::v1::Node;
use kube::{Api, api::PostParams};
use serde_json::json;
use std::ops::Range;

use super::Controllers;
use crate::{
    ApiServer, Part,
    error::{Error, Result},
    wait::{self, Seen},
};

/// The annotation by which kwok knows its nodes.
pub(super) const MARK: (&str, &str) = ("kwok.x-k8s.io/node", "fake");

pub(super) const COUNT: u8 = 2;

pub(super) async fn create(api: &ApiServer, numbers: Range<u8>) -> Result<()> {
    let nodes = Api::<Node>::all(api.client()?);
    for number in numbers {
        let name = format!("fake-{number}");
        let node = json!({
            "metadata": {
                "name": name,
                "annotations": { MARK.0: MARK.1 },
                "labels": {
                    "kubernetes.io/hostname": name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    "topology.kubernetes.io/region": "region",
                    "topology.kubernetes.io/zone": format!("zone-{}", number % COUNT),
                },
            },
            // Room for more pods than any test makes.
            "spec": { "podCIDR": format!("10.{}.0.0/16", 128 + number) },
        });
        let node = serde_json::from_value(node).map_err(Error::other)?;
        nodes.create(&PostParams::default(), &node).await?;
    }
    Ok(())
}

/// Waits until pods can be placed: kwok has reported the nodes, and the controllers believed it.
pub(super) async fn ready(api: &ApiServer, controllers: &Controllers) -> Result<()> {
    let nodes = Api::<Node>::all(api.client()?);
    let ended = || controllers.parts().into_iter().find(|part| part.ended().is_some());
    let outcome = wait::until("the fake nodes to be ready", wait::PATIENCE, async || {
        if let Some(part) = ended() {
            return Seen::Never(format!("{} ended", part.name()));
        }
        match nodes.list(&Default::default()).await {
            Ok(list) => {
                let waiting: Vec<_> =
                    list.items.iter().filter(|node| !usable(node)).map(|node| &node.metadata.name).collect();
                Seen::when(waiting.is_empty(), || format!("not ready: {waiting:?}"))
            }
            Err(error) => Seen::NotYet(error.to_string()),
        }
    });
    outcome
        .await
        .map_err(|error| ended().map_or_else(|| Error::other(&error), |part: &Part| part.error(&error)))
}

fn usable(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let tainted =
        node.spec.as_ref().and_then(|spec| spec.taints.as_ref()).is_some_and(|taints| !taints.is_empty());
    !tainted && conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}
