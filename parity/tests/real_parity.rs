//! The yardstick on real parts: it holds still, and it sees.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use mizzen_parity::{
    Allowed, Scenario,
    compare::Difference,
    run::{Options, Outcome, Phase, run},
};
use mizzen_testkit::{ApiServer, Istiod, Oracle, needs, run::run as parts, tools};

fn scenarios(names: &[&str]) -> Vec<Scenario> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let found = Scenario::all(&names).unwrap();
    assert_eq!(found.len(), names.len());
    found
}

/// istiod with another word in its environment, as if it were a control plane of ours.
fn another(name: &str, switch: &str) -> PathBuf {
    let istiod = tools::command("pilot-discovery").unwrap();
    let file = parts().part_folder(name).unwrap().join(name);
    fs::write(&file, format!("#!/bin/sh\n{switch} exec {} \"$@\"\n", istiod.display())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn istiod_is_equal_to_itself_in_every_phase() {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Oracle::NEEDS);
    let summary =
        run(&scenarios(&["bookinfo-gateway", "rule-merge"]), &Options::default(), |_| {}).await.unwrap();
    assert_eq!((summary.equal(), summary.total()), (2, 2), "{}", summary.page());
    assert_eq!(summary.proven(), 2, "a planted change is seen");
    let (theirs, ours) = summary.leaves();
    assert!(theirs > 3_000 && theirs == ours, "{theirs} and {ours}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_control_plane_that_differs_is_red_and_it_is_told_where() {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Oracle::NEEDS);
    let program = Some(another("differs", "PILOT_HTTP10=true"));
    let scenario = scenarios(&["bookinfo-gateway"]);
    let mut seen: Vec<Outcome> = Vec::new();
    let options = Options { program: program.clone(), allowed: Allowed::default() };
    let summary = run(&scenario, &options, |outcome| seen.push(outcome.clone())).await.unwrap();
    assert_eq!(summary.equal(), 0);
    assert_eq!(seen.len(), 1);
    let cold = &seen[0].phases[&Phase::Cold];
    // Connections of that version are taken, and recognized where the protocol is guessed.
    let meant = |leaf: &Difference| {
        let path = leaf.path.to_string();
        path.starts_with("listeners[")
            && [".httpProtocolOptions", ".applicationProtocols["].iter().any(|part| path.contains(part))
    };
    assert_eq!(cold.different.iter().find(|leaf| !meant(leaf)), None, "{}", summary.page());
    assert!(summary.page().contains("acceptHttp10"), "the page names the leaf");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binary_without_the_verb_is_told_and_not_compared() {
    needs!(ApiServer::NEEDS, Istiod::NEEDS);
    let options = Options { program: Some("/bin/false".into()), ..Options::default() };
    let error = run(&[], &options, |_| {}).await.err().unwrap().to_string();
    assert!(error.contains("no verb `discovery`"), "{error}");
}
