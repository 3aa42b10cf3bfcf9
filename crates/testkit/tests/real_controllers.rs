//! Controllers, scheduler and kwok: what becomes ready does, and what was asked to fail fails as it would on a
//! real node.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::Api;
use mizzen_testkit::{
    ApiServer, Controllers, Result,
    controllers::{CRASH_LOOP, IMAGE_PULL_ERROR, NEVER_READY, POD},
    needs,
    wait::{self, Seen},
};
use serde_json::{Value, json};

async fn api() -> Result<&'static ApiServer> {
    let api = ApiServer::shared().await;
    api.controllers().await?;
    Ok(api)
}

fn template(name: &str, fate: Option<&str>) -> Value {
    let mut labels = json!({ "app": name });
    if let Some(fate) = fate {
        labels[POD] = fate.into();
    }
    json!({
        "metadata": { "labels": labels },
        "spec": { "containers": [{ "name": "app", "image": "example/app:1" }] },
    })
}

fn workload(kind: &str, name: &str, template: &Value) -> Value {
    let mut spec = json!({ "selector": { "matchLabels": { "app": name } }, "template": template });
    match kind {
        "Deployment" => spec["replicas"] = 3.into(),
        "StatefulSet" => {
            spec["replicas"] = 3.into();
            spec["serviceName"] = name.into();
        }
        _ => {}
    }
    json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

fn job(name: &str, mut template: Value) -> Value {
    template["spec"]["restartPolicy"] = "Never".into();
    let spec = json!({ "backoffLimit": 0, "template": template });
    json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name }, "spec": spec })
}

async fn apply(api: &ApiServer, namespace: &str, object: &Value) -> Result<()> {
    let args = ["-n", namespace, "apply", "--server-side", "-f", "-"];
    api.kubectl_reading(&object.to_string(), &args).await.map(drop)
}

async fn rolled_out(api: &ApiServer, namespace: &str, workload: &str) -> Result<()> {
    api.kubectl(&["-n", namespace, "rollout", "status", workload, "--timeout=90s"]).await.map(drop)
}

/// The first pod of that app for which the condition holds.
async fn pod(api: &ApiServer, namespace: &str, app: &str, holds: impl Fn(&Pod) -> bool) -> Result<Pod> {
    let pods = Api::<Pod>::namespaced(api.client()?, namespace);
    let selector = kube::api::ListParams::default().labels(&format!("app={app}"));
    wait::until(&format!("a pod of {app}"), wait::PATIENCE, async || match pods.list(&selector).await {
        Ok(list) => {
            let seen = serde_json::to_string(&list.items.iter().map(|pod| &pod.status).collect::<Vec<_>>());
            Seen::from_option(list.items.into_iter().find(&holds), || seen.unwrap())
        }
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await
}

/// The same pod once a healthy one that came after it has become ready: there was time enough for both.
async fn later(api: &ApiServer, namespace: &str, pod: &Pod) -> Result<Pod> {
    apply(api, namespace, &workload("Deployment", "healthy", &template("healthy", None))).await?;
    rolled_out(api, namespace, "deployment/healthy").await?;
    let pods = Api::<Pod>::namespaced(api.client()?, namespace);
    Ok(pods.get(pod.metadata.name.as_deref().unwrap()).await?)
}

fn phase(pod: &Pod) -> Option<&str> {
    pod.status.as_ref()?.phase.as_deref()
}

/// Status and reason of the `Ready` condition.
fn ready(pod: &Pod) -> Option<(&str, Option<&str>)> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let ready = conditions.iter().find(|condition| condition.type_ == "Ready")?;
    Some((&ready.status, ready.reason.as_deref()))
}

fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

fn waiting_for(pod: &Pod) -> Option<&str> {
    container(pod)?.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
}

#[tokio::test]
async fn deployments_stateful_sets_and_daemon_sets_become_ready() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("ready").await?;
    for (kind, pods) in [("Deployment", 3), ("StatefulSet", 3), ("DaemonSet", 2)] {
        let name = kind.to_lowercase();
        apply(api, &namespace, &workload(kind, &name, &template(&name, None))).await?;
        rolled_out(api, &namespace, &format!("{kind}/{name}")).await?;
        let all = Api::<Pod>::namespaced(api.client()?, &namespace);
        let list = all.list(&kube::api::ListParams::default().labels(&format!("app={name}"))).await?;
        let up = list.items.iter().filter(|pod| ready(pod) == Some(("True", None))).count();
        assert_eq!(up, pods, "{kind}");
    }
    Ok(())
}

#[tokio::test]
async fn a_job_completes() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("job").await?;
    apply(api, &namespace, &job("work", template("work", None))).await?;
    api.kubectl(&["-n", &namespace, "wait", "--for=condition=Complete", "job/work", "--timeout=90s"]).await?;
    Ok(())
}

#[tokio::test]
async fn a_job_whose_pod_crashes_fails() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("job").await?;
    apply(api, &namespace, &job("work", template("work", Some(CRASH_LOOP)))).await?;
    api.kubectl(&["-n", &namespace, "wait", "--for=condition=Failed", "job/work", "--timeout=90s"]).await?;
    Ok(())
}

#[tokio::test]
async fn a_pod_that_never_becomes_ready_does_not() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("never").await?;
    apply(api, &namespace, &workload("Deployment", "stuck", &template("stuck", Some(NEVER_READY)))).await?;
    let running = pod(api, &namespace, "stuck", |pod| phase(pod) == Some("Running")).await?;
    assert!(running.spec.as_ref().unwrap().node_name.is_some(), "it was scheduled");

    let still = later(api, &namespace, &running).await?;
    assert_eq!(phase(&still), Some("Running"));
    assert_eq!(ready(&still), Some(("False", Some("ContainersNotReady"))));
    assert!(container(&still).unwrap().state.as_ref().unwrap().running.is_some());
    let ready = ["get", "deployment/stuck", "-o", "jsonpath={.status.readyReplicas}"];
    assert_eq!(api.kubectl(&[&["-n", &namespace], &ready[..]].concat()).await?, "");
    Ok(())
}

#[tokio::test]
async fn a_crash_loop_shows_its_reason_and_counts_restarts() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("crash").await?;
    apply(api, &namespace, &workload("Deployment", "crash", &template("crash", Some(CRASH_LOOP)))).await?;
    let again = |pod: &Pod| container(pod).is_some_and(|container| container.restart_count >= 2);
    let crashed = pod(api, &namespace, "crash", again).await?;
    let pod = later(api, &namespace, &crashed).await?;
    assert_eq!(phase(&pod), Some("Running"));
    assert_eq!(ready(&pod), Some(("False", Some("ContainersNotReady"))));
    assert_eq!(waiting_for(&pod), Some("CrashLoopBackOff"));
    let last = container(&pod).unwrap().last_state.as_ref().unwrap().terminated.as_ref().unwrap();
    assert_eq!((last.exit_code, last.reason.as_deref()), (1, Some("Error")));
    Ok(())
}

#[tokio::test]
async fn an_image_that_cannot_be_pulled_leaves_the_pod_pending() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("pull").await?;
    apply(api, &namespace, &workload("StatefulSet", "pull", &template("pull", Some(IMAGE_PULL_ERROR))))
        .await?;
    let pulling = pod(api, &namespace, "pull", |pod| waiting_for(pod).is_some()).await?;
    let pod = later(api, &namespace, &pulling).await?;
    assert_eq!(waiting_for(&pod), Some("ImagePullBackOff"));
    assert_eq!(phase(&pod), Some("Pending"));
    assert_eq!(ready(&pod), Some(("False", Some("ContainersNotReady"))));
    Ok(())
}

#[tokio::test]
async fn a_deleted_deployment_takes_its_pods_along() -> Result<()> {
    needs!(Controllers::NEEDS);
    let api = api().await?;
    let namespace = api.namespace("gone").await?;
    for (name, fate) in [("well", None), ("ill", Some(NEVER_READY))] {
        apply(api, &namespace, &workload("Deployment", name, &template(name, fate))).await?;
        pod(api, &namespace, name, |pod| phase(pod) == Some("Running")).await?;
    }
    api.kubectl(&["-n", &namespace, "delete", "deployment", "--all"]).await?;
    let pods = Api::<Pod>::namespaced(api.client()?, &namespace);
    wait::until("the pods to be gone", wait::PATIENCE, async || match pods.list(&Default::default()).await {
        Ok(list) => Seen::when(list.items.is_empty(), || format!("{} are left", list.items.len())),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await
}
