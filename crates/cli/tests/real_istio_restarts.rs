//! Workloads with sidecars, as the operator for the `Istio` resource restarts them in a real cluster. Nobody injects there: pods say
//! themselves which sidecar they have, so that one that was restarted is still what it was.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, condition, resource};
use mizzen_testkit::{
    Controllers, Part, Result, controllers, needs,
    wait::{PATIENCE, Seen},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HOME: (&str, &str) = ("kyma-system", "default");
const OLD: &str = "registry.example/proxyv2:old";

/// Pods of a workload, with a sidecar of this image.
fn template(name: &str, image: &str, further: &Value) -> Value {
    let mut labels = json!({ "app": name });
    labels.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let resources =
        json!({ "requests": { "cpu": "10m", "memory": "192Mi" }, "limits": { "cpu": "1", "memory": "1Gi" } });
    json!({
        "metadata": { "labels": labels, "annotations": { "sidecar.istio.io/status": "{}" } },
        "spec": {
            "initContainers": [{ "name": "istio-init", "image": image }],
            "containers": [{ "name": "app", "image": "app" }, { "name": "istio-proxy", "image": image, "resources": resources }],
        },
    })
}

fn workload(kind: &str, name: &str, image: &str, further: &Value) -> Value {
    let mut spec =
        json!({ "selector": { "matchLabels": { "app": name } }, "template": template(name, image, further) });
    if kind != "DaemonSet" {
        spec["replicas"] = 2.into();
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = name.into();
    }
    json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name, "namespace": "shop" }, "spec": spec })
}

fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

const KINDS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

struct Shop<'k>(&'k Kyma);

impl Shop<'_> {
    async fn workloads(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for kind in KINDS {
            all.extend(self.0.here.cluster.list_in("apps", kind, "shop", "").await.unwrap());
        }
        all
    }

    /// What was restarted, and when and for what.
    async fn restarted(&self) -> BTreeMap<String, String> {
        let restarted = |workload: Value| {
            let annotations = workload.pointer("/spec/template/metadata/annotations")?.clone();
            let at = annotations.get("istio-operator.kyma-project.io/restartedAt")?.as_str()?.to_owned();
            let cause = annotations["mizzen.io/restarted-for"].as_str()?.to_owned();
            Some((workload["metadata"]["name"].as_str()?.to_owned(), format!("{at} {cause}")))
        };
        self.workloads().await.into_iter().filter_map(restarted).collect()
    }

    /// All pods are there, and none of an older template; `failing` never is.
    async fn settled(&self, operator: &Part) -> Result<()> {
        let probe = async || {
            let is_settled = |workload: &&Value| {
                let status = &workload["status"];
                let (wanted, updated) = match workload["kind"].as_str().unwrap() {
                    "DaemonSet" => (&status["desiredNumberScheduled"], &status["updatedNumberScheduled"]),
                    _ => (&workload["spec"]["replicas"], &status["updatedReplicas"]),
                };
                let ready = status.get("readyReplicas").or_else(|| status.get("numberReady"));
                status["observedGeneration"] == workload["metadata"]["generation"]
                    && wanted == updated
                    && ready == Some(wanted)
                    && status.get("replicas").is_none_or(|all| all == wanted)
            };
            let all = self.workloads().await;
            let open: Vec<&Value> = all
                .iter()
                .filter(|one| one["metadata"]["name"] != "failing")
                .filter(|one| !is_settled(one))
                .collect();
            Seen::when(open.is_empty(), || {
                open.iter().map(|one| one["metadata"]["name"].to_string()).collect()
            })
        };
        operator.until("all workloads to be rolled out", PATIENCE, probe).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_rst_4_5_and_7_to_13_what_must_be_restarted_is_and_once() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site, shop) = (&kyma.here, &kyma.here.site, Shop(&kyma));
    let (operator, _) = kyma.operator(&[]);
    let apply = async |spec: &str| site.server.apply(&resource(HOME.0, HOME.1, spec)).await;
    apply("{ compatibilityMode: false }").await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let gateway = here.get(operated::DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
    let right = operated::image(&gateway).as_str().unwrap().to_owned();

    // K-RST-4, 9, 10, 11: those with an old proxy, and those in trouble.
    here.kubectl("create namespace shop").await?;
    let none = json!({});
    let mut all: Vec<Value> =
        (0..31).map(|number| workload("Deployment", &format!("old-{number:02}"), OLD, &none)).collect();
    all.extend((0..10).map(|number| workload("Deployment", &format!("new-{number}"), &right, &none)));
    all.push(workload("Deployment", "failing", OLD, &json!({ controllers::POD: controllers::NEVER_READY })));
    all.push(workload("StatefulSet", "set", OLD, &none));
    all.push(workload("DaemonSet", "agents", OLD, &none));
    site.server.apply(&list(&all)).await?;
    shop.settled(&operator).await?;
    // While nobody injects, nothing is restarted: it would come back without a sidecar.
    apply("{ config: { gatewayExternalTrafficPolicy: Local } }").await?;
    let status = kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
    assert_eq!(condition(&status, "ProxySidecarRestartSucceeded")["reason"], "NobodyInjects");
    assert_eq!(status["outdatedProxies"]["count"], 33, "{status}");
    assert!(shop.restarted().await.is_empty());
    // The control plane would write its certificate.
    let bundle = r#"[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Q0E="}]"#;
    let webhook =
        ["patch", "mutatingwebhookconfiguration", "istio-revision-tag-default", "--type=json", "-p", bundle];
    site.server.kubectl(&webhook).await?;
    apply("{ config: { numTrustedProxies: 1 } }").await?;
    let status = kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let first = shop.restarted().await;
    let mut expected: Vec<String> = (0..31).map(|number| format!("old-{number:02}")).collect();
    expected.extend(["agents".to_owned(), "set".to_owned()]);
    expected.sort();
    assert_eq!(first.keys().cloned().collect::<Vec<_>>(), expected);
    assert_eq!(status["outdatedProxies"]["count"], 33, "{status}");
    assert_eq!(status["outdatedProxies"]["workloads"].as_array().unwrap().len(), 20);
    assert_eq!(condition(&status, "ProxySidecarRestartSucceeded")["status"], "True");

    // K-RST-8: another look restarts nothing. Here nobody injects: what is still old though it was restarted is told.
    shop.settled(&operator).await?;
    apply("{ config: { numTrustedProxies: 2 } }").await?;
    let status = kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
    assert_eq!(shop.restarted().await, first);
    let told = condition(&status, "ProxySidecarRestartSucceeded");
    assert_eq!(told["reason"], "ProxySidecarManualRestartRequired");
    let sentence = told["message"].as_str().unwrap();
    assert!(
        sentence.starts_with("The sidecars of the following workloads could not be restarted: shop/"),
        "{sentence}"
    );
    assert!(sentence.ends_with(" and 28 additional workload(s)"), "{sentence}");

    // K-RST-12, K-RST-13: a bare pod and a running Job are nobody's but their owner's.
    let old: Vec<String> = expected
        .iter()
        .filter(|name| name.starts_with("old"))
        .map(|name| format!("deployment/{name}"))
        .collect();
    here.kubectl(&format!(
        "delete -n shop --wait=false statefulset/set daemonset/agents deployment/failing {}",
        old.join(" ")
    ))
    .await?;
    let mut bare = template("bare", OLD, &none);
    bare["apiVersion"] = "v1".into();
    bare["kind"] = "Pod".into();
    bare["metadata"]["name"] = "bare".into();
    bare["metadata"]["namespace"] = "shop".into();
    let mut pods = template("job", OLD, &json!({ controllers::POD: controllers::NEVER_READY }));
    pods["spec"]["restartPolicy"] = "Never".into();
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "job", "namespace": "shop" }, "spec": { "template": pods } });
    site.server.apply(&list(&[bare, job])).await?;
    // A job that runs for long, which the fake node does not know.
    let running = async || {
        let pods = here.cluster.list_in("", "Pod", "shop", "app=job").await.unwrap();
        let pod = pods.first().filter(|pod| pod["status"]["phase"] == "Running");
        Seen::from_option(pod.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()), || {
            format!("{pods:?}")
        })
    };
    let name: String = operator.until("the job's pod", PATIENCE, running).await?;
    let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    site.server.kubectl(&["patch", "pod", &name, "-n", "shop", "--subresource=status", "-p", ready]).await?;
    here.kubectl("wait pod/bare -n shop --for=condition=Ready --timeout=60s").await?;
    let gone = async || {
        let left = shop.workloads().await.len();
        Seen::when(left == 10, || left.to_string())
    };
    operator.until("the old ones to be gone", PATIENCE, gone).await?;
    let pods = async || {
        let all = here.cluster.list_in("", "Pod", "shop", "app in (bare,job)").await.unwrap();
        all.iter().map(|pod| pod["metadata"]["uid"].to_string()).collect::<Vec<_>>()
    };
    let before = pods().await;
    apply("{ config: { numTrustedProxies: 3 } }").await?;
    let status = kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
    let sentence = condition(&status, "ProxySidecarRestartSucceeded")["message"].clone();
    assert_eq!(
        sentence,
        "The sidecars of the following workloads could not be restarted: shop/job, shop/bare"
    );
    assert!(
        status["description"]
            .as_str()
            .unwrap()
            .starts_with("Some Pods with Istio sidecar injection failed to restart.")
    );
    assert_eq!(pods().await, before);
    here.kubectl("delete job/job pod/bare -n shop --wait=true --force").await?;

    // K-RST-5: what a proxy reads only at its start; all of them at once, or some at a time.
    apply("{ config: { numTrustedProxies: 3, enableDNSProxying: true } }").await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let of =
        async |words: &str| shop.restarted().await.values().filter(|value| value.contains(words)).count();
    assert_eq!(of(r#""dns":true"#).await, 10);
    shop.settled(&operator).await?;
    apply("{ config: { numTrustedProxies: 3, enableDNSProxying: true, telemetry: { metrics: { prometheusMerge: true } } }, mizzen: { restart: { batchSize: 3 } } }").await?;
    let status = kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    assert_eq!(of(r#""merge":true"#).await, 3, "K-RST-7, in batches");
    assert_eq!(status["outdatedProxies"]["count"], 10);

    // Of K-UNI-1 what needs no injector: with the mesh go the sidecars.
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    let removed = of("Istio was removed with ").await;
    assert!(removed >= 7, "all but those that were being rolled out, not {removed}");
    Ok(())
}
