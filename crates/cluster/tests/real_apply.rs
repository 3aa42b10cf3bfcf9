//! Objects against the real API server: planned, applied, left alone, taken over, pruned.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use mizzen_cluster::{
    Action, Adoption, Cluster, Deletion, Desired, Inventory, NoInventory, NotPlanned, Owner, Pruned,
};
use mizzen_testkit::{ApiServer, Result, faults::Fault, needs, wait::PATIENCE};
use serde_json::{Value, json};
use std::time::Duration;

fn map(namespace: &str, name: &str, data: &Value) -> Desired {
    Desired::new(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": namespace }, "data": data,
    }))
    .unwrap()
}

async fn ours(server: &ApiServer) -> Cluster {
    Cluster::new(server.client().unwrap(), "mizzen").await.unwrap()
}

async fn live(cluster: &Cluster, desired: &Desired) -> Value {
    cluster.get(&desired.id, None).await.unwrap().unwrap()
}

async fn version(cluster: &Cluster, desired: &Desired) -> String {
    live(cluster, desired).await.pointer("/metadata/resourceVersion").unwrap().to_string()
}

async fn bring(cluster: &Cluster, desired: &Desired, from: &[&str]) -> Result<Action, NotPlanned> {
    let adoption =
        Adoption { from: from.iter().map(|name| (*name).to_owned()).collect(), ..Adoption::default() };
    cluster.bring(desired, &adoption, None, PATIENCE).await.map(|step| step.action)
}

#[tokio::test]
async fn an_object_is_created_changed_and_left_alone_when_it_is_as_it_should_be() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("apply").await?;
    let cluster = ours(server).await;
    let first = map(&namespace, "a", &json!({ "x": "1", "y": "1" }));
    let planned = cluster.plan(&first, &Adoption::default()).await.unwrap();
    assert_eq!(planned.step.action, Action::Create);
    assert!(cluster.get(&first.id, None).await.unwrap().is_none(), "a plan writes nothing");
    assert_eq!(bring(&cluster, &first, &[]).await.unwrap(), Action::Create);

    let before = version(&cluster, &first).await;
    let (_, writes) = cluster.requests();
    assert_eq!(bring(&cluster, &first, &[]).await.unwrap(), Action::Unchanged);
    assert_eq!(cluster.requests().1, writes, "nothing was written");
    assert_eq!(version(&cluster, &first).await, before);

    let second = map(&namespace, "a", &json!({ "x": "2" }));
    let step = cluster.bring(&second, &Adoption::default(), None, PATIENCE).await.unwrap();
    assert_eq!(
        step.to_string(),
        format!("~ ConfigMap {namespace}/a\n    data.x: \"1\" → \"2\"\n    data.y: - \"1\"")
    );
    assert_eq!(live(&cluster, &second).await["data"], json!({ "x": "2" }));
    Ok(())
}

#[tokio::test]
async fn somebody_elses_object_is_refused_until_it_is_taken_over_and_then_is_ours_alone() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("adopt").await?;
    let theirs = Cluster::new(server.client()?, "istio-operator").await.unwrap();
    bring(&theirs, &map(&namespace, "a", &json!({ "x": "1", "gone": "1" })), &[]).await.unwrap();
    let cluster = ours(server).await;
    let wanted = map(&namespace, "a", &json!({ "x": "2" }));
    let refused = bring(&cluster, &wanted, &[]).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("ConfigMap {namespace}/a is there already and belongs to istio-operator")
    );
    let adopted = bring(&cluster, &wanted, &["istio-operator"]).await.unwrap();
    let Action::Adopt { from, changes } = adopted else { panic!("{adopted:?}") };
    assert_eq!(from[0].name, "istio-operator");
    assert_eq!(changes.len(), 2, "what they had and nobody wants is shown, too: {changes:?}");
    let now = live(&cluster, &wanted).await;
    assert_eq!(now["data"], json!({ "x": "2" }));
    assert_eq!(now["metadata"]["managedFields"].as_array().unwrap().len(), 1, "{now}");
    assert_eq!(bring(&cluster, &wanted, &["istio-operator"]).await.unwrap(), Action::Unchanged);
    Ok(())
}

#[tokio::test]
async fn an_object_that_others_change_meanwhile_is_planned_again() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("meanwhile").await?;
    let cluster = ours(server).await;
    bring(&cluster, &map(&namespace, "a", &json!({ "x": "1" })), &[]).await.unwrap();
    let wanted = map(&namespace, "a", &json!({ "x": "2", "z": "1" }));
    let planned = cluster.plan(&wanted, &Adoption::default()).await.unwrap();
    let edit =
        ["-n", &namespace, "patch", "configmap", "a", "--type=merge", "-p", r#"{"data":{"z":"theirs"}}"#];
    server.kubectl(&edit).await?;
    let step = cluster.bring(&wanted, &Adoption::default(), Some(planned), PATIENCE).await.unwrap();
    assert_eq!(step.left.len(), 1, "{step}");
    assert_eq!(live(&cluster, &wanted).await["data"], json!({ "x": "2", "z": "theirs" }));
    Ok(())
}

#[tokio::test]
async fn an_object_on_its_way_out_is_waited_for_and_told_if_it_stays() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("going").await?;
    let cluster = ours(server).await;
    let mut held = map(&namespace, "a", &json!({}));
    held.value_mut()["metadata"]["finalizers"] = json!(["example.com/hold"]);
    bring(&cluster, &held, &[]).await.unwrap();
    assert_eq!(cluster.delete(&held.id, None).await.unwrap(), Deletion::Begun);
    let wanted = map(&namespace, "a", &json!({ "x": "new" }));
    let soon = Duration::from_millis(300);
    let refused = cluster.bring(&wanted, &Adoption::default(), None, soon).await.unwrap_err();
    assert!(refused.to_string().contains("and is held by example.com/hold"), "{refused}");
    let release = async {
        let patch = r#"{"metadata":{"finalizers":null}}"#;
        server.kubectl(&["-n", &namespace, "patch", "configmap", "a", "--type=merge", "-p", patch]).await
    };
    let (brought, released) = tokio::join!(bring(&cluster, &wanted, &[]), release);
    released?;
    assert_eq!(brought.unwrap(), Action::Create);
    assert_eq!(live(&cluster, &wanted).await["data"], json!({ "x": "new" }));
    Ok(())
}

#[tokio::test]
async fn an_object_that_is_only_a_name_is_not_taken_for_somebody_elses() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("named").await?;
    let cluster = ours(server).await;
    let metadata = json!({ "name": "a", "namespace": namespace });
    let named =
        Desired::new(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata })).unwrap();
    assert_eq!(bring(&cluster, &named, &[]).await.unwrap(), Action::Create);
    assert_eq!(bring(&cluster, &named, &[]).await.unwrap(), Action::Unchanged);
    // Who wants more of it than its name has to know that it is theirs.
    let more = map(&namespace, "a", &json!({ "x": "1" }));
    assert!(matches!(bring(&cluster, &more, &[]).await, Err(NotPlanned::Foreign { .. })));
    let known = Adoption { recorded: [more.id.clone()].into(), ..Adoption::default() };
    let step = cluster.bring(&more, &known, None, PATIENCE).await.unwrap();
    assert!(matches!(step.action, Action::Change { .. }), "{step}");
    // Somebody else's is not made ours by that.
    let theirs = map(&namespace, "theirs", &json!({ "x": "2" }));
    let other = Cluster::new(server.client()?, "somebody").await.unwrap();
    bring(&other, &map(&namespace, "theirs", &json!({ "x": "1" })), &[]).await.unwrap();
    let known = Adoption { recorded: [theirs.id.clone()].into(), ..Adoption::default() };
    assert!(matches!(cluster.bring(&theirs, &known, None, PATIENCE).await, Err(NotPlanned::Foreign { .. })));
    assert_eq!(cluster.prune(&named.id, &Adoption::default(), |_| Ok(())).await.unwrap(), Pruned::Deleted);
    Ok(())
}

#[tokio::test]
async fn only_what_is_ours_is_pruned() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("prune").await?;
    let cluster = ours(server).await;
    let (mine, kept) = (map(&namespace, "mine", &json!({})), map(&namespace, "kept", &json!({})));
    bring(&cluster, &mine, &[]).await.unwrap();
    bring(&cluster, &kept, &[]).await.unwrap();
    server.kubectl(&["-n", &namespace, "create", "configmap", "theirs", "--from-literal=a=b"]).await?;
    let theirs = map(&namespace, "theirs", &json!({}));
    let none = Adoption::default();
    let prune = async |desired: &Desired, may: Result<(), String>| {
        cluster.prune(&desired.id, &none, |_| may.clone()).await.unwrap()
    };
    assert_eq!(prune(&mine, Ok(())).await, Pruned::Deleted);
    assert_eq!(prune(&mine, Ok(())).await, Pruned::Absent);
    assert_eq!(prune(&kept, Err("no".into())).await, Pruned::Kept { why: "no".into() });
    assert!(matches!(prune(&theirs, Ok(())).await, Pruned::Kept { why } if why.contains("kubectl")));
    live(&cluster, &theirs).await;
    Ok(())
}

#[tokio::test]
async fn a_list_is_written_once_and_not_over_somebody_elses() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let owner = Owner { namespace: server.namespace("list").await?, name: "default".into() };
    let cluster = ours(server).await;
    let wanted = map("n", "a", &json!({})).id;
    let mut list = Inventory::beginning(None, [wanted.clone()], "1");
    cluster.record(&owner, &mut list).await.unwrap();
    let writes = cluster.requests().1;
    cluster.record(&owner, &mut list).await.unwrap();
    assert_eq!(cluster.requests().1, writes, "it says so already");
    let read = cluster.inventory(&owner).await.unwrap().unwrap();
    assert!(read.says_the_same_as(&list));
    let mut other = Inventory::beginning(Some(&read), [], "2");
    cluster.record(&owner, &mut other).await.unwrap();
    let mut late = Inventory::beginning(Some(&read), [], "3");
    let error = cluster.record(&owner, &mut late).await.unwrap_err();
    assert!(matches!(error, NoInventory::Overtaken { .. }), "{error}");
    cluster.forget(&owner).await.unwrap();
    assert!(cluster.inventory(&owner).await.unwrap().is_none());
    Ok(())
}

#[tokio::test]
async fn a_busy_server_is_asked_again_and_one_that_never_answered_once_more() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("busy").await?;
    let faults = server.faults().await?;
    // Of the very first question, too, an answer may be lost.
    let first = faults.inject(Fault::lose_answer().next(1));
    let cluster = Cluster::new(faults.client()?, "mizzen").await.unwrap();
    assert_eq!(first.hits(), 1);
    let busy = faults.inject(Fault::too_many_requests(0).rate(1, 3));
    let lost = faults.inject(Fault::lose_answer().rate(1, 4));
    for name in ["a", "b", "c", "d"] {
        let wanted = map(&namespace, name, &json!({ "x": "1" }));
        bring(&cluster, &wanted, &[]).await.unwrap();
        assert_eq!(bring(&cluster, &wanted, &[]).await.unwrap(), Action::Unchanged, "{name}");
    }
    assert!(busy.hits() > 0 && lost.hits() > 0);
    faults.clear();
    faults.stop().await?;
    let error = Cluster::new(faults.client()?, "mizzen").await.err().unwrap();
    assert!(error.to_string().contains("no answer"), "{error}");
    Ok(())
}

#[tokio::test]
async fn many_objects_are_looked_through_page_by_page_and_each_once() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("pages").await?;
    let cluster = ours(server).await;
    let item = |number: usize| {
        let labels = json!({ "pages": namespace });
        json!({ "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": format!("m{number}"), "namespace": namespace, "labels": labels } })
    };
    // More than two pages.
    let items: Vec<Value> = (0..520).map(item).collect();
    server.apply(&json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()).await?;
    let mut names = std::collections::BTreeSet::new();
    let (requests, _) = cluster.requests();
    let query = format!("labelSelector=pages%3D{namespace}");
    let mut count = 0;
    cluster
        .each("", "ConfigMap", &query, |map| {
            count += 1;
            names.insert(map["metadata"]["name"].to_string());
        })
        .await
        .unwrap();
    assert_eq!((names.len(), count), (520, 520));
    assert_eq!(cluster.requests().0 - requests, 3);
    cluster.each("nowhere.example", "Nothing", "", |_| panic!("there is none")).await.unwrap();
    Ok(())
}
