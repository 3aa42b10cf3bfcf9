//! This binary beside the real istiod, in a few scenarios of `cargo xtask parity`, so that it is seen in every test run.

#![allow(clippy::unwrap_used, reason = "tests")]

use mizzen_parity::{
    Allowed, Scenario,
    run::{Options, run},
};
use mizzen_testkit::{ApiServer, Istiod, Oracle, needs};

/// A gateway and a sidecar, routes, rules, entries, mutual TLS, localities.
const SCENARIOS: [&str; 6] =
    ["bookinfo-gateway", "entry-dns", "locality-failover", "mtls-workload", "route-match-uri", "rule-merge"];

#[tokio::test(flavor = "multi_thread")]
async fn discovery_says_what_istiod_says() {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Oracle::NEEDS);
    let scenarios = Scenario::all(&SCENARIOS.map(str::to_owned)).unwrap();
    let program = Some(env!("CARGO_BIN_EXE_mizzen").into());
    let options = Options { program, allowed: Allowed::read().unwrap() };
    let summary = run(&scenarios, &options, |_| {}).await.unwrap();
    assert_eq!((summary.equal(), summary.total()), (SCENARIOS.len(), SCENARIOS.len()), "{}", summary.page());
    assert_eq!(summary.proven(), SCENARIOS.len(), "a planted change is seen");
    let (theirs, ours) = summary.leaves();
    assert!(theirs > 10_000 && theirs == ours, "{theirs} and {ours}");
}
