//! The operator for the `Istio` resource beside the real istiod: what pods have for a sidecar is what its webhook gave them, with the
//! configuration that the operator has installed.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{
    condition,
    injected::{Injected, Istiod, SHOP, WAYS, both_ways, container, deployment, proxy, resources},
    resource,
};
use mizzen_testkit::{
    Controllers, Part, Result, needs,
    wait::{PATIENCE, Seen},
};
use operated::DEPLOYMENT;
use serde_json::{Value, json};
use std::collections::BTreeSet;

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

/// A mesh by upstream's charts, with its istiod, and workloads of both ways that it has injected.
async fn meshed<'w>(world: &'w Injected, operator: &Part, spec: &str) -> Result<Istiod<'w>> {
    apply(world, spec).await?;
    ready(world, operator).await?;
    let istiod = world.istiod().await?;
    create(world, &[shop()]).await?;
    create(world, &both_ways()).await?;
    Ok(istiod)
}

/// Both ways have these resources, in the list where they belong, and nowhere else.
async fn sidecars_have(world: &Injected, wanted: &Value) -> Result<()> {
    for (name, _, list) in WAYS {
        let other = WAYS.iter().map(|(_, _, other)| *other).find(|other| *other != list).unwrap();
        let has = |pod: &Value| {
            proxy(pod, list).is_some_and(|proxy| proxy["resources"] == *wanted) && proxy(pod, other).is_none()
        };
        world.until_pods(name, &format!("with {wanted}"), has).await?;
    }
    Ok(())
}

/// What the first container of a part of the mesh has.
async fn resources_of(world: &Injected, name: &str) -> Value {
    let deployment = world.here().get(DEPLOYMENT, "istio-system", name).await.unwrap();
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"].clone()
}

/// The names of all pods of some workloads.
async fn names(world: &Injected, workloads: &[&str]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for workload in workloads {
        let pods = world.pods_of(workload).await;
        all.extend(pods.iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()));
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn k_inst_1_k_cfg_1_k_rst_6_sidecars_have_what_profile_resource_and_annotations_say() -> Result<()> {
    needs!(Controllers::NEEDS, Injected::NEEDS);
    let world = Injected::start().await?;
    let operator = world.operator();
    let _istiod = meshed(&world, &operator, "").await?;
    let own = json!({
        "sidecar.istio.io/proxyCPU": "40m", "sidecar.istio.io/proxyMemory": "90Mi",
        "sidecar.istio.io/proxyCPULimit": "400m", "sidecar.istio.io/proxyMemoryLimit": "900Mi",
        "sidecar.istio.io/nativeSidecar": "true",
    });
    create(&world, &[deployment("own", &own)]).await?;
    let own = resources(["40m", "90Mi"], ["400m", "900Mi"]);
    let has_own = |pod: &Value| proxy(pod, "initContainers").is_some_and(|proxy| proxy["resources"] == own);

    // K-INST-1: the numbers of a cluster for production.
    sidecars_have(&world, &resources(["10m", "192Mi"], ["1", "1Gi"])).await?;
    world.until_pods("own", "with their own resources", has_own).await?;
    assert_eq!(resources_of(&world, "istiod").await, resources(["100m", "512Mi"], ["4", "2Gi"]));
    let gateway = resources_of(&world, "istio-ingressgateway").await;
    assert_eq!(gateway, resources(["100m", "128Mi"], ["2", "1Gi"]));
    let budget = ("policy", "PodDisruptionBudget");
    let budget =
        async |name: &str| world.here().get(budget, "istio-system", name).await.unwrap()["spec"].clone();
    assert_eq!(budget("istiod").await["minAvailable"], 1);
    assert_eq!(budget("istio-ingressgateway").await["maxUnavailable"], 1);

    // It was the Service that led to istiod: only addresses of its pods were dialled.
    let pods = world.here().cluster.list_in("", "Pod", "istio-system", "istio=pilot").await.unwrap();
    let addresses: BTreeSet<&str> = pods.iter().filter_map(|pod| pod["status"]["podIP"].as_str()).collect();
    let dialled: BTreeSet<String> = world.pods.dialled().iter().map(|pod| pod.ip().to_string()).collect();
    assert!(!dialled.is_empty() && dialled.iter().all(|one| addresses.contains(one.as_str())), "{dialled:?}");

    // K-CFG-1: other numbers. K-RST-6: those that somebody has said for a workload stay, and it is not restarted.
    let before = names(&world, &["own"]).await;
    let wish = "{ requests: { cpu: 30m, memory: 100Mi }, limits: { cpu: 700m, memory: 700Mi } }";
    let proxy_wish = format!("components: {{ proxy: {{ k8s: {{ resources: {wish} }} }} }}");
    apply(&world, &proxy_wish).await?;
    ready(&world, &operator).await?;
    sidecars_have(&world, &resources(["30m", "100Mi"], ["700m", "700Mi"])).await?;
    assert_eq!(names(&world, &["own"]).await, before);

    // K-RST-6: whatever it is restarted for, its new pods have what their annotations say.
    apply(&world, &format!("{proxy_wish}, config: {{ enableDNSProxying: true }}")).await?;
    ready(&world, &operator).await?;
    let is_new = |pod: &Value| !before.contains(pod["metadata"]["name"].as_str().unwrap()) && has_own(pod);
    let pods = world.until_pods("own", "that are new, with their own resources", is_new).await?;
    let captures = |pod: &Value| {
        let proxy = proxy(pod, "initContainers").unwrap();
        let all = proxy["env"].as_array().unwrap();
        all.iter().any(|one| one["name"] == "ISTIO_META_DNS_CAPTURE" && one["value"] == "true")
    };
    assert!(pods.iter().all(captures), "the proxy knows what it was restarted for");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn k_eval_1_a_small_cluster_has_small_sidecars() -> Result<()> {
    needs!(Controllers::NEEDS, Injected::NEEDS);
    let world = Injected::start().await?;
    let small = r#"{"status":{"capacity":{"cpu":"2","memory":"4Gi"}}}"#;
    for node in ["fake-0", "fake-1"] {
        let words = ["patch", "node", node, "--subresource=status", "--type=merge", "-p", small];
        world.here().site.server.kubectl(&words).await?;
    }
    let operator = world.operator();
    let _istiod = meshed(&world, &operator, "").await?;
    sidecars_have(&world, &resources(["10m", "32Mi"], ["250m", "254Mi"])).await?;
    assert_eq!(resources_of(&world, "istiod").await, resources(["50m", "128Mi"], ["1", "1Gi"]));
    let gateway = resources_of(&world, "istio-ingressgateway").await;
    assert_eq!(gateway, resources(["10m", "32Mi"], ["1", "1Gi"]));
    let status = ready(&world, &operator).await?;
    assert_eq!(condition(&status, "Ready")["reason"], "ReconcileSucceeded");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn k_uni_1_with_the_mesh_go_its_kinds_its_namespace_and_all_sidecars() -> Result<()> {
    needs!(Controllers::NEEDS, Injected::NEEDS);
    let world = Injected::start().await?;
    let here = world.here();
    let operator = world.operator();
    let istiod = meshed(&world, &operator, "").await?;
    sidecars_have(&world, &resources(["10m", "192Mi"], ["1", "1Gi"])).await?;
    let definitions = async || {
        let all = here.cluster.list("apiextensions.k8s.io", "CustomResourceDefinition", "").await.unwrap();
        let of_istio = |one: &&Value| {
            let group = one["spec"]["group"].as_str().unwrap();
            group.ends_with(".istio.io")
        };
        all.iter().filter(of_istio).count()
    };
    assert!(definitions().await >= 14);
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    world.kyma.until_gone(&operator, "default").await?;
    assert_eq!(definitions().await, 0);
    drop(istiod);
    world.kyma.until_no_namespace().await?;
    for (name, _, _) in WAYS {
        let has_none = |pod: &Value| {
            let lists = ["containers", "initContainers"];
            pod["metadata"]["annotations"].get("sidecar.istio.io/status").is_none()
                && lists.iter().all(|list| proxy(pod, list).is_none())
        };
        world.until_pods(name, "without a sidecar", has_none).await?;
    }
    Ok(())
}

/// The rows of restarts whose end is seen at a pod as it was injected.
#[tokio::test(flavor = "multi_thread")]
async fn k_rst_7_and_the_cni_switch_pods_are_as_they_should_be_after_the_restart() -> Result<()> {
    needs!(Controllers::NEEDS, Injected::NEEDS);
    let world = Injected::start().await?;
    let operator = world.operator();
    let _istiod = meshed(&world, &operator, "").await?;
    // One whose metrics nobody reads, and which therefore is never merged.
    let unread = json!({ "prometheus.io/scrape": "false", "sidecar.istio.io/nativeSidecar": "true" });
    create(&world, &[deployment("unread", &unread)]).await?;
    let merged = |pod: &Value| {
        let annotations = &pod["metadata"]["annotations"];
        annotations["prometheus.io/port"] == "15020"
            && annotations["prometheus.io/path"] == "/stats/prometheus"
    };
    for (name, _, _) in WAYS {
        let has_not =
            |pod: &Value| !merged(pod) && container(pod, "initContainers", "istio-validation").is_some();
        world.until_pods(name, "set up by node agents", has_not).await?;
    }
    let unread = world.until_pods("unread", "without merged metrics", |pod| !merged(pod)).await?;
    let unread: BTreeSet<&str> = unread.iter().map(|pod| pod["metadata"]["name"].as_str().unwrap()).collect();

    // K-RST-7.
    let config = "config: { telemetry: { metrics: { prometheusMerge: true } } }";
    apply(&world, config).await?;
    ready(&world, &operator).await?;
    for (name, _, _) in WAYS {
        world.until_pods(name, "with merged metrics", merged).await?;
    }
    let still = names(&world, &["unread"]).await;
    assert!(still.iter().all(|name| unread.contains(name.as_str())), "{still:?}");
    apply(&world, &format!("{config}, networkPoliciesEnabled: false")).await?;
    let status = ready(&world, &operator).await?;
    assert_eq!(status.get("outdatedProxies"), None, "{status}");

    // The node agents go, and init containers do their work; then back again.
    for (disabled, wanted, unwanted) in
        [("true", "istio-init", "istio-validation"), ("false", "istio-validation", "istio-init")]
    {
        let features = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio-features", "namespace": HOME.0 },
            "data": { "features": format!("{{\"disableCni\":{disabled}}}") },
        });
        create(&world, &[features]).await?;
        for (name, _, _) in WAYS {
            let is_so = |pod: &Value| {
                container(pod, "initContainers", wanted).is_some()
                    && container(pod, "initContainers", unwanted).is_none()
                    && merged(pod)
            };
            world.until_pods(name, &format!("with {wanted}"), is_so).await?;
        }
        let agents = async || {
            let set = world.here().get(("apps", "DaemonSet"), "istio-system", "istio-cni-node").await;
            Seen::when(set.is_none() == (disabled == "true"), || set.is_some().to_string())
        };
        operator.until("the node agents to go or come", PATIENCE, agents).await?;
    }
    Ok(())
}

/// Whether the real webhook has given it a sidecar.
fn is_injected(pod: &Value) -> bool {
    let lists = ["containers", "initContainers"];
    pod["metadata"]["annotations"].get("sidecar.istio.io/status").is_some()
        && lists.iter().any(|list| proxy(pod, list).is_some())
}

/// When a workload was restarted, if it was.
async fn restarted_at(world: &Injected, name: &str) -> Value {
    let workload = world.here().get(DEPLOYMENT, SHOP, name).await.unwrap();
    workload["spec"]["template"]["metadata"]["annotations"]["istio-operator.kyma-project.io/restartedAt"]
        .clone()
}

/// What was told of a workload by the restarter, in order of the words.
async fn events(world: &Injected, name: &str) -> Vec<String> {
    let all = world.here().cluster.list_in("", "Event", SHOP, "").await.unwrap();
    let ours = all.iter().filter(|event| {
        // Without its uid nobody who describes the workload sees it.
        let about = &event["involvedObject"];
        let is_exact = about["uid"].as_str().is_some_and(|uid| !uid.is_empty());
        event["reportingComponent"] == "istio-restarter" && about["name"] == name && is_exact
    });
    let mut reasons: Vec<String> = ours.map(|event| event["reason"].as_str().unwrap().to_owned()).collect();
    reasons.sort();
    reasons
}

/// Pods that were made while nobody injected get a sidecar when somebody does, once; and so do those of a namespace that asks for it later.
#[tokio::test(flavor = "multi_thread")]
async fn pods_without_a_sidecar_get_one_when_istio_is_back() -> Result<()> {
    needs!(Controllers::NEEDS, Injected::NEEDS);
    let world = Injected::start().await?;
    let here = world.here();
    let refuses = json!({ "sidecar.istio.io/inject": "false" });
    let native = json!({ "sidecar.istio.io/nativeSidecar": "true" });
    create(&world, &[shop()]).await?;
    create(&world, &both_ways()).await?;
    create(&world, &[deployment("refusing", &refuses), deployment("loner", &native)]).await?;
    let all = ["native", "regular", "refusing", "loner"];
    for name in all {
        world.until_pods(name, "without a sidecar", |pod| !is_injected(pod)).await?;
    }
    let operator = world.operator();
    apply(&world, "").await?;
    ready(&world, &operator).await?;

    // While nobody serves the webhook, nobody is restarted: new pods would be refused, or have none either.
    apply(&world, "config: { numTrustedProxies: 1 }").await?;
    ready(&world, &operator).await?;
    for name in all {
        assert_eq!(restarted_at(&world, name).await, Value::Null, "{name}");
    }

    // Somebody has a condition of his own in the webhooks, which cannot be seen at their selectors.
    let but = json!({ "name": "but-one", "expression": "!has(object.metadata.labels) || object.metadata.labels['app'] != 'loner'" });
    let kind = ("admissionregistration.k8s.io", "MutatingWebhookConfiguration");
    let configurations = here.cluster.list(kind.0, kind.1, "app=sidecar-injector").await.unwrap();
    for configuration in &configurations {
        let count = configuration["webhooks"].as_array().unwrap().len();
        let patch: Vec<Value> = (0..count)
            .map(|place| json!({ "op": "add", "path": format!("/webhooks/{place}/matchConditions"), "value": [but] }))
            .collect();
        let name = configuration["metadata"]["name"].as_str().unwrap();
        let words = ["patch", "mutatingwebhookconfiguration", name, "--type=json", "-p"];
        let patch = Value::from(patch).to_string();
        here.site.server.kubectl(&words.into_iter().chain([patch.as_str()]).collect::<Vec<_>>()).await?;
    }

    // Istio is back: that alone is enough.
    let istiod = world.istiod().await?;
    for (name, _, list) in WAYS {
        let has = |pod: &Value| is_injected(pod) && proxy(pod, list).is_some();
        world.until_pods(name, "with a sidecar", has).await?;
        assert_eq!(events(&world, name).await, ["RestartSuccess"], "{name}");
    }
    assert_eq!(restarted_at(&world, "refusing").await, Value::Null, "it does not want one");

    // Whoever has none again is named, and not restarted once more.
    here.kubectl(&format!("rollout status deployment/loner -n {SHOP} --timeout=60s")).await?;
    let once = restarted_at(&world, "loner").await;
    assert!(once.is_string());
    for number in [2, 3] {
        apply(&world, &format!("config: {{ numTrustedProxies: {number} }}")).await?;
        let status = world.kyma.says(&operator, HOME, "Warning", "ReconcileFailed").await?;
        let told = condition(&status, "ProxySidecarRestartSucceeded");
        assert_eq!(told["reason"], "ProxySidecarManualRestartRequired");
        assert_eq!(
            told["message"],
            "The sidecars of the following workloads could not be restarted: shop/loner"
        );
    }
    assert_eq!(restarted_at(&world, "loner").await, once);
    assert_eq!(events(&world, "loner").await, ["RestartRequired", "RestartSuccess"]);
    here.kubectl(&format!("delete deployment loner -n {SHOP}")).await?;

    // Istio is away once more, with its webhooks; what is made then has no sidecar.
    operator.kill();
    drop(istiod);
    for configuration in &configurations {
        let name = configuration["metadata"]["name"].as_str().unwrap();
        here.kubectl(&format!("delete mutatingwebhookconfiguration {name}")).await?;
    }
    create(&world, &[deployment("later", &native)]).await?;
    world.until_pods("later", "without a sidecar", |pod| !is_injected(pod)).await?;
    let operator = world.operator();
    let back = async || {
        let all = here.cluster.list(kind.0, kind.1, "app=sidecar-injector").await.unwrap();
        Seen::when(all.len() == configurations.len(), || all.len().to_string())
    };
    operator.until("the webhooks to be back", PATIENCE, back).await?;
    let _istiod = world.istiod().await?;
    world.until_pods("later", "with a sidecar", is_injected).await?;

    // A namespace that asks for sidecars later is the same, and that alone is enough.
    here.kubectl(&format!("label namespace {SHOP} istio-injection-")).await?;
    create(&world, &[deployment("unasked", &native)]).await?;
    world.until_pods("unasked", "without a sidecar", |pod| !is_injected(pod)).await?;
    apply(&world, "config: { numTrustedProxies: 4 }").await?;
    ready(&world, &operator).await?;
    assert_eq!(restarted_at(&world, "unasked").await, Value::Null);
    here.kubectl(&format!("label namespace {SHOP} istio-injection=enabled")).await?;
    world.until_pods("unasked", "with a sidecar", is_injected).await?;
    Ok(())
}
