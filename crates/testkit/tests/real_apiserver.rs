//! The real API server: who may do what, what survives a restart, and what is admitted without controllers.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::net::TcpListener;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{Api, api::PostParams};
use mizzen_testkit::{ApiServer, Result, control_plane::Ports, needs, wait};
use serde_json::{Value, json};

fn object<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

fn config_map(name: &str) -> ConfigMap {
    object(json!({ "metadata": { "name": name }, "data": { "key": "value" } }))
}

fn pod(name: &str) -> Pod {
    object(json!({
        "metadata": { "name": name },
        "spec": { "containers": [{ "name": "app", "image": "example/app:1" }] },
    }))
}

fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

#[tokio::test]
async fn a_pod_is_admitted_in_a_fresh_namespace() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let namespace = api.namespace("admitted").await?;
    let pods = Api::<Pod>::namespaced(api.client()?, &namespace);
    let made = pods.create(&PostParams::default(), &pod("app")).await?;
    // What ServiceAccount admission adds, so it is on.
    assert_eq!(made.spec.unwrap().service_account_name.as_deref(), Some("default"));
    Ok(())
}

#[tokio::test]
async fn a_pod_without_a_service_account_is_refused() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let namespace = api.namespace("refused").await?;
    api.kubectl(&["-n", &namespace, "delete", "serviceaccount", "default"]).await?;
    let pods = Api::<Pod>::namespaced(api.client()?, &namespace);
    let refused = pods.create(&PostParams::default(), &pod("app")).await.unwrap_err();
    assert_eq!(code(&refused), Some(403), "{refused}");
    Ok(())
}

#[tokio::test]
async fn two_namespaces_with_one_hint_are_two() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    assert_ne!(api.namespace("same").await?, api.namespace("same").await?);
    Ok(())
}

#[tokio::test]
async fn a_user_has_the_rights_that_were_granted_and_no_others() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let namespace = api.namespace("rights").await?;
    let maps = Api::<ConfigMap>::namespaced(api.client_as("jane", &["readers"])?, &namespace);
    let refused = maps.list(&Default::default()).await.unwrap_err();
    assert_eq!(code(&refused), Some(403), "{refused}");

    let role = ["create", "role", "reader", "--verb=get,list", "--resource=configmaps"];
    api.kubectl(&[&["-n", &namespace], &role[..]].concat()).await?;
    let binding = ["create", "rolebinding", "readers", "--role=reader", "--group=readers"];
    api.kubectl(&[&["-n", &namespace], &binding[..]].concat()).await?;
    wait::until("the grant to be known", wait::PATIENCE, async || {
        wait::Seen::from_result(maps.list(&Default::default()).await)
    })
    .await?;
    let refused = maps.create(&PostParams::default(), &config_map("mine")).await.unwrap_err();
    assert_eq!(code(&refused), Some(403), "{refused}");
    Ok(())
}

#[tokio::test]
async fn a_service_account_token_is_accepted() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let namespace = api.namespace("token").await?;
    let token = api.kubectl(&["-n", &namespace, "create", "token", "default"]).await?;
    let review = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": { "token": token.trim() },
    });
    let answer = api.kubectl_reading(&review.to_string(), &["create", "-f", "-", "-o", "json"]).await?;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["status"]["user"]["username"], format!("system:serviceaccount:{namespace}:default"));
    Ok(())
}

#[tokio::test]
async fn objects_survive_a_stop_and_a_restart() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::start().await?;
    let namespace = api.namespace("kept").await?;
    let maps = Api::<ConfigMap>::namespaced(api.client()?, &namespace);
    maps.create(&PostParams::default(), &config_map("kept")).await?;
    let url = api.url();

    api.stop();
    maps.get("kept").await.unwrap_err();

    api.restart().await?;
    assert_eq!(api.url(), url);
    // The client of before goes on, as a controller's would.
    assert_eq!(maps.get("kept").await?.data, config_map("kept").data);
    Ok(())
}

#[tokio::test]
async fn a_taken_port_is_tried_once_more_elsewhere() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut asked = 0;
    let api = ApiServer::start_on(|| {
        asked += 1;
        let free = Ports::free()?;
        Ok(if asked == 1 { Ports { apiserver: port, ..free } } else { free })
    })
    .await?;
    assert!(!api.url().ends_with(&format!(":{port}")));
    api.namespace("elsewhere").await?;
    assert_eq!(asked, 2);
    Ok(())
}

#[tokio::test]
async fn kubectl_says_what_is_wrong() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let api = ApiServer::shared().await;
    let error = api.kubectl(&["get", "sails"]).await.unwrap_err().to_string();
    assert!(error.contains("sails"), "{error}");
    Ok(())
}
