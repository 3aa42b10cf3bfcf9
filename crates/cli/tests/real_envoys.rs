//! Real Envoys take what this binary sends, in a few scenarios of `cargo xtask parity --envoys`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use mizzen_parity::{
    Scenario,
    envoys::{Count, Options, Outcome, Summary, run},
    run::Phase,
};
use mizzen_testkit::{ApiServer, Envoy, Istiod, Net, Oracle, needs, proxy::Kind, run::run as parts};

const MIZZEN: &str = env!("CARGO_BIN_EXE_mizzen");

async fn given(names: &[&str], program: PathBuf) -> Summary {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let scenarios = Scenario::all(&names).unwrap();
    assert_eq!(scenarios.len(), names.len());
    run(&scenarios, &Options { program: Some(program) }, |_| {}).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn envoys_have_all_that_is_sent_in_use() {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Oracle::NEEDS, Envoy::NEEDS, Net::NEEDS);
    let names = [
        "benchmark-tcp",
        "benchmark-tls",
        "bookinfo",
        "bookinfo-gateway",
        "entry-dns",
        "mesh-access-log",
        "mtls-mesh-strict",
        "service-headless",
    ];
    let summary = given(&names, MIZZEN.into()).await;
    assert_eq!((summary.taken(), summary.total()), (names.len(), names.len()), "{}", summary.page());
    assert_eq!(summary.proxies(), 13);
    for (phase, kinds) in [
        (Phase::Cold, &Kind::ALL[..]),
        // Nothing is routed in a mesh without services.
        (Phase::Deleted, &[Kind::Clusters, Kind::Endpoints, Kind::Listeners]),
        (Phase::Updated, &Kind::ALL),
    ] {
        for kind in kinds {
            let Count { sent, taken } = summary.count(phase, *kind);
            assert!(sent > 10 && sent == taken, "{} {}: {taken} of {sent}", phase.word(), kind.word());
        }
    }
}

/// Filters that only Istio's own proxy has, sent to another.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_envoy_refuses_is_told_with_its_own_words() {
    needs!(ApiServer::NEEDS, Istiod::NEEDS, Oracle::NEEDS, Envoy::NEEDS, Net::NEEDS);
    let program = parts().part_folder("own-filters").unwrap().join("mizzen");
    fs::write(
        &program,
        format!("#!/bin/sh\nPILOT_ENABLE_ALPN_FILTER=true exec {MIZZEN} \"$@\" --filters=istio\n"),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let summary = given(&["bookinfo"], program).await;
    assert_eq!((summary.taken(), summary.total()), (0, 1));
    let page = summary.page();
    for told in ["listener_manager.lds.update_rejected", "was sent and is not in use", "istio.alpn"] {
        assert!(page.contains(told), "{told} is not in:\n{page}");
    }
    let outcome: &Outcome = &summary.outcomes[0];
    let Count { sent, taken } = outcome.count(Phase::Cold, Kind::Listeners);
    assert!(taken < sent, "{taken} of {sent}");
}
