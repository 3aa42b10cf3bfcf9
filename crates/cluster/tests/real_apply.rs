//! Objects against the real API server: planned, applied, left alone, taken over, pruned.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use mizzen_cluster::{Action, Adoption, Cluster, Desired, Inventory, NotPlanned, Owner, Pruned};
use mizzen_testkit::{
    ApiServer, Result,
    faults::{Fault, Verb},
    needs,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn map(namespace: &str, name: &str, data: Value) -> Desired {
    Desired::new(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": namespace }, "data": data,
    }))
    .unwrap()
}

async fn version(cluster: &Cluster, desired: &Desired) -> String {
    let live = cluster.get(&desired.id, None).await.unwrap().unwrap();
    live.pointer("/metadata/resourceVersion").unwrap().to_string()
}

#[tokio::test]
async fn an_object_is_created_changed_and_left_alone_when_it_is_as_it_should_be() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("apply").await?;
    let cluster = Cluster::new(server.client()?, "mizzen").await.unwrap();
    let none = Adoption::default();
    let first = map(&namespace, "a", json!({ "x": "1", "y": "1" }));
    assert_eq!(cluster.plan(&first, &none).await.unwrap().step.action, Action::Create);
    assert!(cluster.get(&first.id, None).await.unwrap().is_none(), "a plan writes nothing");
    assert_eq!(cluster.bring(&first, &none, None).await.unwrap().action, Action::Create);

    let before = version(&cluster, &first).await;
    let (_, writes) = cluster.requests();
    assert_eq!(cluster.bring(&first, &none, None).await.unwrap().action, Action::Unchanged);
    assert_eq!(cluster.requests().1, writes, "nothing was written");
    assert_eq!(version(&cluster, &first).await, before);

    let second = map(&namespace, "a", json!({ "x": "2" }));
    let step = cluster.bring(&second, &none, None).await.unwrap();
    assert_eq!(
        step.to_string(),
        format!("~ ConfigMap {namespace}/a\n    data.x: \"1\" → \"2\"\n    data.y: - \"1\"")
    );
    assert_eq!(cluster.get(&second.id, None).await.unwrap().unwrap()["data"], json!({ "x": "2" }));
    Ok(())
}
