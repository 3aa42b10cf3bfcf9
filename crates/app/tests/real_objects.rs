//! What is made is what Istio and Kubernetes take: every attribute's good block, before Istio's own webhook and CRD
//! rules, and on a real API server.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]
#![allow(clippy::print_stdout, reason = "the counts of what was asked are what this test is for")]

mod common;

use common::{app, rows, told};
use mizzen_api::crd::Crd;
use mizzen_testkit::{ApiServer, Oracle, Result, needs};
use serde_json::{Value, json};

/// An application of every attribute of every kind.
fn everything() -> Vec<Value> {
    let built = rows::together().0.build();
    assert!(built.accepted(), "{}", told(&built));
    built.spec.resources.into_iter().map(|resource| resource.attributes).collect()
}

#[test]
fn istio_s_webhook_takes_every_attribute() {
    needs!(Oracle::NEEDS);
    let objects = everything();
    let verdicts = Oracle::shared().verdicts(&objects).unwrap();
    let mut wrong = Vec::new();
    for (object, verdict) in objects.iter().zip(&verdicts) {
        let crd = verdict.crd.as_ref().unwrap();
        if !verdict.accepted || !crd.accepted || !crd.unknown.is_empty() {
            wrong.push(format!("{object}: {verdict:?}"));
        }
    }
    println!("{} objects asked about", objects.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_takes_every_attribute_and_the_workload() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let list = |items: Vec<Value>| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    server.apply(&list(Crd::all().map(Crd::object).collect())).await?;
    server.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=90s"]).await?;
    let workload = "\
name: shop
workload:
  image: shop:1
  command: [shop]
  args: [--fast]
  replicas: 2
  ports: [{ port: 80, targetPort: 8080 }, { port: 53, protocol: UDP }]
  env: { LOG: debug }
  labels: { version: v1 }
  serviceAccount: shop
";
    let mut objects = app(workload).objects();
    objects.extend(everything());
    // One row is about living elsewhere.
    server.kubectl(&["create", "namespace", "other"]).await?;
    // In the order of the Spec: the namespace is the first.
    let said = server
        .kubectl_reading(&list(objects.clone()), &["apply", "--server-side", "--validate=strict", "-f", "-"])
        .await?;
    assert_eq!(said.lines().count(), objects.len(), "{said}");
    println!("{} objects applied", objects.len());
    // What the server has, it was given: nothing was dropped.
    let held = server
        .kubectl(&["get", "destinationrules,virtualservices,telemetries", "-n", "shop", "-o", "json"])
        .await?;
    let held: Value = serde_json::from_str(&held).unwrap();
    for item in held["items"].as_array().unwrap() {
        let same = |object: &&Value| {
            object["kind"] == item["kind"] && object["metadata"]["name"] == item["metadata"]["name"]
        };
        let given = objects.iter().find(same).unwrap();
        assert_eq!(given["spec"], item["spec"], "{}", item["metadata"]["name"]);
    }
    Ok(())
}
