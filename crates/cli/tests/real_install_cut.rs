//! Cut off at every point: whoever runs it again arrives where the undisturbed one does.
//!
//! A few points of each by default; all of them with `MIZZEN_EVERY_CUT=1`, which takes a quarter of an hour.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how many points there were is part of the result")]

mod site;

use mizzen_testkit::{
    Controllers, Faults, Result,
    faults::{Fault, Verb},
    needs,
    wait::{self, PATIENCE, Seen},
};
use serde_json::Value;
use site::{BINARY, Site};
use std::{collections::BTreeMap, env, path::Path};

/// What leaves the namespace, which is then deleted, too.
const EMPTY: &str = "uninstall --purge -y";

struct Cut {
    site: Site,
    faults: Faults,
}

impl Cut {
    async fn prepare() -> Result<Self> {
        let site = Site::start().await?;
        let faults = site.server.faults().await?;
        Ok(Self { site, faults })
    }

    /// How many writes it takes when nobody disturbs it, and what is there then.
    async fn undisturbed(&self, line: &str) -> (u64, BTreeMap<String, Value>) {
        let before = self.faults.seen(Verb::Write);
        self.site.run(Path::new(BINARY), &self.faults.kubeconfig_file(), line).await.well();
        (self.faults.seen(Verb::Write) - before, self.site.state().await)
    }

    /// Runs it until its n-th write, which the API server still does; then nothing passes, and the process is killed.
    async fn cut(&self, line: &str, n: u64) -> Result<()> {
        let cut = self.faults.inject(Fault::break_off().on(Verb::Write).nth(n));
        let kubeconfig = self.faults.kubeconfig_file();
        let run = self.site.run(Path::new(BINARY), &kubeconfig, line);
        let met = wait::until("the cut", PATIENCE, async || {
            Seen::when(cut.hits() > 0, || "it was not reached".to_owned())
        });
        tokio::select! {
            ended = run => panic!("it ended before write {n}: {}{}", ended.out, ended.err),
            met = met => met?,
        }
        self.faults.clear();
        Ok(())
    }

    /// What it begins with.
    async fn begin(&self, first: &str) -> Result<()> {
        self.site.mizzen(first).await.well();
        if first == EMPTY {
            self.site.server.kubectl(&["delete", "namespace", "istio-system", "--ignore-not-found"]).await?;
        }
        Ok(())
    }

    /// From what `first` makes, `line` is cut at its writes and run again.
    async fn at_every_point(&self, what: &str, first: &str, line: &str) -> Result<()> {
        self.begin(first).await?;
        let (writes, undisturbed) = self.undisturbed(line).await;
        let points = points(writes);
        println!("{what}: {writes} writes, cut at {points:?}, {} objects", undisturbed.len());
        for n in points {
            self.begin(first).await?;
            self.cut(line, n).await?;
            self.site.mizzen(line).await.well();
            let state = self.site.state().await;
            let keys = state.keys().chain(undisturbed.keys());
            for key in keys {
                assert_eq!(state.get(key), undisturbed.get(key), "{what}, cut at write {n}: {key}");
            }
        }
        Ok(())
    }
}

/// All, or the first, the last and some between.
fn points(writes: u64) -> Vec<u64> {
    if env::var_os("MIZZEN_EVERY_CUT").is_some() {
        return (1..=writes).collect();
    }
    let mut some: Vec<u64> = (1..=writes).step_by(usize::try_from(writes / 4).unwrap().max(1)).collect();
    some.push(writes);
    some.dedup();
    some
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    Cut::prepare().await?.at_every_point("install", EMPTY, "install -y").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    // Another version and other settings; the gateway goes.
    let to = "upgrade -y --set tag=1.31.1 --set meshConfig.accessLogFile=/dev/stdout \
        --set components.ingressGateways.[0].enabled=false";
    Cut::prepare().await?.at_every_point("upgrade", "install -y --set tag=1.31.0 --force", to).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    Cut::prepare().await?.at_every_point("uninstall", "install -y", EMPTY).await
}
