//! A test process that is killed in the middle leaves nothing behind: no process, mount, namespace or control group
//! two seconds later, and then no folder either.
//!
//! The victim is this same binary, told by its environment to bring something up and wait to be killed.

#[path = "real_killed/traces.rs"]
mod traces;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use mizzen_testkit::{
    ApiServer, Error, Node, Part, Result, needs,
    run::run,
    wait::{PATIENCE, Seen, until},
};
use tokio::sync::Mutex;
use traces::{Suspect, Traces};

/// Which tier the victim shall bring up, and the file in which it names its run's folder when it has.
const TIER: &str = "MIZZEN_VICTIM";
const SAY: &str = "MIZZEN_VICTIM_SAYS";

/// One at a time: the two seconds are not meant for a machine that is busy with starting the next node.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Starts a victim; comes back when it is up, with its run's folder.
async fn victim(tier: &str) -> Result<(Part, PathBuf)> {
    let said = run().folder().join(format!("victim-of-{tier}"));
    let mut command = Command::new(std::env::current_exe().map_err(Error::other)?);
    command.args(["--exact", "the_victim", "--nocapture"]).env(TIER, tier).env(SAY, &said);
    let victim = Part::start("victim", command)?;
    let folder = victim
        .until("the victim to be up", PATIENCE * 2, async || Seen::from_result(fs::read_to_string(&said)))
        .await?;
    Ok((victim, folder.into()))
}

/// The kill, and what is left two seconds later, or as soon as nothing is.
async fn kill(victim: &Part, suspect: &Suspect) -> Traces {
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
    let (victim, folder) = victim("node").await?;
    let suspect = Suspect::new(&folder);
    let before = suspect.traces();
    for program in ["/kubelet ", "containerd-shim", "/pause ", "/coredns "] {
        assert!(before.processes.iter().any(|process| process.contains(program)), "{program}: {before:#?}");
    }
    for kind in ["net:", "mnt:", "pid:"] {
        assert!(before.namespaces.iter().any(|namespace| namespace.starts_with(kind)), "{before:#?}");
    }
    assert!(before.mounts.iter().any(|mount| mount.contains("overlay")), "{before:#?}");
    assert!(!before.control_groups.is_empty(), "{before:#?}");

    assert_eq!(kill(&victim, &suspect).await, Traces::default());
    folder_goes(&folder).await
}

#[tokio::test]
async fn a_killed_run_with_an_api_server_leaves_nothing() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let _alone = ALONE.lock().await;
    let (victim, folder) = victim("api-server").await?;
    let suspect = Suspect::new(&folder);
    let before = suspect.traces();
    for program in ["/etcd ", "/kube-apiserver "] {
        assert!(before.processes.iter().any(|process| process.contains(program)), "{program}: {before:#?}");
    }

    assert_eq!(kill(&victim, &suspect).await, Traces::default());
    folder_goes(&folder).await
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

/// Not a test but what the first two kill: in a test run it returns at once.
#[tokio::test]
async fn the_victim() -> Result<()> {
    let (Ok(tier), Some(say)) = (std::env::var(TIER), std::env::var_os(SAY)) else { return Ok(()) };
    let _node;
    let _server;
    match tier.as_str() {
        "node" => _node = Node::start().await?,
        "api-server" => _server = ApiServer::start().await?,
        other => return Err(Error::other(format_args!("no tier {other}"))),
    }
    let new = PathBuf::from(&say).with_extension("new");
    fs::write(&new, run().folder().to_string_lossy().as_bytes()).map_err(Error::other)?;
    fs::rename(new, say).map_err(Error::other)?;
    std::future::pending().await
}
