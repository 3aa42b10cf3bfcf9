//! The operator for the `Istio` resource cut off in the middle of its work: the next one arrives where an undisturbed one does.
//!
//! A few points by default; all of them with `MIZZEN_EVERY_CUT=1`, which takes long.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how many points there were is part of the result")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, SAMPLE};
use mizzen_testkit::{
    Controllers, Faults, Part, Result,
    faults::{Fault, Verb},
    needs,
    wait::{self, PATIENCE, Seen},
};
use operated::DEPLOYMENT;
use serde_json::Value;
use std::{collections::BTreeMap, env};

const SAMPLE_NAME: (&str, &str) = ("kyma-system", "istio-sample");

struct Cut {
    kyma: Kyma,
    faults: Faults,
}

impl Cut {
    /// By way of the faults.
    fn operator(&self) -> Part {
        self.kyma.operator_through(&self.faults.kubeconfig_file(), &[]).0
    }

    async fn apply(&self) -> Result<()> {
        self.kyma.here.site.server.apply(SAMPLE).await.map(drop)
    }

    async fn delete(&self) -> Result<()> {
        self.kyma.here.kubectl("delete istio istio-sample -n kyma-system --wait=false").await.map(drop)
    }

    /// What is there when all is well and autoscalers have had their way.
    async fn installed(&self, operator: &Part) -> Result<BTreeMap<String, Value>> {
        self.kyma.says(operator, SAMPLE_NAME, "Ready", "ReconcileSucceeded").await?;
        let scaled = async || {
            let replicas = async |name: &str| {
                self.kyma.here.get(DEPLOYMENT, "istio-system", name).await.unwrap_or_default()["spec"]["replicas"].clone()
            };
            let all = [replicas("istiod").await, replicas("istio-ingressgateway").await];
            Seen::when(all == [3, 3], || format!("{all:?}"))
        };
        operator.until("three replicas", PATIENCE, scaled).await?;
        Ok(self.kyma.here.site.state().await)
    }

    async fn gone(&self, operator: &Part) -> Result<BTreeMap<String, Value>> {
        self.kyma.until_gone(operator, "istio-sample").await?;
        self.kyma.until_no_namespace().await?;
        Ok(self.kyma.here.site.state().await)
    }

    /// Runs an operator until its n-th write, which the API server still does; then nothing passes, and it is killed.
    async fn cut(&self, n: u64) -> Result<()> {
        let cut = self.faults.inject(Fault::break_off().on(Verb::Write).nth(n));
        let operator = self.operator();
        wait::until("the cut", PATIENCE, async || Seen::when(cut.hits() > 0, || operator.log())).await?;
        operator.kill();
        self.faults.clear();
        Ok(())
    }
}

/// All, or the first, the last and some between.
fn points(writes: u64) -> Vec<u64> {
    if env::var_os("MIZZEN_EVERY_CUT").is_some() {
        return (1..=writes).collect();
    }
    (1..=writes).step_by(usize::try_from(writes / 2).unwrap().max(1)).collect()
}

fn same(what: &str, found: &BTreeMap<String, Value>, expected: &BTreeMap<String, Value>) {
    for key in found.keys().chain(expected.keys()) {
        assert_eq!(found.get(key), expected.get(key), "{what}: {key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_that_is_cut_off_is_followed_by_one_that_goes_on() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let faults = kyma.here.site.server.faults().await?;
    let cut = Cut { kyma, faults };
    let operator = cut.operator();
    let begun = cut.faults.seen(Verb::Write);
    cut.apply().await?;
    let installed = cut.installed(&operator).await?;
    let writes = cut.faults.seen(Verb::Write) - begun;
    let begun = cut.faults.seen(Verb::Write);
    cut.delete().await?;
    let gone = cut.gone(&operator).await?;
    let deletions = cut.faults.seen(Verb::Write) - begun;
    operator.kill();

    let (to_install, to_remove) = (points(writes), points(deletions));
    println!(
        "install: {writes} writes, cut at {to_install:?}; remove: {deletions} writes, cut at {to_remove:?}"
    );
    for at in 0..to_install.len().max(to_remove.len()) {
        cut.apply().await?;
        if let Some(n) = to_install.get(at) {
            cut.cut(*n).await?;
        }
        let operator = cut.operator();
        same(
            &format!("install cut at {:?}", to_install.get(at)),
            &cut.installed(&operator).await?,
            &installed,
        );
        operator.kill();
        cut.delete().await?;
        if let Some(n) = to_remove.get(at) {
            cut.cut(*n).await?;
        }
        let operator = cut.operator();
        same(&format!("removal cut at {:?}", to_remove.get(at)), &cut.gone(&operator).await?, &gone);
        operator.kill();
    }
    Ok(())
}
