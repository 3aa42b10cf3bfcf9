//! Cut off at every point: whoever runs it again arrives where the undisturbed one does.
//!
//! A few points of each by default; all of them with `MIZZEN_EVERY_CUT=1`.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "how many points there were is part of the result")]

mod application;
mod site;

use application::Application;
use mizzen_testkit::{Controllers, Faults, Result, needs};
use serde_json::{Value, json};
use site::{Ended, cut};
use std::collections::BTreeMap;

const OLD: &str = "\
name: shop
workload:
  image: shop:1
  ports: [{ port: 80 }]
istio:
  serviceEntries:
    payments: { hosts: [payments.example.com], ports: [{ number: 443, protocol: TLS }], resolution: DNS }
  destinationRules:
    versions: { host: shop, subsets: [{ name: v1, labels: { version: v1 } }] }
    payments: { host: payments.example.com, trafficPolicy: { connectionPoolSettings: { tcpSettings: { connectionTimeout: 3s } } } }
  gateways:
    public: { listeners: [{ port: 80, hosts: [shop.example.com] }] }
  virtualServices:
    public: { hosts: [shop.example.com], gateways: [public], httpRoutes: [{ destinations: [{ host: shop, subset: v1 }] }] }
  peerAuthentications:
    encrypted: { workloadSelector: self, mode: STRICT }
";

/// Some change, some go, some come.
const NEW: &str = "\
name: shop
workload:
  image: shop:2
  ports: [{ port: 80 }, { port: 90 }]
istio:
  destinationRules:
    both: { host: shop, subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }] }
  gateways:
    public: { listeners: [{ port: 80, hosts: [shop.example.com, www.example.com] }] }
  virtualServices:
    public: { hosts: [shop.example.com], gateways: [public], httpRoutes: [{ destinations: [{ host: shop, subset: v2 }] }] }
  telemetries:
    traces: { workloadSelector: self, tracing: { samplingPercent: 100 } }
";

/// A file and what is done with it.
#[derive(Clone, Copy)]
struct Act {
    file: &'static str,
    line: &'static str,
}

const APPLY_OLD: Act = Act { file: OLD, line: "apply -y" };
const APPLY_NEW: Act = Act { file: NEW, line: "apply -y" };
const DESTROY: Act = Act { file: OLD, line: "destroy -y" };

struct Cut {
    shop: Application,
    faults: Faults,
}

impl Cut {
    async fn prepare() -> Result<Self> {
        let shop = Application::prepare().await?;
        let faults = shop.site.server.faults().await?;
        Ok(Self { shop, faults })
    }

    async fn act(&self, act: Act) {
        self.shop.file("app.yaml", act.file);
        self.shop.app(act.line).await.well();
    }

    /// Everything that is there, and what is recorded to be there, whatever the number of the release.
    async fn state(&self) -> BTreeMap<String, Value> {
        let all = self.shop.everything().await;
        let releases = self.shop.releases().await;
        let newest =
            releases["releases"].as_array().and_then(|all| all.last()).map(|newest| newest["phase"].clone());
        let names =
            |object: &Value| json!([object["kind"], object["namespace"], object["name"], object["needs"]]);
        let objects: Vec<Value> = releases["objects"].as_array().unwrap().iter().map(names).collect();
        // Of every release that succeeded there is a Spec, and of no other.
        let specs = all.keys().filter(|key| key.contains("/mizzen-app.shop.default.r")).count();
        let succeeded =
            releases["releases"].as_array().unwrap().iter().filter(|one| one["phase"] == "succeeded").count();
        assert_eq!(specs, succeeded, "{releases:#}");
        let mut state = all;
        state.retain(|key, _| !key.contains("/mizzen-app."));
        state.insert(
            "recorded".to_owned(),
            json!({ "lock": releases["lock"], "newest": newest, "objects": objects }),
        );
        state
    }

    async fn run(&self, act: Act) -> Ended {
        self.shop.file("app.yaml", act.file);
        self.shop.through(&self.faults.kubeconfig_file(), act.line).await
    }

    /// From what `first` makes, `act` is cut at its writes and run again.
    async fn at_every_point(&self, what: &str, first: Act, act: Act) -> Result<()> {
        self.act(first).await;
        let (writes, ended) = cut::counted(&self.faults, self.run(act)).await;
        ended.well();
        let undisturbed = self.state().await;
        let points = cut::points(writes, 5);
        println!("{what}: {writes} writes, cut at {points:?}, {} objects", undisturbed.len() - 1);
        let mut reached = 0;
        for &n in &points {
            self.act(first).await;
            match cut::at_write(&self.faults, n, self.run(act)).await? {
                // What is recorded in one go differs from run to run.
                Some(ended) => drop(ended.well()),
                None => reached += 1,
            }
            self.shop.app(act.line).await.well();
            cut::same(&format!("{what}, cut at write {n}"), &self.state().await, &undisturbed);
        }
        println!("{what}: {reached} of {} points were reached", points.len());
        // The last may be recorded along with the one before it.
        assert!(reached + 3 >= u64::try_from(points.len()).unwrap(), "{reached} of {points:?}");
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_release_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    Cut::prepare().await?.at_every_point("first release", DESTROY, APPLY_OLD).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_release_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    Cut::prepare().await?.at_every_point("second release", APPLY_OLD, APPLY_NEW).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_is_cut_off_is_completed_by_the_next() -> Result<()> {
    needs!(Controllers::NEEDS);
    Cut::prepare().await?.at_every_point("destroy", APPLY_OLD, DESTROY).await
}
