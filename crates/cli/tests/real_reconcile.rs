//! `mizzen reconcile` against a real cluster: one pass, again, changed, planned, and back to nothing.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "what people see is shown")]

mod operated;
mod site;

use mizzen_testkit::{
    Controllers, Result, needs,
    wait::{self, PATIENCE, Seen},
};
use operated::{DEPLOYMENT, Operated};
use serde_json::{Value, json};
use site::{BINARY, changed, cleaned, cut};
use std::{collections::BTreeMap, path::Path};

const DOMAIN: &str = "--value global.ingress.domainName=example.com,global.domainName=example.com";
const GATEWAY: (&str, &str) = ("networking.istio.io", "Gateway");
const SERVICE: (&str, &str) = ("networking.istio.io", "VirtualService");
const PEER: (&str, &str) = ("security.istio.io", "PeerAuthentication");
const MONITOR: (&str, &str) = ("monitoring.coreos.com", "ServiceMonitor");

const AUTOSCALER: &str = "  ~ HorizontalPodAutoscaler istio-system/istio-ingressgateway";

/// What a pass in JSON says of each component, and how much it wrote.
fn read(out: &str) -> (Vec<(String, String, usize)>, u64) {
    let told: Value = serde_json::from_str(out).unwrap();
    let components = told["components"].as_array().unwrap().iter().map(|one| {
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        (text("component"), text("status"), one["objects"].as_array().unwrap().len())
    });
    (components.collect(), told["writes"].as_u64().unwrap())
}

/// The names of the objects that a pass in JSON changes in a component.
fn objects(out: &str, component: &str) -> Vec<String> {
    let told: Value = serde_json::from_str(out).unwrap();
    let all = told["components"].as_array().unwrap();
    let one = all.iter().find(|one| one["component"] == component).unwrap();
    let objects = one["objects"].as_array().unwrap().iter();
    objects.map(|object| object["id"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_comes_stays_changes_and_goes_by_single_passes() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let site = &here.site;
    let all = format!("reconcile {DOMAIN}");

    // Planned: nothing is written, and everything is named.
    let before = site.versions().await;
    let plan = site.mizzen(&format!("{all} --dry-run -o json")).await.well();
    let (components, writes) = read(&plan);
    let names: Vec<&str> = components.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["cluster-essentials", "istio", "istio-resources"]);
    assert!(components.iter().all(|(_, status, count)| status == "success" && *count > 0), "{components:?}");
    assert_eq!((writes, &site.versions().await), (0, &before));
    assert_eq!(objects(&plan, "istio-resources"), ["kyma-gateway", "istio-healthz", "default"]);

    // Without a domain nothing is begun; a plan that fails has done nothing.
    for line in ["reconcile", "reconcile --dry-run"] {
        let told = site.mizzen(line).await.badly();
        assert!(
            told.contains("global.domainName=example.com") && told.contains("nothing was done"),
            "{told}"
        );
    }
    assert_eq!(site.versions().await, before);
    let told = site.mizzen("reconcile --components istio --dry-run").await.badly();
    assert!(told.contains("nothing was written") && !told.contains("what was done"), "{told}");

    // A mesh needs the essentials.
    let alone = site.mizzen("reconcile --components istio").await.badly();
    assert!(
        alone.contains("there is no Namespace kyma-system: add cluster-essentials to --components"),
        "{alone}"
    );
    let alone = site.mizzen(&format!("{all} --components istio-resources")).await.badly();
    assert!(alone.contains("add istio to --components"), "{alone}");

    // Done: as it was planned.
    let told = site.mizzen(&all).await.well();
    println!("{told}");
    for component in names {
        for status in ["running", "success"] {
            assert!(told.contains(&format!("Component '{component}' has status '{status}'\n")), "{told}");
        }
    }
    let gateway = here.get(GATEWAY, "kyma-system", "kyma-gateway").await.unwrap();
    let servers = &gateway["spec"]["servers"];
    assert_eq!(
        (&servers[0]["hosts"], &servers[0]["tls"]),
        (&json!(["*.example.com"]), &json!({ "mode": "SIMPLE", "credentialName": "kyma-gateway-certs" }))
    );
    assert_eq!(
        (&servers[1]["port"]["number"], &servers[1]["tls"]["httpsRedirect"]),
        (&json!(80), &json!(true))
    );
    let health = here.get(SERVICE, "istio-system", "istio-healthz").await.unwrap();
    assert_eq!(health["spec"]["hosts"], json!(["healthz.example.com"]));
    assert_eq!(health["spec"]["gateways"], json!(["kyma-system/kyma-gateway"]));
    let strict = here.get(PEER, "istio-system", "default").await.unwrap();
    assert_eq!(strict["spec"]["mtls"]["mode"], "STRICT");
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());
    let injector = here
        .get(
            ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
            "",
            "istio-revision-tag-default",
        )
        .await
        .unwrap();
    assert!(injector.to_string().contains("gardener.cloud/purpose"), "{injector}");

    // Again: nothing is written.
    here.until_scaled().await?;
    let before = site.versions().await;
    let again = site.mizzen(&format!("{all} -o json")).await.well();
    let (components, writes) = read(&again);
    assert!(components.iter().all(|(_, status, count)| status == "success" && *count == 0), "{components:?}");
    assert_eq!((writes, site.versions().await), (0, before));
    let again = site.mizzen(&all).await.well();
    assert!(again.ends_with("everything is as it should be; nothing was written\n"), "{again}");

    // Another domain, and what somebody has made of mutual TLS: only those are written.
    let edit = r#"{"spec":{"mtls":{"mode":"PERMISSIVE"}}}"#;
    let edit = ["patch", "peerauthentication", "default", "-n", "istio-system", "--type=merge", "-p", edit];
    site.server.kubectl(&edit).await?;
    let moved = "reconcile --value global.domainName=kyma.example";
    let plan = site.mizzen(&format!("{moved} --dry-run")).await.well();
    println!("{plan}");
    assert!(plan.contains("Component 'istio': nothing to write"), "{plan}");
    assert!(plan.contains("spec.mtls.mode"), "{plan}");
    let out = site.mizzen(&format!("{moved} -o json")).await.well();
    assert_eq!(objects(&out, "istio-resources"), ["kyma-gateway", "istio-healthz", "default"]);
    assert_eq!((objects(&out, "istio").len(), read(&out).1), (0, 3));
    let gateway = here.get(GATEWAY, "kyma-system", "kyma-gateway").await.unwrap();
    assert_eq!(gateway["spec"]["servers"][1]["hosts"], json!(["*.kyma.example"]));
    let strict = here.get(PEER, "istio-system", "default").await.unwrap();
    assert_eq!(strict["spec"]["mtls"]["mode"], "STRICT");

    // Monitoring where the cluster has the kind, dashboards where somebody wants them; both go again.
    let resources = "reconcile --components istio-resources -o json --value global.domainName=kyma.example";
    let established = "wait --for=condition=Established --timeout=60s crd";
    let settled = "wait --for=condition=NamesAccepted=false --timeout=60s crd";
    // As long as another kind has its name, it is defined and not served.
    let other = operated::kind("monitoring.coreos.com", "Other")
        .replace("kind: Other,", "kind: Other, singular: servicemonitor,");
    site.server.apply(&other).await?;
    here.kubectl(&format!("{established} others.monitoring.coreos.com")).await?;
    site.server.apply(&operated::kind("monitoring.coreos.com", "ServiceMonitor")).await?;
    here.kubectl(&format!("{settled} servicemonitors.monitoring.coreos.com")).await?;
    let out = site.mizzen(resources).await.well();
    assert!(out.contains("their kind is defined and not served yet"), "{out}");
    assert_eq!(objects(&out, "istio-resources").len(), 0, "{out}");
    here.kubectl("delete crd others.monitoring.coreos.com").await?;
    here.kubectl(&format!("{established} servicemonitors.monitoring.coreos.com")).await?;
    let out = site.mizzen(&format!("{resources},istio-resources.dashboards.enabled=true")).await.well();
    assert_eq!(
        objects(&out, "istio-resources"),
        [
            "istio-control-plane",
            "istio-gateways",
            "istio-mesh-grafana-dashboard",
            "istio-workload-grafana-dashboard",
            "istio-control-plane-grafana-dashboard"
        ]
    );
    let monitor = here.get(MONITOR, "istio-system", "istio-control-plane").await.unwrap();
    assert_eq!(monitor["spec"]["endpoints"][0]["port"], "http-monitoring");
    let out = site.mizzen(&format!("{resources},istio-resources.monitoring.enabled=false")).await.well();
    assert_eq!(objects(&out, "istio-resources").len(), 5);
    assert!(here.get(MONITOR, "istio-system", "istio-control-plane").await.is_none());
    assert!(here.get(("", "ConfigMap"), "kyma-system", "istio-mesh-grafana-dashboard").await.is_none());

    // Values reach the mesh; what is wrong with one is told before anything is written.
    let sized = "reconcile --components istio --value istio.values.pilot.autoscaleEnabled=false --profile";
    site.mizzen(&format!("{sized} production")).await.well();
    let cpu = async || {
        let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
        istiod["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"].clone()
    };
    assert_eq!(cpu().await, "100m");
    assert!(here.get(("autoscaling", "HorizontalPodAutoscaler"), "istio-system", "istiod").await.is_none());
    site.mizzen(&format!("{sized} evaluation")).await.well();
    assert_eq!(cpu().await, "50m");
    // Of an item of a list, too, only the field that is named.
    let gateway = "istio.components.ingressGateways[0].k8s.hpaSpec";
    let plan = format!("{sized} evaluation --dry-run --value {gateway}");
    let plan = site.mizzen(&format!("{plan}.minReplicas=2,{gateway}.maxReplicas=4")).await.well();
    let lines: Vec<&str> = plan.lines().take_while(|line| !line.starts_with("  Istio")).collect();
    assert_eq!(lines[..2], ["Component 'istio': 1 object to write", AUTOSCALER], "{plan}");
    assert_eq!(lines[2..].iter().filter(|line| !line.contains("Replicas: ")).count(), 0, "{plan}");
    let wrong = site.mizzen(&format!("{sized} evaluation --value istio.components.cni=off")).await.badly();
    assert!(wrong.contains("istio.components.cni: it must be a map"), "{wrong}");

    here.until_scaled_to("istio-ingressgateway", 1).await?;
    let before = site.versions().await;
    let wrong = site.mizzen("reconcile --value istio.values.pilot.autoscaleMin=many").await.badly();
    assert!(wrong.contains("autoscaleMin") && wrong.contains("nothing was done"), "{wrong}");
    let wrong = site.mizzen("reconcile --components istio-resources").await.badly();
    assert!(wrong.contains("give --value global.domainName=example.com"), "{wrong}");
    assert_eq!(changed(&before, &site.versions().await), Vec::<String>::new());

    // Namespaces are labelled where somebody says so in so many words, and only those that say nothing.
    here.kubectl("create namespace shop").await?;
    here.kubectl("create namespace apart").await?;
    here.kubectl("label namespace apart istio-injection=disabled").await?;
    let label = async |name: &str| {
        let namespace = here.get(("", "Namespace"), "", name).await.unwrap();
        namespace["metadata"]["labels"]["istio-injection"].clone()
    };
    site.mizzen("reconcile --components istio").await.well();
    assert_eq!(label("shop").await, Value::Null);
    site.mizzen("reconcile --components istio --value global.sidecarMigration=true").await.well();
    assert_eq!((label("shop").await, label("apart").await), (json!("enabled"), json!("disabled")));
    assert_eq!(label("kube-system").await, Value::Null);
    here.kubectl("delete namespace shop apart --timeout=60s").await?;
    here.kubectl("label namespace --all istio-injection-").await?;

    // Nothing goes that people would miss: not the mesh under its gateway, nor without being asked.
    let held = site.mizzen("reconcile --delete --components istio -y").await.badly();
    assert!(held.contains("block deletion: Gateway kyma-system/kyma-gateway"), "{held}");
    let held = site.mizzen("reconcile --delete --components cluster-essentials -y").await.badly();
    assert!(held.contains("Deployment istio-system/istiod needs it: delete istio first"), "{held}");
    let asked = site.mizzen("reconcile --delete").await.badly();
    assert!(asked.contains("give -y"), "{asked}");
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_some());

    // Planned, then done: nothing is left.
    let plan = site.mizzen("reconcile --delete --dry-run -o json").await.well();
    let (components, _) = read(&plan);
    let names: Vec<&str> = components.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["istio-resources", "istio", "cluster-essentials"]);
    assert!(here.get(GATEWAY, "kyma-system", "kyma-gateway").await.is_some());
    let told = site.mizzen("reconcile --delete -y").await.well();
    println!("{told}");
    let left: Vec<String> =
        site.objects().await.into_keys().filter(|key| !key.contains("servicemonitors")).collect();
    assert_eq!(left, Vec::<String>::new());
    let classes = here.kubectl("get priorityclasses -o name").await?;
    assert!(!classes.contains("istio-kyma-priority"), "{classes}");
    let told = site.mizzen("reconcile --delete -y").await.well();
    assert!(told.contains("Istio is not installed"), "{told}");
    Ok(())
}

const SECRET: (&str, &str) = ("", "Secret");
const NAMESPACE: (&str, &str) = ("", "Namespace");
/// As another module and as somebody by hand would make them.
const OTHERS: &str = "apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: kyma-gateway, namespace: kyma-system, labels: { kyma-project.io/module: api-gateway } }
spec:
  selector: { app: somebody }
  servers:
  - { port: { number: 80, name: http, protocol: HTTP }, hosts: [a.example] }
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: istio-system }
spec: { mtls: { mode: PERMISSIVE } }
";

#[tokio::test(flavor = "multi_thread")]
async fn what_others_have_made_is_neither_taken_nor_lost() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let site = &here.site;
    let all = format!("reconcile {DOMAIN}");

    // A namespace that was there before stays, with what is in it.
    here.kubectl("create namespace istio-system").await?;
    here.kubectl("create secret generic mine -n istio-system --from-literal=a=b").await?;
    site.mizzen(&all).await.well();
    let told = site.mizzen("reconcile --delete -y").await.well();
    println!("{told}");
    let secret = here.get(SECRET, "istio-system", "mine").await.unwrap();
    assert_eq!(secret["metadata"].get("deletionTimestamp"), None);
    let mesh = here.get(NAMESPACE, "", "istio-system").await.unwrap();
    assert_eq!(mesh["metadata"].get("deletionTimestamp"), None, "{mesh}");
    assert!(here.get(DEPLOYMENT, "istio-system", "istiod").await.is_none());
    assert!(here.get(NAMESPACE, "", "kyma-system").await.is_none());
    here.kubectl("delete namespace istio-system --timeout=60s").await?;

    // One that was made here stays as long as something of somebody's is in it: a pod of nobody's, too.
    site.mizzen(&all).await.well();
    here.kubectl("create secret generic mine -n istio-system --from-literal=a=b").await?;
    here.kubectl("run bare -n kyma-system --image=app --restart=Never").await?;
    let plan = site.mizzen("reconcile --delete --dry-run").await.well();
    for stays in [
        "the namespace istio-system stays: Secret istio-system/mine is in it",
        "the namespace kyma-system stays: Pod kyma-system/bare is in it",
    ] {
        assert!(plan.contains(stays), "{plan}");
    }
    assert!(!plan.contains("Namespace "), "{plan}");
    let told = site.mizzen("reconcile --delete -y").await.well();
    assert!(told.contains("the namespace istio-system stays: Secret istio-system/mine is in it"), "{told}");
    assert!(here.get(SECRET, "istio-system", "mine").await.is_some());
    assert!(here.get(("", "Pod"), "kyma-system", "bare").await.is_some());
    here.kubectl("delete secret mine -n istio-system").await?;
    here.kubectl("delete pod bare -n kyma-system --force").await?;
    site.mizzen("reconcile --delete -y").await.well();
    assert!(here.get(NAMESPACE, "", "istio-system").await.is_none());
    assert!(here.get(NAMESPACE, "", "kyma-system").await.is_none());

    // Objects of somebody's, by names that are known here: neither written, nor marked, nor deleted with the definition of their kind.
    site.mizzen("reconcile --components cluster-essentials,istio").await.well();
    site.server.apply(OTHERS).await?;
    let of = async |kind, namespace, name| {
        let live = here.get(kind, namespace, name).await.unwrap();
        (live["metadata"]["resourceVersion"].clone(), live["spec"].clone())
    };
    let both = async || {
        (of(GATEWAY, "kyma-system", "kyma-gateway").await, of(PEER, "istio-system", "default").await)
    };
    let before = both().await;
    for line in [format!("{all} --dry-run"), all.clone(), all.clone()] {
        let told = site.mizzen(&line).await.well();
        for note in [
            "Gateway kyma-system/kyma-gateway is somebody else's, and is left as it is",
            "PeerAuthentication istio-system/default is somebody else's, and is left as it is",
        ] {
            assert!(told.contains(note), "{line}: {told}");
        }
        assert_eq!(both().await, before, "{line}");
    }
    assert!(here.get(SERVICE, "istio-system", "istio-healthz").await.is_some());
    let held = site.mizzen("reconcile --delete -y").await.badly();
    assert!(held.contains("block deletion: Gateway kyma-system/kyma-gateway, PeerAuthentication"), "{held}");
    assert_eq!(both().await, before);
    assert!(here.get(SERVICE, "istio-system", "istio-healthz").await.is_some(), "where one stays all do");
    Ok(())
}

const RESOURCES: [((&str, &str), &str, &str); 3] = [
    (GATEWAY, "kyma-system", "kyma-gateway"),
    (SERVICE, "istio-system", "istio-healthz"),
    (PEER, "istio-system", "default"),
];
/// Somebody's, which would go with the definition of its kind.
const RULE: &str = "apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: mine, namespace: default }
spec: { host: a.example }
";
/// As the operator has it while it keeps a mesh.
const KEPT: &str = "apiVersion: operator.kyma-project.io/v1alpha2
kind: Istio
metadata:
  name: default
  namespace: kyma-system
  finalizers: [istios.operator.kyma-project.io/istio-installation]
";

#[tokio::test(flavor = "multi_thread")]
async fn where_the_mesh_has_to_stay_nothing_goes() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let site = &here.site;
    let definition = site.mizzen_alone("operator manifest").await.well();
    site.mizzen(&format!("reconcile {DOMAIN}")).await.well();
    site.server.apply(&definition).await?;
    here.kubectl("wait --for=condition=Established crd istios.operator.kyma-project.io --timeout=60s")
        .await?;

    let resources = async || {
        let mut versions = Vec::new();
        for (kind, namespace, name) in RESOURCES {
            let live = here.get(kind, namespace, name).await.unwrap();
            versions.push(live["metadata"]["resourceVersion"].clone());
        }
        versions
    };
    let stays = async |reasons: &[&str]| {
        let before = (whole(&here).await, resources().await);
        for line in ["reconcile --delete -y", "reconcile --delete", "reconcile --delete --dry-run"] {
            let told = site.mizzen(line).await.badly();
            println!("{line}\n{told}");
            for reason in reasons {
                assert_eq!(told.matches(reason).count(), 1, "{line}: {told}");
            }
            assert!(told.contains("istio-resources: not started"), "{line}: {told}");
            assert!(told.contains("nothing was written"), "{line}: {told}");
            assert!(!told.contains("istiod needs it"), "it would go, too: {told}");
            cut::same(line, &whole(&here).await, &before.0);
            assert_eq!(resources().await, before.1, "{line}");
        }
    };
    let rule = "block deletion: DestinationRule default/mine. ";
    let operator = "Istio kyma-system/default is there, and its operator keeps the mesh";
    site.server.apply(RULE).await?;
    stays(&[rule]).await;
    site.server.apply(KEPT).await?;
    stays(&[rule, operator]).await;
    here.kubectl("delete destinationrule mine").await?;
    stays(&[operator]).await;

    // Another mesh needs the essentials: all that is asked for is looked at, not just what comes first.
    let patch = r#"{"metadata":{"finalizers":null}}"#;
    let patch = ["patch", "istio", "default", "-n", "kyma-system", "--type=merge", "-p", patch];
    site.server.kubectl(&patch).await?;
    site.mizzen("install -y --set profile=minimal --set revision=canary").await.well();
    stays(&["Deployment istio-system/istiod-canary needs it: delete that first"]).await;
    Ok(())
}

/// What is there, beside what a cluster has by itself.
async fn whole(here: &Operated) -> BTreeMap<String, Value> {
    let mut all = here.site.state().await;
    let beside = [
        (GATEWAY, "kyma-system", "kyma-gateway"),
        (SERVICE, "istio-system", "istio-healthz"),
        (PEER, "istio-system", "default"),
        (("scheduling.k8s.io", "PriorityClass"), "", "istio-kyma-priority"),
    ];
    for (kind, namespace, name) in beside {
        if let Some(object) = here.get(kind, namespace, name).await {
            all.insert(format!("{} {namespace}/{name}", kind.1), cleaned(&object));
        }
    }
    for object in all.values_mut().filter(|object| object["kind"] == "Deployment") {
        // Autoscalers have their way in their own time.
        object["spec"].as_object_mut().unwrap().remove("replicas");
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let (site, faults) = (&here.site, here.site.server.faults().await?);
    let cut_off = faults.kubeconfig_file();
    let lines = [format!("reconcile {DOMAIN}"), "reconcile --delete -y".to_owned()];
    let mut undisturbed = Vec::new();
    for line in &lines {
        let (writes, ended) = cut::counted(&faults, site.run(Path::new(BINARY), &cut_off, line)).await;
        ended.well();
        let (points, state) = (cut::points(writes, 2), whole(&here).await);
        println!("{line}: {writes} writes, cut at {points:?}, {} objects", state.len());
        undisturbed.push((line, points, state));
    }
    assert!(undisturbed[0].2.len() > 50 && undisturbed[1].2.is_empty(), "{:?}", undisturbed[1].2.keys());
    let rounds = undisturbed.iter().map(|(_, points, _)| points.len()).max().unwrap();
    for round in 0..rounds {
        for (line, points, state) in &undisturbed {
            if let Some(n) = points.get(round)
                && let Some(ended) =
                    cut::at_write(&faults, *n, site.run(Path::new(BINARY), &cut_off, line)).await?
            {
                // A write that met another's is written again: the counted run may have had one more.
                assert_eq!(Some(n), points.last(), "it ended before: {}{}", ended.out, ended.err);
                ended.well();
            }
            site.mizzen(line).await.well();
            cut::same(&format!("{line}, cut at write {:?}", points.get(round)), &whole(&here).await, state);
        }
    }
    Ok(())
}

/// A pod's own containers, as injection would have added them.
fn template(name: &str, image: Option<&str>) -> Value {
    let mut containers = vec![json!({ "name": "app", "image": "app" })];
    let mut annotations = json!({ "a": "b" });
    if let Some(image) = image {
        containers.push(json!({ "name": "istio-proxy", "image": image }));
        annotations["sidecar.istio.io/status"] = r#"{"containers":["istio-proxy"]}"#.into();
    }
    json!({
        "metadata": { "labels": { "app": name }, "annotations": annotations },
        "spec": { "containers": containers },
    })
}

fn workload(kind: &str, namespace: &str, name: &str, image: Option<&str>) -> Value {
    let mut spec =
        json!({ "selector": { "matchLabels": { "app": name } }, "template": template(name, image) });
    if kind != "DaemonSet" {
        spec["replicas"] = 2.into();
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = name.into();
    }
    json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name, "namespace": namespace }, "spec": spec })
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_reset_once_and_versions_follow_the_rules() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = Operated::start().await?;
    let site = &here.site;
    let line = "reconcile --components cluster-essentials,istio";
    site.mizzen(line).await.well();
    let gateway = here.get(DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
    let right = operated::image(&gateway).as_str().unwrap().to_owned();
    let (hub, _) = right.rsplit_once(':').unwrap();
    let old = format!("{hub}:0.0.9");

    here.kubectl("create namespace shop").await?;
    here.kubectl("label namespace shop istio-injection=enabled").await?;
    here.kubectl("create namespace plain").await?;
    let mut bare = template("bare", None);
    bare["apiVersion"] = "v1".into();
    bare["kind"] = "Pod".into();
    bare["metadata"]["name"] = "bare".into();
    bare["metadata"]["namespace"] = "shop".into();
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "loose", "namespace": "shop" },
        "spec": { "replicas": 1, "selector": { "matchLabels": { "app": "loose" } }, "template": template("loose", None) },
    });
    let all = [
        workload("Deployment", "shop", "new", Some(&right)),
        workload("Deployment", "shop", "without", None),
        workload("StatefulSet", "shop", "set", None),
        workload("DaemonSet", "shop", "agents", None),
        workload("Deployment", "plain", "outside", None),
        set,
        bare,
    ];
    site.server.apply(&json!({ "apiVersion": "v1", "kind": "List", "items": all }).to_string()).await?;
    let settled = async || {
        for kind in ["deployment/new", "deployment/without", "statefulset/set", "daemonset/agents"] {
            here.kubectl(&format!("rollout status {kind} -n shop --timeout=120s")).await?;
        }
        here.kubectl("rollout status deployment/outside -n plain --timeout=120s").await?;
        here.kubectl("wait pod --all -n shop --for=condition=Ready --timeout=120s").await
    };
    settled().await?;
    let restarted = async |kind: &str, namespace: &str, name: &str| {
        let live = here.get(("apps", kind), namespace, name).await.unwrap();
        let annotations = &live["spec"]["template"]["metadata"]["annotations"];
        annotations.get("kubectl.kubernetes.io/restartedAt").cloned()
    };

    // While nobody injects, nothing is restarted.
    let told = site.mizzen(line).await.well();
    assert!(told.contains("nobody serves the injection webhook"), "{told}");
    assert_eq!(restarted("Deployment", "shop", "without").await, None);

    // Group (c), and each owner in its way. What has the right sidecar, or need not have one, is left alone.
    here.injection_is_served().await?;
    let plan = site.mizzen(&format!("{line} --dry-run")).await.well();
    assert!(plan.contains("Deployment shop/without is restarted: it should have a sidecar"), "{plan}");
    assert_eq!(restarted("Deployment", "shop", "without").await, None, "it was only planned");
    let loose = here.kubectl("get pods -n shop -l app=loose -o name").await?;
    let told = site.mizzen(line).await.well();
    println!("{told}");
    let mut times = Vec::new();
    for (kind, name) in [("Deployment", "without"), ("StatefulSet", "set"), ("DaemonSet", "agents")] {
        let time = restarted(kind, "shop", name).await;
        assert!(time.is_some(), "{kind} {name}: {told}");
        times.push(time);
    }
    assert_eq!(restarted("Deployment", "shop", "new").await, None);
    assert_eq!(restarted("Deployment", "plain", "outside").await, None);
    let another = async || {
        let now = here.kubectl("get pods -n shop -l app=loose -o name").await.unwrap_or_default();
        Seen::when(now != loose, || now)
    };
    wait::until("another pod in the place of the one that was evicted", PATIENCE, another).await?;
    let warned = here.get(("", "Pod"), "shop", "bare").await.unwrap();
    let warning = &warned["metadata"]["annotations"]["istio.reconciler.kyma-project.io/proxy-reset-warning"];
    assert!(warning.as_str().unwrap().contains("OwnerReferences is Job or was not found"), "{warning}");
    assert_eq!(warned["metadata"]["annotations"]["a"], "b");

    // Once for one cause: nobody injects here, so that they are what they were. A pod that was given up is not told again.
    settled().await?;
    let told = site.mizzen(line).await.well();
    assert!(
        told.contains("Deployment shop/without: it should have a sidecar, though it was restarted"),
        "{told}"
    );
    assert!(!told.contains("Pod shop/bare"), "{told}");
    for ((kind, name), time) in
        [("Deployment", "without"), ("StatefulSet", "set"), ("DaemonSet", "agents")].into_iter().zip(times)
    {
        assert_eq!(restarted(kind, "shop", name).await, time, "{kind} {name}");
    }

    // Row 1: a proxy of another version stops everything, unless somebody insists.
    let up = format!("{line} --value istio.tag=0.2.0");
    let patched = format!("{line} --value istio.tag=0.1.1");
    site.server.apply(&workload("Deployment", "plain", "outside", Some(&old)).to_string()).await?;
    here.kubectl("rollout status deployment/outside -n plain --timeout=120s").await?;
    let told = site.mizzen(&patched).await.badly();
    let words = "Istio components version mismatch detected: pilot version: 0.1.0, data plane version: 0.0.9";
    assert!(told.contains(words), "{told}");
    assert_eq!(restarted("Deployment", "plain", "outside").await, None);
    let told = site.mizzen(&format!("{patched} --force --dry-run")).await.well();
    assert!(told.contains("Istio is brought to 0.1.1"), "{told}");

    // A control plane that has the wanted version goes on with its proxies. Then group (a).
    let told = site.mizzen(line).await.well();
    assert!(told.contains("Deployment plain/outside is restarted: its sidecar has another image"), "{told}");
    here.kubectl("delete deployment outside -n plain --cascade=foreground --timeout=60s").await?;

    // Upgraded; and again, though proxies are what they were: nobody injects here.
    let told = site.mizzen(&up).await.well();
    assert!(told.contains("Deployment shop/new is restarted: its sidecar has another image"), "{told}");
    here.kubectl("rollout status deployment/new -n shop --timeout=120s").await?;
    let told = site.mizzen(&up).await.well();
    assert!(
        told.contains("Deployment shop/new: its sidecar has another image, though it was restarted"),
        "{told}"
    );
    let image = async || {
        let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();
        operated::image(&istiod).as_str().unwrap().to_owned()
    };
    assert!(image().await.ends_with(":0.2.0"));

    // Back to an older version only where somebody insists.
    here.kubectl("delete deployment new -n shop --cascade=foreground --timeout=60s").await?;
    here.kubectl("delete priorityclass istio-kyma-priority").await?;
    let told = site.mizzen(line).await.badly();
    let words =
        "target Istio version (0.1.0) is lower than current version (0.2.0) - downgrade not supported";
    assert!(told.contains(words) && told.contains("nothing was done"), "{told}");
    assert!(image().await.ends_with(":0.2.0"));
    let class = async || here.get(("scheduling.k8s.io", "PriorityClass"), "", "istio-kyma-priority").await;
    assert!(class().await.is_none(), "nor was what would have come first");
    site.mizzen(&format!("{line} --force")).await.well();
    assert!(class().await.is_some());
    assert!(image().await.ends_with(":0.1.0"));
    Ok(())
}

/// What is wrong with a line is told before any cluster is asked.
#[tokio::test]
async fn a_line_that_cannot_be_meant_is_refused() -> Result<()> {
    let run = async |line: &str| {
        let mut command = tokio::process::Command::new(BINARY);
        let command = command.args(line.split_whitespace()).env_clear().env("ISTIOCTL_PATH", "/bin/istioctl");
        let output = command.output().await.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("components-of-a-line.yaml");
    std::fs::write(&file, "components: [{ name: istio }, { name: logging }]").unwrap();
    let in_file = format!("reconcile --components-file {}", file.display());
    let both = format!("{in_file} --components istio");
    let folder = format!("reconcile --components-file {}", file.parent().unwrap().display());
    let no_list = file.with_file_name("components-that-are-no-list.yaml");
    std::fs::write(&no_list, "prerequisites: []\ncomponents:\n  name: istio\n").unwrap();
    let no_list = format!("reconcile --components-file {}", no_list.display());
    let cases = [
        (
            "reconcile --components istoi",
            "there is no component `istoi`: there are cluster-essentials, istio, istio-resources; did you mean `istio`?",
        ),
        ("reconcile --components istio@default", "istio is in the namespace istio-system"),
        (&in_file, "there is no component `logging`"),
        (&both, "cannot be used with"),
        (&folder, "it is a folder, and has to be a file"),
        (&no_list, "components-that-are-no-list.yaml:3:3: `components` must be a list"),
        ("reconcile --value domainName=a", "the value `domainName` is for nobody"),
        ("reconcile --value global.domainName=*.a", "global.domainName `*.a`"),
        ("reconcile --profile tiny", "tiny"),
        ("reconcile --version a/b", "it becomes a label"),
    ];
    for (line, words) in cases {
        let (code, err) = run(line).await;
        assert_eq!(code, Some(2), "{line}: {err}");
        assert!(err.contains(words), "{line}: {err}");
    }
    let unread = "--value global.isLocalEnv=true,istio.namespace=foo";
    let (code, err) = run(&format!("reconcile --kubeconfig /nowhere/config {unread}")).await;
    assert_eq!(code, Some(1), "{err}");
    for key in ["global.isLocalEnv", "istio.namespace"] {
        assert!(err.contains(&format!("the value {key} has no effect here")), "{err}");
    }
    assert!(err.contains("ISTIOCTL_PATH is set, and not used"), "{err}");
    Ok(())
}
