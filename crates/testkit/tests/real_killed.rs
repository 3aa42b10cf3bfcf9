//! A test process that is killed in the middle leaves nothing behind: no process, mount, namespace or control group
//! two seconds later, and then no folder either.
//!
//! The victim is a program of its own, `testkit-victim`.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

#[path = "real_killed/traces.rs"]
mod traces;
#[path = "victim/mod.rs"]
mod victim;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use mizzen_testkit::{
    ApiServer, Node, Result, needs,
    run::run,
    wait::{PATIENCE, Seen, until},
};
use tokio::sync::Mutex;
use traces::{Suspect, Traces};
use victim::Victim;

/// One at a time: the two seconds are not meant for a machine that is busy with starting the next node.
static ALONE: Mutex<()> = Mutex::const_new(());

/// The kill, and what is left two seconds later, or as soon as nothing is.
async fn kill(victim: &mut Victim, suspect: &Suspect) -> Traces {
    victim.kill();
    let end = Instant::now() + Duration::from_secs(2);
    loop {
        let last = Instant::now() >= end;
        let left = suspect.traces();
        if last || left == Traces::default() {
            return left;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn folder_goes(folder: &Path) -> Result<()> {
    until("the folder to go", PATIENCE, async || {
        Seen::when(!folder.exists(), || format!("{} is there", folder.display()))
    })
    .await
}

#[tokio::test]
async fn a_killed_run_with_a_node_leaves_nothing() -> Result<()> {
    needs!(Node::NEEDS);
    let _alone = ALONE.lock().await;
    let mut victim = Victim::start("node", "return");
    let suspect = Suspect::new(&victim.folder);
    let before = suspect.traces();
    for program in ["/kubelet ", "containerd-shim", "/pause ", "/coredns "] {
        assert!(before.processes.iter().any(|process| process.contains(program)), "{program}: {before:#?}");
    }
    for kind in ["net:", "mnt:", "pid:"] {
        assert!(before.namespaces.iter().any(|namespace| namespace.starts_with(kind)), "{before:#?}");
    }
    assert!(before.mounts.iter().any(|mount| mount.contains("overlay")), "{before:#?}");
    assert!(!before.control_groups.is_empty(), "{before:#?}");

    assert_eq!(kill(&mut victim, &suspect).await, Traces::default());
    folder_goes(&victim.folder).await
}

#[tokio::test]
async fn a_killed_run_with_an_api_server_leaves_nothing() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let _alone = ALONE.lock().await;
    let mut victim = Victim::start("api-server", "return");
    let suspect = Suspect::new(&victim.folder);
    let before = suspect.traces();
    for program in ["/etcd ", "/kube-apiserver "] {
        assert!(before.processes.iter().any(|process| process.contains(program)), "{program}: {before:#?}");
    }

    assert_eq!(kill(&mut victim, &suspect).await, Traces::default());
    folder_goes(&victim.folder).await
}

#[tokio::test]
async fn a_node_that_is_dropped_takes_its_processes_and_namespaces_along() -> Result<()> {
    needs!(Node::NEEDS);
    let _alone = ALONE.lock().await;
    let node = Node::start().await?;
    let suspect = Suspect::new(run().folder());
    assert!(suspect.namespaces.iter().any(|namespace| namespace.starts_with("pid:")));
    drop(node);
    until("the namespaces to go", PATIENCE, async || {
        let left = suspect.traces();
        Seen::when(left.namespaces.is_empty() && left.processes.is_empty(), || format!("{left:?}"))
    })
    .await
}
