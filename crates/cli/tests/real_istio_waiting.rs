//! Workloads that have to wait to be restarted: for their turn, a window, a budget, somebody's word. None is forgotten, whatever its pods
//! show: these have the right sidecar, and have only to read something at their start.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{
    Kyma, condition, resource,
    workloads::{another_day, list, pod, workload},
};
use mizzen_testkit::{
    Controllers, Part, Result, needs,
    wait::{PATIENCE, Seen},
};
use serde_json::{Value, json};

const HOME: (&str, &str) = ("kyma-system", "default");
const NAMES: [&str; 4] = ["d1", "d2", "d3", "d4"];

/// Of what a gateway was restarted for.
const MARK: &str = "/spec/template/metadata/annotations/mizzen.io~1restarted-for";
const REVISION: &str = "deployment.kubernetes.io/revision";

struct Shop<'k> {
    kyma: &'k Kyma,
    operator: &'k Part,
}

impl Shop<'_> {
    async fn apply(&self, spec: &str) -> Result<()> {
        self.says(&["apply", "--server-side", "--force-conflicts"], spec).await
    }

    /// To the end of every look that comes of it: what is applied next brings one look, and no other for a while.
    async fn apply_first(&self, spec: &str) -> Result<()> {
        self.apply(spec).await?;
        self.kyma.look(self.operator).await
    }

    /// As a whole: what is not in it is not there any more.
    async fn replace(&self, spec: &str) -> Result<()> {
        self.says(&["replace"], spec).await
    }

    async fn says(&self, how: &[&str], spec: &str) -> Result<()> {
        let generation = async || self.resource().await["metadata"]["generation"].clone();
        let before = generation().await;
        let words: Vec<&str> = how.iter().copied().chain(["-f", "-"]).collect();
        let manifest = resource(HOME.0, HOME.1, spec);
        // A status that is written meanwhile is no reason to give up.
        let said = async || match self.kyma.here.site.server.kubectl_reading(&manifest, &words).await {
            Err(error) if !error.to_string().contains("the object has been modified") => {
                Seen::Never(error.to_string())
            }
            result => Seen::from_result(result.map(drop)),
        };
        self.operator.until("the resource to be taken", PATIENCE, said).await?;
        assert_ne!(generation().await, before, "{spec} is what it was");
        self.seen().await
    }

    async fn resource(&self) -> Value {
        self.kyma.get(HOME.0, HOME.1).await.unwrap_or_default()
    }

    /// The spec as it is now was looked at, to the end.
    async fn seen(&self) -> Result<()> {
        let seen = async || {
            let resource = self.resource().await;
            let is_current = resource["status"]["observedGeneration"] == resource["metadata"]["generation"];
            let is_over = resource["status"]["state"] != "Processing";
            Seen::when(is_current && is_over, || resource["status"].to_string())
        };
        self.operator.until("the spec to be seen", PATIENCE, seen).await
    }

    /// How often each was rolled out.
    async fn rollouts(&self) -> Vec<i64> {
        let mut all = Vec::new();
        for name in NAMES {
            let one = self.kyma.here.get(operated::DEPLOYMENT, "shop", name).await.unwrap();
            // An annotation of its own gives it another generation, and no new pods.
            let revision = &one["metadata"]["annotations"][REVISION];
            all.push(revision.as_str().unwrap().parse::<i64>().unwrap() - 1);
        }
        all
    }

    /// Looks again until all are restarted that may be, and have settled.
    async fn until(&self, rollouts: [i64; 4]) -> Result<()> {
        let probe = async || {
            self.kyma.look(self.operator).await.unwrap();
            let now = self.rollouts().await;
            assert!(now.iter().zip(&rollouts).all(|(now, last)| now <= last), "too often: {now:?}");
            Seen::when(now == rollouts, || format!("{now:?}"))
        };
        self.operator.until(&format!("rollouts {rollouts:?}"), PATIENCE * 2, probe).await?;
        self.rolled_out().await
    }

    async fn rolled_out(&self) -> Result<()> {
        for name in NAMES {
            self.kyma
                .here
                .kubectl(&format!("rollout status deployment {name} -n shop --timeout=60s"))
                .await?;
        }
        Ok(())
    }

    async fn waiting(&self) -> Value {
        self.resource().await["status"]["outdatedProxies"]["waiting"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_to_wait_is_counted_and_restarted_when_its_time_has_come() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, _) = kyma.operator(&[]);
    let shop = Shop { kyma: &kyma, operator: &operator };
    site.server.apply(&resource(HOME.0, HOME.1, "{ compatibilityMode: false }")).await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    here.until_scaled().await?;
    kyma.look(&operator).await?;
    here.injection_is_served().await?;
    let gateway =
        async || here.get(operated::DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
    let right = operated::image(&gateway().await).as_str().unwrap().to_owned();
    here.kubectl("create namespace shop").await?;
    let all = NAMES.map(|name| workload("Deployment", name, &right, &json!({})));
    site.server.apply(&list(&all)).await?;
    shop.rolled_out().await?;

    // Replaced as a whole, without all that was noted at it: what a gateway reads only at its start is noticed.
    let restarts_of_the_gateway = async || gateway().await["metadata"]["annotations"][REVISION].clone();
    assert_eq!(restarts_of_the_gateway().await, "1");
    for (spec, cause) in
        [("{ config: { numTrustedProxies: 2 } }", "[2,null,null,[]]"), ("{}", "[null,null,null,[]]")]
    {
        shop.replace(spec).await?;
        assert_eq!(gateway().await.pointer(MARK).unwrap(), cause);
    }
    let status = shop.resource().await["status"].clone();
    assert_eq!((&status["installedProgram"], &status["applied"]), (&json!("mizzen"), &json!({})), "{status}");

    // One at a time: the others are told, looked at in a minute, and get their turn.
    let dns = "config: { enableDNSProxying: true }";
    shop.apply_first(&format!("{{ {dns}, mizzen: {{ restart: {{ enabled: false }} }} }}")).await?;
    shop.apply(&format!("{{ {dns}, mizzen: {{ restart: {{ batchSize: 1 }} }} }}")).await?;
    kyma.comes_to(&operator, HOME, "Blocked").await?;
    assert_eq!(shop.waiting().await, json!({ "BatchSize": 3 }));
    // Its controller counts it a moment later.
    let counted = async || {
        let rollouts = shop.rollouts().await;
        Seen::when(rollouts.iter().sum::<i64>() == 1, || format!("{rollouts:?}"))
    };
    operator.until("one to be rolled out", PATIENCE, counted).await?;
    shop.until([1, 1, 1, 1]).await?;
    kyma.look(&operator).await?;
    assert_eq!(shop.resource().await["status"].get("outdatedProxies"), None, "all have read it");

    // Not today: they wait for the window, and go when it is not there any more.
    let matched = |expression: &str, further: &str| {
        format!("{{ config: {{ proxyStatsMatcher: {{ inclusionRegexps: [{expression}] }} }}{further} }}")
    };
    let window = format!(", mizzen: {{ restart: {{ windows: ['{} 00:00-23:00'] }} }}", another_day());
    shop.apply(&matched("a", &window)).await?;
    kyma.comes_to(&operator, HOME, "Blocked").await?;
    assert_eq!(shop.waiting().await, json!({ "MaintenanceWindow": 4 }));
    assert_eq!(shop.rollouts().await, [1, 1, 1, 1]);
    here.kubectl("rollout status deployment istio-ingressgateway -n istio-system --timeout=90s").await?;
    let before = restarts_of_the_gateway().await;
    shop.replace(&matched("a", "")).await?;
    shop.until([2, 2, 2, 2]).await?;
    // One who replaces the resource takes away all that is noted at it: what changes with that is noticed, and nothing else.
    assert_eq!(restarts_of_the_gateway().await, before);
    shop.replace("{ config: { enableDNSProxying: true, proxyStatsMatcher: { inclusionRegexps: [a] } } }")
        .await?;
    shop.until([3, 3, 3, 3]).await?;
    assert_eq!(shop.resource().await["metadata"]["finalizers"].as_array().unwrap().len(), 1);

    // Whoever is excluded is counted as long as that is so, and restarted afterwards.
    here.kubectl("annotate deployment d2 -n shop restarter.istio-operator.kyma-project.io/exclude=true")
        .await?;
    shop.apply(&matched("b", "")).await?;
    shop.until([4, 3, 4, 4]).await?;
    kyma.look(&operator).await?;
    let status = shop.resource().await["status"].clone();
    assert_eq!((&status["state"], &status["outdatedProxies"]["count"]), (&json!("Ready"), &json!(1)));
    assert_eq!(status["outdatedProxies"]["waiting"], json!({ "Excluded": 1 }));
    assert_eq!(status["outdatedProxies"]["workloads"], json!(["shop/d2"]));
    here.kubectl("annotate deployment d2 -n shop restarter.istio-operator.kyma-project.io/exclude-").await?;
    shop.until([4, 4, 4, 4]).await?;

    // Somebody who can never be restarted is no reason to forget the others, nor to look at them once an hour; and what is taken back is
    // read by whoever had read it.
    site.server.apply(&pod("bare", "registry.example/proxyv2:old").to_string()).await?;
    here.kubectl("wait pod bare -n shop --for=condition=Ready --timeout=60s").await?;
    shop.apply_first(&matched("c", ", mizzen: { restart: { enabled: false } }")).await?;
    shop.apply(&matched("c", ", mizzen: { restart: { batchSize: 2 } }")).await?;
    kyma.comes_to(&operator, HOME, "Blocked").await?;
    assert_eq!(shop.waiting().await, json!({ "BatchSize": 2 }));
    let status = shop.resource().await["status"].clone();
    assert_eq!(status["state"], "Warning", "{status}");
    assert_eq!(
        condition(&status, "ProxySidecarRestartSucceeded")["reason"],
        "ProxySidecarManualRestartRequired"
    );
    shop.until([5, 5, 5, 5]).await?;
    kyma.look(&operator).await?;
    kyma.comes_to(&operator, HOME, "Noted").await?;
    shop.apply(&matched("b", "")).await?;
    shop.until([6, 6, 6, 6]).await?;
    assert_eq!(
        gateway().await.pointer(MARK).unwrap(),
        r#"[null,null,null,["b"]]"#,
        "the gateway reads it, too"
    );

    // A pod that its owner does not let go is told, though nothing can be seen at it.
    let mut set = workload("StatefulSet", "set", &right, &json!({}));
    set["spec"]["updateStrategy"] = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 1 } });
    site.server.apply(&list(&[set])).await?;
    here.kubectl("rollout status statefulset set -n shop --timeout=60s").await?;
    shop.apply(&matched("d", "")).await?;
    let told = async || {
        kyma.look(&operator).await.unwrap();
        let status = shop.resource().await["status"].clone();
        let words = condition(&status, "ProxySidecarRestartSucceeded")["message"].to_string();
        let rest = status["outdatedProxies"]["count"] == 2;
        Seen::when(rest && words.contains("shop/set") && words.contains("shop/bare"), || status.to_string())
    };
    operator.until("the set to be named", PATIENCE * 2, told).await?;
    shop.until([7, 7, 7, 7]).await?;

    // A new pod has read what there is: nobody restarts it, whatever others wait for.
    here.kubectl("delete pod -n shop -l app=d1").await?;
    shop.rolled_out().await?;
    site.server.apply(&list(&[workload("Deployment", "late", &right, &json!({}))])).await?;
    here.kubectl("rollout status deployment late -n shop --timeout=60s").await?;
    kyma.look(&operator).await?;
    assert_eq!(shop.rollouts().await, [7, 7, 7, 7]);
    let late = here.get(operated::DEPLOYMENT, "shop", "late").await.unwrap();
    assert_eq!(late["metadata"]["generation"], 1);
    Ok(())
}

/// What the gateway has to be restarted for is one restart, even if something else fails all the time.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_with_two_causes_is_restarted_once_though_something_keeps_failing() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, site) = (&kyma.here, &kyma.here.site);
    let (operator, _) = kyma.operator(&["--failure-max-delay", "1s"]);
    site.server.apply(&resource(HOME.0, HOME.1, "{ compatibilityMode: false }")).await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    let gateway =
        async || here.get(operated::DEPLOYMENT, "istio-system", "istio-ingressgateway").await.unwrap();
    let restarts = || {
        operator
            .log()
            .lines()
            .filter(|line| line.contains("restarting") && line.contains("ingressgateway"))
            .count()
    };
    assert_eq!(restarts(), 0, "it has just started");
    kyma.forbid(("security.istio.io", "peerauthentications"), "false").await?;
    here.kubectl("delete peerauthentication default -n istio-system").await?;
    let spec = "{ config: { numTrustedProxies: 2 }, networkPoliciesEnabled: true }";
    site.server.apply(&resource(HOME.0, HOME.1, spec)).await?;
    kyma.says(&operator, HOME, "Error", "CustomResourcesReconcileFailed").await?;
    let template = gateway().await["spec"]["template"].clone();
    let failures = || operator.log().lines().filter(|line| line.contains("outcome=Failed")).count();
    let (before, more) = (failures(), 5);
    let failed = async || Seen::when(failures() >= before + more, || failures().to_string());
    operator.until("some more attempts", PATIENCE, failed).await?;
    assert_eq!(restarts(), 1, "both causes are one restart");
    assert_eq!(gateway().await["spec"]["template"], template);
    let marks = gateway().await["spec"]["template"]["metadata"]["annotations"].clone();
    assert_eq!(marks["mizzen.io/restarted-for-policies"], "networkPoliciesEnabled is true");
    assert_eq!(marks["mizzen.io/restarted-for"], "[2,null,null,[]]");
    kyma.allow("peerauthentications").await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    assert_eq!(restarts(), 1);

    // What was applied last is forgotten: the gateway's own mark tells that it has read something else.
    let nonsense = json!({
        "metadata": { "annotations": { "operator.kyma-project.io/lastAppliedConfiguration": "{\"config\":{\"numTrustedProxies\":\"x\"}}" } },
        "spec": { "config": { "numTrustedProxies": 7 } },
    });
    site.server
        .kubectl(&["patch", "istio", HOME.1, "-n", HOME.0, "--type=merge", "-p", &nonsense.to_string()])
        .await?;
    kyma.says(&operator, HOME, "Ready", "ReconcileSucceeded").await?;
    assert_eq!(restarts(), 2);
    Ok(())
}
