//! Edits taken back, and leases, against the real API server.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use mizzen_cluster::{Action, Adoption, Cluster, Desired, Lease, Reclaim, Term};
use mizzen_testkit::{ApiServer, Result, needs, wait::PATIENCE};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;

#[tokio::test]
async fn an_edit_is_left_to_its_editor_or_taken_back_as_the_caller_says() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("reclaim").await?;
    let cluster = Cluster::new(server.client()?, "mizzen").await.unwrap();
    let wanted = Desired::new(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": namespace },
        "data": { "x": "1", "y": "1" },
    }))
    .unwrap();
    cluster.bring(&wanted, &Adoption::default(), None, PATIENCE).await.unwrap();
    let edit = r#"{"data":{"x":"2","mine":"3"}}"#;
    server.kubectl(&["-n", &namespace, "patch", "configmap", "a", "--type=merge", "-p", edit]).await?;

    let step = cluster.bring(&wanted, &Adoption::default(), None, PATIENCE).await.unwrap();
    assert_eq!((step.action, step.left.len()), (Action::Unchanged, 1));

    let repair = Adoption { reclaim: Reclaim::Edited { scaled: [].into() }, ..Adoption::default() };
    let step = cluster.bring(&wanted, &repair, None, PATIENCE).await.unwrap();
    assert_eq!(step.to_string(), format!("~ ConfigMap {namespace}/a\n    data.x: \"2\" → \"1\""));
    let live = cluster.get(&wanted.id, None).await.unwrap().unwrap();
    assert_eq!(live["data"], json!({ "x": "1", "y": "1", "mine": "3" }), "what others add is theirs");
    assert_eq!(cluster.bring(&wanted, &repair, None, PATIENCE).await.unwrap().action, Action::Unchanged);
    Ok(())
}

#[tokio::test]
async fn a_lease_goes_from_hand_to_hand_and_never_to_two() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let server = ApiServer::shared().await;
    let namespace = server.namespace("lease").await?;
    let cluster = Arc::new(Cluster::new(server.client()?, "mizzen").await.unwrap());
    let term = Term::of_deadline(Duration::from_secs(2));
    let lease = |holder: &str| Lease::new(Arc::clone(&cluster), &namespace, "lock", holder, term);
    let (one, two) = (lease("one"), lease("two"));
    one.acquire().await;
    tokio::select! {
        () = two.acquire() => panic!("both have it"),
        () = one.keep() => panic!("the holder lost what nobody took"),
        () = sleep(term.duration * 2) => {}
    }
    // A holder that is killed gives nothing back: it runs out.
    two.acquire().await;
    one.keep().await;
    two.release().await;
    one.acquire().await;
    Ok(())
}
