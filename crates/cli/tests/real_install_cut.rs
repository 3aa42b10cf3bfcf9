//! Cut off at every point: whoever runs it again arrives where the undisturbed one does.
//!
//! A few points of each by default; all of them with `MIZZEN_EVERY_CUT=1`, which takes a quarter of an hour.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how many points there were is part of the result")]

mod site;

use mizzen_testkit::{Controllers, Faults, Result, needs};
use site::{BINARY, Ended, Site, cut};
use std::path::Path;

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

    async fn run(&self, line: &str) -> Ended {
        self.site.run(Path::new(BINARY), &self.faults.kubeconfig_file(), line).await
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
        let (writes, ended) = cut::counted(&self.faults, self.run(line)).await;
        ended.well();
        let undisturbed = self.site.state().await;
        let points = cut::points(writes, 4);
        println!("{what}: {writes} writes, cut at {points:?}, {} objects", undisturbed.len());
        for n in points {
            self.begin(first).await?;
            if let Some(ended) = cut::at_write(&self.faults, n, self.run(line)).await? {
                // A write that met another's is written again: the counted run may have had one more.
                assert_eq!(n, writes, "it ended before: {}{}", ended.out, ended.err);
                ended.well();
            }
            self.site.mizzen(line).await.well();
            cut::same(&format!("{what}, cut at write {n}"), &self.site.state().await, &undisturbed);
        }
        Ok(())
    }
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
