//! Several versions of upstream's charts in one operator. Istio's sources are there in one version only: they are stamped as its releases
//! are, so that they are taken for others. What an operator says to each of them is what that version knows.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{
    Kyma, resource,
    workloads::{another_day, workload},
};
use mizzen_testkit::{
    Controllers, Part, Result,
    faults::{Fault, Verb},
    needs,
    wait::{PATIENCE, Seen},
};
use operated::DEPLOYMENT;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

const HOME: (&str, &str) = ("kyma-system", "default");
const WINDOW: &str = "restarter.istio-operator.kyma-project.io/maintenance-window";
const CAUSE: &str = "mizzen.io/restarted-for";
/// What the behaviour of the version before is called by each version.
const OF_29: &str = "DISABLE_TRACK_REMAINING_CB_METRICS";
const OF_30: &str = "PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE";
const OF_31: &str = "PILOT_ENABLE_STRICT_GATEWAY_MERGING";

/// Upstream's charts as a release of this version has them.
fn stamped(root: &Path, version: &str) -> PathBuf {
    let folder = root.join(format!("istio-{version}/manifests"));
    copy(&site::upstream(), &folder, &|name, text| match name {
        "Chart.yaml" => text.replace("ersion: 1.0.0", &format!("ersion: {version}")),
        "default.yaml" => text.replace("tag: latest", &format!("tag: {version}")),
        _ => text,
    });
    folder
}

fn copy(from: &Path, to: &Path, change: &dyn Fn(&str, String) -> String) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
        if path.is_dir() {
            copy(&path, &to.join(&name), change);
        } else if let Ok(text) = fs::read_to_string(&path) {
            fs::write(to.join(&name), change(name.to_str().unwrap(), text)).unwrap();
        }
    }
}

fn environment(workload: &Value) -> Vec<(String, String)> {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    let discovery = containers.iter().find(|container| container["name"] == "discovery").unwrap();
    let all = discovery["env"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.map(|variable| (text(&variable["name"]), text(&variable["value"]))).collect()
}

/// Of those three, which a control plane was given, and that they are off.
fn turned_back(workload: &Value) -> Vec<String> {
    let all = environment(workload);
    let known = all.into_iter().filter(|(name, _)| [OF_30, OF_31].contains(&name.as_str()));
    known
        .map(|(name, value)| {
            assert_eq!(value, "false", "{name}");
            name
        })
        .collect()
}

async fn until_installed(kyma: &Kyma, operator: &Part, version: &str) -> Result<()> {
    let probe = async || {
        let status = kyma.get(HOME.0, HOME.1).await.unwrap_or_default()["status"].clone();
        let there = status["installedVersion"] == version && status["state"] == "Ready";
        Seen::when(there, || status.to_string())
    };
    operator.until(&format!("Istio {version}"), PATIENCE, probe).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_goes_through_the_charts_of_each_version_on_the_way() -> Result<()> {
    needs!(Controllers::NEEDS, &["modules/istio"]);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("versions-{}", std::process::id()));
    let places = ["1.29.5", "1.30.2", "1.31.0"].map(|version| stamped(&home, version).display().to_string());
    let root = home.display().to_string();
    let kyma = Kyma::start_with(&format!("--istio-manifests {root}")).await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let istiod = async || here.get(DEPLOYMENT, "istio-system", "istiod").await.unwrap();

    // The oldest alone.
    let (operator, _) = kyma.operator(&["--istio-manifests", &places[0]]);
    server
        .apply(&resource(HOME.0, HOME.1, "{ compatibilityMode: true, mizzen: { distribution: istio } }"))
        .await?;
    until_installed(&kyma, &operator, "1.29.5").await?;
    let old = istiod().await;
    assert_eq!(turned_back(&old), Vec::<String>::new());
    assert!(environment(&old).contains(&(OF_29.to_owned(), "false".to_owned())));
    operator.kill();

    // Over a minor version nobody goes: what is there stays.
    let (operator, _) = kyma.operator(&["--istio-manifests", &places[0], "--istio-manifests", &places[2]]);
    let status = kyma.says(&operator, HOME, "Warning", "IstioVersionUpdateNotAllowed").await?;
    assert!(status["description"].as_str().unwrap().contains("exceed one minor version"), "{status}");
    assert_eq!(
        (status["installedVersion"].as_str(), istiod().await["spec"]["template"].clone()),
        (Some("1.29.5"), old["spec"]["template"].clone())
    );
    operator.kill();

    // With the charts between, it goes step by step; and not on from the one between before the proxies of the first had their turn.
    here.injection_is_served().await?;
    here.kubectl("create namespace shop").await?;
    let gateway = here.get(DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
    let mut web = workload("Deployment", "web", operated::image(&gateway).as_str().unwrap(), &json!({}));
    web["metadata"]["annotations"] = json!({ WINDOW: format!("{} 00:00-23:59", another_day()) });
    server.apply(&web.to_string()).await?;
    here.kubectl("rollout status deployment web -n shop --timeout=60s").await?;
    // One that is cut off when it looks whose proxies they are has seen none that waits.
    let faults = server.faults().await?;
    let cut = faults.inject(Fault::break_off().on(Verb::Read).path("shop/replicasets").next(1));
    let (cut_off, _) = kyma.operator_through(&faults.kubeconfig_file(), &["--istio-manifests", &root]);
    let met = async || Seen::when(cut.hits() > 0, || "nobody asked for the owner of a pod".to_owned());
    cut_off.until("the proxies to be looked at", PATIENCE, met).await?;
    cut_off.kill();
    assert_eq!(kyma.get(HOME.0, HOME.1).await.unwrap()["status"]["installedVersion"], "1.30.2");
    let (operator, _) = kyma.operator(&["--istio-manifests", &root]);
    kyma.comes_to(&operator, HOME, "Blocked").await?;
    kyma.look(&operator).await?;
    let status = kyma.get(HOME.0, HOME.1).await.unwrap()["status"].clone();
    assert_eq!(
        [&status["state"], &status["installedVersion"], &status["description"]],
        [
            "Processing",
            "1.30.2",
            "Istio 1.30.2 is installed, 1.31 follows when 1 workload has had its turn to be restarted"
        ]
    );
    assert_eq!(status["nextVersion"], "1.31");
    assert_eq!(status["outdatedProxies"]["waiting"], json!({ "MaintenanceWindow": 1 }));
    here.kubectl(&format!("annotate deployment web -n shop {WINDOW}-")).await?;
    kyma.look(&operator).await?;
    let turn = async || {
        let sets = here.cluster.list_in("apps", "ReplicaSet", "shop", "app=web").await.unwrap();
        let cause = |set: &Value| set["spec"]["template"]["metadata"]["annotations"][CAUSE].to_string();
        let causes: Vec<String> = sets.iter().map(cause).collect();
        Seen::when(causes.iter().any(|cause| cause.contains("1.30.2")), || format!("{causes:?}"))
    };
    operator.until("its turn, at the version between", PATIENCE, turn).await?;
    here.kubectl("delete deployment web -n shop --cascade=foreground").await?;
    kyma.look(&operator).await?;
    until_installed(&kyma, &operator, "1.31.0").await?;
    // Each version is told in its own words.
    assert_eq!(turned_back(&istiod().await), [OF_31]);
    let sets = here.cluster.list_in("apps", "ReplicaSet", "istio-system", "app=istiod").await.unwrap();
    let tag = |set: &Value| operated::image(set).as_str().unwrap().rsplit_once(':').unwrap().1.to_owned();
    let mut between: Vec<&Value> = sets.iter().filter(|set| tag(set) == "1.30.2").collect();
    let between = between.pop().unwrap_or_else(|| panic!("{:?}", sets.iter().map(tag).collect::<Vec<_>>()));
    assert_eq!(turned_back(between), [OF_30]);

    // Two sets of charts of one version are one too many.
    let twice = here
        .site
        .mizzen(&format!(
            "operator run --kind Istio --istio-manifests {} --istio-manifests {}",
            places[2], places[2]
        ))
        .await;
    assert_eq!(twice.code, Some(2), "{}", twice.err);
    assert!(twice.err.contains("two sets of charts are of Istio 1.31"), "{}", twice.err);
    here.kubectl("delete istio default -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "default").await?;
    fs::remove_dir_all(&home).unwrap();
    Ok(())
}
