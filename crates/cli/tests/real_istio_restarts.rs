//! Workloads with sidecars, as the operator for the `Istio` resource restarts them in a real cluster. Nobody injects there: pods say
//! themselves which sidecar they have, so that one that was restarted is still what it was.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{
    Kyma, condition, resource,
    workloads::{list, pod, template, workload},
};
use mizzen_testkit::{
    Controllers, Part, Result, controllers, needs,
    wait::{PATIENCE, Seen},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HOME: (&str, &str) = ("kyma-system", "default");
const OLD: &str = "registry.example/proxyv2:old";
const SIDECARS: &str = "ProxySidecarRestartSucceeded";

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
    assert_eq!(condition(&status, SIDECARS)["reason"], "NobodyInjects");
    assert_eq!(status["outdatedProxies"]["count"], 33, "{status}");
    assert!(shop.restarted().await.is_empty());
    // As soon as somebody does, they are.
    kyma.here.until_scaled().await?;
    kyma.here.injection_is_served().await?;
    let status = kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let first = shop.restarted().await;
    let mut expected: Vec<String> = (0..31).map(|number| format!("old-{number:02}")).collect();
    expected.extend(["agents".to_owned(), "set".to_owned()]);
    expected.sort();
    assert_eq!(first.keys().cloned().collect::<Vec<_>>(), expected);
    assert_eq!(status["outdatedProxies"]["count"], 33, "{status}");
    assert_eq!(status["outdatedProxies"]["workloads"].as_array().unwrap().len(), 20);
    assert_eq!(condition(&status, SIDECARS)["status"], "True");

    // K-RST-8: another look restarts nothing. Here nobody injects: what is still old though it was restarted is told.
    shop.settled(&operator).await?;
    apply("{ config: { numTrustedProxies: 2 } }").await?;
    let status = kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
    assert_eq!(shop.restarted().await, first);
    let told = condition(&status, SIDECARS);
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
        "delete -n shop --cascade=foreground statefulset/set daemonset/agents deployment/failing {}",
        old.join(" ")
    ))
    .await?;
    let mut pods = template("job", OLD, &json!({ controllers::POD: controllers::NEVER_READY }));
    pods["spec"]["restartPolicy"] = "Never".into();
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "job", "namespace": "shop" }, "spec": { "template": pods } });
    site.server.apply(&list(&[pod("bare", OLD), job])).await?;
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
    let sentence = condition(&status, SIDECARS)["message"].clone();
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
    here.kubectl("delete job/job pod/bare -n shop --cascade=foreground --force").await?;

    // K-RST-5: what a proxy reads only at its start; all of them at once, or some at a time.
    apply("{ config: { numTrustedProxies: 3, enableDNSProxying: true } }").await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let of =
        async |words: &str| shop.restarted().await.values().filter(|value| value.contains(words)).count();
    assert_eq!(of(r#""readSince":"2"#).await, 10, "each says since when what it reads is so");
    shop.settled(&operator).await?;
    // Not before everything else is done: what is written to the mesh brings another look, which would restart the next ones.
    let merged = "config: { numTrustedProxies: 3, enableDNSProxying: true, telemetry: { metrics: { prometheusMerge: true } } }";
    apply(&format!("{{ {merged}, mizzen: {{ restart: {{ enabled: false }} }} }}")).await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    kyma.look(&operator).await?;
    assert_eq!(of(r#""merge":true"#).await, 0);
    apply(&format!("{{ {merged}, mizzen: {{ restart: {{ batchSize: 3 }} }} }}")).await?;
    let status = kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    assert_eq!(of(r#""merge":true"#).await, 3, "K-RST-7, in batches");
    assert_eq!(status["outdatedProxies"]["count"], 10);

    // Of K-UNI-1 what needs no injector: with the mesh go the sidecars.
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    let removed = of("Istio was removed with ").await;
    assert_eq!(removed, 10, "those that were being rolled out as well");
    Ok(())
}

fn budget(name: &str, available: u8) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": name, "namespace": "shop" },
        "spec": { "minAvailable": available, "selector": { "matchLabels": { "app": name } } },
    })
}

/// Names of the pods of a workload that stay.
async fn pods(kyma: &Kyma, name: &str) -> Vec<String> {
    let all = kyma.here.cluster.list_in("", "Pod", "shop", &format!("app={name}")).await.unwrap();
    let stay = all.iter().filter(|pod| pod["metadata"].get("deletionTimestamp").is_none());
    let mut names: Vec<String> =
        stay.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

async fn set_ready(kyma: &Kyma, pod: &str, ready: bool) -> Result<()> {
    let status = if ready { "True" } else { "False" };
    let patch = json!({ "status": { "conditions": [{ "type": "Ready", "status": status }] } }).to_string();
    let words = ["patch", "pod", pod, "-n", "shop", "--subresource=status", "-p", patch.as_str()];
    kyma.here.site.server.kubectl(&words).await.map(drop)
}

/// Waits until a budget has counted its pods.
async fn counted(kyma: &Kyma, operator: &Part, name: &str, healthy: i64, allowed: i64) -> Result<()> {
    let probe = async || {
        let budget = kyma.here.get(("policy", "PodDisruptionBudget"), "shop", name).await.unwrap();
        let status = &budget["status"];
        let is_so = status["currentHealthy"] == healthy
            && status["disruptionsAllowed"] == allowed
            && status["expectedPods"] == 2;
        Seen::when(is_so, || status.to_string())
    };
    operator.until(&format!("{name} to have {healthy} and to spare {allowed}"), PATIENCE, probe).await
}

/// What the restarter has told of a workload.
async fn told_of(kyma: &Kyma, name: &str) -> Vec<String> {
    let all = kyma.here.cluster.list_in("", "Event", "shop", "").await.unwrap();
    let ours = all.iter().filter(|event| {
        event["reportingComponent"] == "istio-restarter" && event["involvedObject"]["name"] == name
    });
    ours.map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_are_respected_and_what_happens_is_told_to_the_owners_once() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site, shop) = (&kyma.here, &kyma.here.site, Shop(&kyma));
    let (operator, port) = kyma.operator(&[]);
    let apply = async |spec: &str| site.server.apply(&resource(HOME.0, HOME.1, spec)).await;
    apply("{ compatibilityMode: false }").await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    here.until_scaled().await?;

    // Of each, a budget; what it has to say about one more pod that is missing is another in every case.
    here.kubectl("create namespace shop").await?;
    let none = json!({});
    let mut windowed = workload("Deployment", "windowed", OLD, &none);
    windowed["metadata"]["annotations"] =
        json!({ "restarter.istio-operator.kyma-project.io/maintenance-window": "at night" });
    let mut waiting = ["held", "stuck"].map(|name| workload("StatefulSet", name, OLD, &none)).to_vec();
    waiting.push(workload("Deployment", "surging", OLD, &none));
    let set = workload("ReplicaSet", "ownerless", OLD, &none);
    let budgets = [("held", 1), ("stuck", 2), ("surging", 2), ("ownerless", 2)];
    let objects: Vec<Value> = [windowed, set]
        .into_iter()
        .chain(waiting)
        .chain(budgets.map(|(name, available)| budget(name, available)))
        .collect();
    site.server.apply(&list(&objects)).await?;
    shop.settled(&operator).await?;
    for name in ["stuck", "surging", "ownerless"] {
        counted(&kyma, &operator, name, 2, 0).await?;
    }
    let surging = pods(&kyma, "surging").await[0].clone();
    for pod in ["held-1", surging.as_str()] {
        set_ready(&kyma, pod, false).await?;
    }
    counted(&kyma, &operator, "held", 1, 0).await?;
    counted(&kyma, &operator, "surging", 1, 0).await?;

    // One waits for its second pod, one would wait for ever, one never has less than it should; the server keeps the pods of the last.
    let before = pods(&kyma, "ownerless").await;
    kyma.here.injection_is_served().await?;
    let status = kyma.tells(&operator, HOME, SIDECARS, "ProxySidecarManualRestartRequired").await?;
    let restarted = async || shop.restarted().await.into_keys().collect::<Vec<_>>();
    assert_eq!(restarted().await, ["stuck", "surging"]);
    assert_eq!(status["outdatedProxies"]["waiting"], json!({ "PodDisruptionBudget": 3 }), "{status}");
    assert_eq!(status["outdatedProxies"]["count"], 6, "{status}");
    assert_eq!(pods(&kyma, "ownerless").await, before);
    let sentence = condition(&status, SIDECARS)["message"].clone();
    assert_eq!(sentence, "The sidecars of the following workloads could not be restarted: shop/windowed");
    for (name, reason) in
        [("windowed", "RestartConfigInvalid"), ("stuck", "RestartSuccess"), ("surging", "RestartSuccess")]
    {
        assert_eq!(told_of(&kyma, name).await, [reason], "{name}");
    }

    let metrics = operated::page(port, "/metrics").await;
    for line in [
        "istio_restarter_restarts_total{kind=\"StatefulSet\",result=\"success\"} 1",
        "istio_restarter_restarts_total{kind=\"Deployment\",result=\"success\"} 1",
        "istio_restarter_restart_pending{kind=\"Pod\"} 2",
        "istio_restarter_maintenance_window_active 1",
    ] {
        assert!(metrics.contains(&format!("\n{line}\n")), "{line} in {metrics}");
    }
    assert!(
        metrics.contains("\nistio_restarter_skipped_total{reason=\"PodDisruptionBudget\"} "),
        "{metrics}"
    );

    // The budgets allow it now.
    set_ready(&kyma, "held-1", true).await?;
    counted(&kyma, &operator, "held", 2, 1).await?;
    here.kubectl("delete poddisruptionbudget ownerless -n shop").await?;
    apply("{ config: { numTrustedProxies: 2 } }").await?;
    kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
    assert_eq!(restarted().await, ["held", "stuck", "surging"]);
    let replaced = async || {
        let now = pods(&kyma, "ownerless").await;
        Seen::when(now.len() == 2 && now.iter().all(|pod| !before.contains(pod)), || format!("{now:?}"))
    };
    operator.until("new pods of the set", PATIENCE, replaced).await?;

    // Nobody injects here: they are what they were. They are not evicted again, and everybody is told that it was in vain, once.
    shop.settled(&operator).await?;
    here.kubectl("wait pod -l app=ownerless -n shop --for=condition=Ready --timeout=60s").await?;
    let after = pods(&kyma, "ownerless").await;
    for number in [3, 4] {
        apply(&format!("{{ config: {{ numTrustedProxies: {number} }} }}")).await?;
        let status = kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
        assert_eq!(status["outdatedProxies"].get("waiting"), None, "{status}");
    }
    assert_eq!(pods(&kyma, "ownerless").await, after);
    for name in ["held", "stuck", "surging"] {
        let mut told = told_of(&kyma, name).await;
        told.sort();
        assert_eq!(told, ["RestartRequired", "RestartSuccess"], "{name}");
    }
    assert_eq!(told_of(&kyma, "windowed").await, ["RestartConfigInvalid"]);
    Ok(())
}

/// All of the gateway's pods are others than before.
#[tokio::test(flavor = "multi_thread")]
async fn k_rst_1_2_3_every_pod_of_the_gateway_is_new() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, _) = kyma.operator(&[]);
    let gateway = async || {
        let deployment =
            here.get(operated::DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
        let annotations = &deployment["spec"]["template"]["metadata"]["annotations"];
        let at = annotations["istio-operator.kyma-project.io/restartedAt"].clone();
        (deployment["metadata"]["generation"].as_i64().unwrap(), at)
    };
    let pods = async || {
        let all = here.cluster.list_in("", "Pod", "istio-system", "istio=ingressgateway").await.unwrap();
        let stay = all.into_iter().filter(|pod| pod["metadata"].get("deletionTimestamp").is_none());
        stay.map(|pod| pod["metadata"]["uid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let settled = async |gone: &[String]| {
        let probe = async || {
            let now = pods().await;
            let is_so = now.len() == 3 && !now.iter().any(|pod| gone.contains(pod));
            Seen::from_option(is_so.then(|| now.clone()), || format!("{gone:?}, now {now:?}"))
        };
        operator.until("three pods of the gateway, all of them new", PATIENCE, probe).await
    };
    site.server.apply(&resource(HOME.0, HOME.1, "{ compatibilityMode: false }")).await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let mut before: Vec<String> = settled(&[]).await?;
    let configs = [
        ("K-RST-1", "numTrustedProxies: 1"),
        ("K-RST-2", "numTrustedProxies: 1, trustDomain: my.domain"),
        ("K-RST-3", "numTrustedProxies: 1, trustDomain: my.domain, forwardClientCertDetails: SANITIZE"),
    ];
    for (scenario, config) in configs {
        let (generation, at) = gateway().await;
        // The time of a restart is told in seconds.
        let probe = async || {
            let now = mizzen_cluster::now();
            Seen::when(at.as_str().is_none_or(|at| at[..19] != now[..19]), || now.clone())
        };
        operator.until("another second", PATIENCE, probe).await?;
        site.server.apply(&resource(HOME.0, HOME.1, &format!("{{ config: {{ {config} }} }}"))).await?;
        kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
        let (later, at_later) = gateway().await;
        assert!(later > generation && at_later.is_string() && at_later != at, "{scenario}: {at}, {at_later}");
        before = settled(&before).await?;
    }
    Ok(())
}
