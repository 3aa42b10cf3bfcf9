//! The operator for the `Istio` resource cut off in the middle of its work: the next one arrives where an undisturbed one does.
//!
//! A few points by default; all of them with `MIZZEN_EVERY_CUT=1`, which takes half an hour on a quiet machine; from the n-th on with that number.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how many points there were is part of the result")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, SAMPLE, resource, workloads::workload};
use mizzen_testkit::{
    Controllers, Faults, Part, Result,
    faults::{Fault, Verb},
    needs,
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};
use site::cut::{points, same};
use std::collections::BTreeMap;

const SAMPLE_NAME: (&str, &str) = ("kyma-system", "istio-sample");
const WORKLOADS: usize = 6;

type Objects = BTreeMap<String, Value>;

/// What is done, one after the other.
#[derive(Clone, Copy, Debug)]
enum Step {
    Install,
    Upgrade,
    Restart,
    Remove,
}

const STEPS: [Step; 4] = [Step::Install, Step::Upgrade, Step::Restart, Step::Remove];

struct Cut {
    kyma: Kyma,
    faults: Faults,
}

impl Cut {
    /// By way of the faults. One of the later version from the upgrade on.
    fn operator(&self, step: Step) -> Part {
        let tag = if matches!(step, Step::Install) { "1.0.0" } else { "1.1.0" };
        // There is never another one, and it need not be waited for.
        let alone = ["--leader-elect=false", "--failure-max-delay", "2s"];
        self.kyma.operator_of(Some(tag), &self.faults.kubeconfig_file(), &alone).0
    }

    /// What people do, while no operator is there.
    async fn prepare(&self, step: Step) -> Result<()> {
        let (here, server) = (&self.kyma.here, &self.kyma.here.site.server);
        match step {
            Step::Install => server.apply(SAMPLE).await.map(drop),
            Step::Upgrade => Ok(()),
            Step::Restart => {
                here.injection_is_served().await?;
                self.workloads().await?;
                let wish = "{ config: { numTrustedProxies: 1, enableDNSProxying: true } }";
                server.apply(&resource(SAMPLE_NAME.0, SAMPLE_NAME.1, wish)).await.map(drop)
            }
            Step::Remove => {
                self.workloads().await?;
                here.kubectl("delete istio istio-sample -n kyma-system --wait=false").await.map(drop)
            }
        }
    }

    /// New ones.
    async fn workloads(&self) -> Result<()> {
        let here = &self.kyma.here;
        here.kubectl("delete deployment --all -n default --cascade=foreground").await?;
        for number in 0..WORKLOADS {
            here.site.server.apply(&outdated(number).to_string()).await?;
        }
        here.kubectl("wait deployment --all -n default --for=condition=Available --timeout=60s")
            .await
            .map(drop)
    }

    /// Each was restarted, and once.
    async fn restarted_once(&self) {
        let all = self.kyma.here.cluster.list_in("apps", "Deployment", "default", "").await.unwrap();
        for one in &all {
            assert_eq!(one["metadata"]["generation"], 2, "restarted once: {one}");
        }
        assert_eq!(all.len(), WORKLOADS);
    }

    /// What is there when it is done.
    async fn done(&self, step: Step, operator: &Part) -> Result<Objects> {
        let (kyma, here) = (&self.kyma, &self.kyma.here);
        match step {
            Step::Install | Step::Upgrade => {
                let tag = if matches!(step, Step::Install) { "1.0.0" } else { "1.1.0" };
                let arrived = async || {
                    let resource = kyma.get(SAMPLE_NAME.0, SAMPLE_NAME.1).await.unwrap_or_default();
                    let status = &resource["status"];
                    let there = status["state"] == "Ready" && status["installedVersion"] == tag;
                    Seen::when(there, || status.to_string())
                };
                operator.until(&format!("{tag} to be installed"), PATIENCE, arrived).await?;
                // The looks that this brings are over.
                here.until_scaled().await?;
                kyma.look(operator).await?;
                operator.until(&format!("{tag} to be well"), PATIENCE, arrived).await?;
            }
            Step::Restart => {
                // Nobody injects here: what was restarted is as old as before, which is told, and it is not restarted again. The one that
                // had only to read something has done so.
                let told = async || {
                    let looked = kyma.look(operator).await;
                    let resource = kyma.get(SAMPLE_NAME.0, SAMPLE_NAME.1).await.unwrap_or_default();
                    let status = &resource["status"];
                    let text = kyma::condition(status, "ProxySidecarRestartSucceeded").to_string();
                    let all_are_named =
                        (1..WORKLOADS).all(|number| text.contains(&format!("default/old-{number}")));
                    let all_are_done = status["outdatedProxies"]["count"] == WORKLOADS - 1
                        && status["outdatedProxies"].get("waiting").is_none();
                    Seen::when(looked.is_ok() && all_are_named && all_are_done, || status.to_string())
                };
                operator.until("all to have been restarted", PATIENCE * 2, told).await?;
                self.restarted_once().await;
            }
            Step::Remove => {
                kyma.until_gone(operator, "istio-sample").await?;
                kyma.until_no_namespace().await?;
                self.restarted_once().await;
                here.kubectl("delete deployment --all -n default --cascade=foreground").await?;
            }
        }
        let mut state = here.site.state().await;
        for (group, kind) in BESIDES {
            here.cluster.look().await.unwrap();
            for object in here.cluster.list(group, kind, "").await.unwrap() {
                let mut cleaned = site::cleaned(&object);
                // What is told of it counts, but not when it became so.
                if kind == "Istio" {
                    cleaned["status"] = timeless(object["status"].clone());
                }
                state.insert(format!("{kind} {}", object["metadata"]["name"]), cleaned);
            }
        }
        // A look was asked for by it.
        state.retain(|key, _| !key.contains("istio-features"));
        for object in state.values_mut() {
            if let Some(Value::Object(annotations)) =
                object.pointer_mut("/spec/template/metadata/annotations")
            {
                annotations.remove("istio-operator.kyma-project.io/restartedAt");
                // Of this installation's webhooks.
                annotations.remove("mizzen.io/restarted-with");
                if let Some(cause) = annotations.get_mut("mizzen.io/restarted-for") {
                    *cause = without_time(cause);
                }
            }
        }
        Ok(state)
    }

    /// Runs an operator until its n-th write, which the API server still does; then nothing passes, and it is killed. Whether it came to
    /// that: how often a status is written depends on how long things take.
    async fn cut(&self, step: Step, n: u64) -> Result<bool> {
        let cut = self.faults.inject(Fault::break_off().on(Verb::Write).nth(n));
        let operator = self.operator(step);
        let what = format!("the cut of {step:?} at {n}");
        let met = wait::until(&what, PATIENCE, async || Seen::when(cut.hits() > 0, || operator.log()));
        let reached = tokio::select! {
            met = met => met.map(|()| true),
            done = self.done(step, &operator) => done.map(|_| false),
        };
        operator.kill();
        self.faults.clear();
        reached
    }
}

/// Kinds of objects that are written as well: not every cluster has them.
const BESIDES: [(&str, &str); 4] = [
    ("operator.kyma-project.io", "Istio"),
    ("networking.istio.io", "EnvoyFilter"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("security.istio.io", "PeerAuthentication"),
];

/// Since when something is so, differs; whether it is known does not.
fn without_time(cause: &Value) -> Value {
    let mut cause: Value = serde_json::from_str(cause.as_str().unwrap()).unwrap_or_else(|_| cause.clone());
    then(cause.get_mut("readSince"));
    cause
}

fn then(time: Option<&mut Value>) {
    if let Some(time) = time.filter(|time| time.is_string()) {
        *time = "then".into();
    }
}

fn timeless(mut status: Value) -> Value {
    then(status.pointer_mut("/readAtStart/since"));
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        for condition in conditions.iter_mut() {
            condition.as_object_mut().unwrap().remove("lastTransitionTime");
        }
        conditions.sort_by_key(|condition| condition["type"].to_string());
    }
    status
}

/// A workload whose pods have to be made anew: because their sidecar is old, or because it has only to read something.
fn outdated(number: usize) -> Value {
    let image = if number == 0 { "registry.example/proxyv2:1.1.0" } else { "old" };
    let mut one = workload("Deployment", &format!("old-{number}"), image, &json!({}));
    one["metadata"]["namespace"] = "default".into();
    one
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_that_is_cut_off_is_followed_by_one_that_goes_on() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let faults = kyma.here.site.server.faults().await?;
    let cut = Cut { kyma, faults };
    let mut undisturbed = Vec::new();
    for step in STEPS {
        cut.prepare(step).await?;
        let begun = cut.faults.seen(Verb::Write);
        let operator = cut.operator(step);
        let state = cut.done(step, &operator).await?;
        operator.kill();
        let writes = cut.faults.seen(Verb::Write) - begun;
        let points = points(writes, 2);
        println!("{step:?}: {writes} writes, cut at {points:?}");
        undisturbed.push((step, points, state));
    }
    let rounds = undisturbed.iter().map(|(_, points, _)| points.len()).max().unwrap();
    let (mut reached, mut unreached) = (0, Vec::new());
    for round in 0..rounds {
        println!("{reached} points so far");
        for (step, points, state) in &undisturbed {
            let point = points.get(round);
            // What lies between is done only as long as it is cut.
            if point.is_none() && matches!(step, Step::Upgrade | Step::Restart) {
                continue;
            }
            cut.prepare(*step).await?;
            if let Some(n) = point {
                if cut.cut(*step, *n).await? {
                    reached += 1;
                } else {
                    let last = points.last().unwrap();
                    assert!(n * 5 > last * 4, "{step:?} ended before its write {n} of {last}");
                    unreached.push(format!("{step:?} at {n}"));
                }
            }
            let operator = cut.operator(*step);
            let found = cut.done(*step, &operator).await?;
            operator.kill();
            same(&format!("{step:?} cut at {point:?}"), &found, state);
        }
    }
    println!("{reached} points were reached, and the end is the same after each");
    println!("not reached, because there were fewer writes then: {unreached:?}");
    assert!(reached > unreached.len() * 2, "{reached} were reached, and not {unreached:?}");
    Ok(())
}
