//! The operator for the `Istio` resource beside the real istiod: what pods have for a sidecar is what its webhook gave them, with the
//! configuration that the operator has installed.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{
    injected::{Injected, SHOP, WAYS, both_ways, proxy, resources},
    resource,
};
use mizzen_testkit::{Controllers, Part, Result, needs};
use serde_json::{Value, json};

const HOME: (&str, &str) = ("kyma-system", "default");

/// A resource that asks for upstream's charts, and for more.
async fn apply(world: &Injected, further: &str) -> Result<()> {
    let spec = format!("{{ mizzen: {{ distribution: istio }}, {further} }}");
    world.here().site.server.apply(&resource(HOME.0, HOME.1, &spec)).await.map(drop)
}

async fn ready(world: &Injected, operator: &Part) -> Result<Value> {
    world.kyma.says(operator, HOME, "Ready", "ReconcileSucceeded").await
}

async fn create(world: &Injected, objects: &[Value]) -> Result<()> {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
    world.here().site.server.apply(&list.to_string()).await.map(drop)
}

fn shop() -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": SHOP, "labels": { "istio-injection": "enabled" } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn k_cfg_1_changed_proxy_resources_reach_native_and_regular_sidecars() -> Result<()> {
    needs!(Controllers::NEEDS, Injected::NEEDS);
    let world = Injected::start().await?;
    let operator = world.operator();
    apply(&world, "").await?;
    ready(&world, &operator).await?;
    let istiod = world.istiod().await?;
    create(&world, &[shop()]).await?;
    create(&world, &both_ways()).await?;
    let production = resources(["10m", "192Mi"], ["1", "1Gi"]);
    for (name, _, list) in WAYS {
        let has = |pod: &Value| proxy(pod, list).is_some_and(|proxy| proxy["resources"] == production);
        world.until_pods(&istiod.part, name, "with the profile's resources", has).await?;
    }
    let wish = "{ requests: { cpu: 30m, memory: 100Mi }, limits: { cpu: 700m, memory: 700Mi } }";
    apply(&world, &format!("components: {{ proxy: {{ k8s: {{ resources: {wish} }} }} }}")).await?;
    ready(&world, &operator).await?;
    let wished = resources(["30m", "100Mi"], ["700m", "700Mi"]);
    for (name, _, list) in WAYS {
        let has = |pod: &Value| proxy(pod, list).is_some_and(|proxy| proxy["resources"] == wished);
        world.until_pods(&istiod.part, name, "with the resources that were asked for", has).await?;
    }
    Ok(())
}
