//! A test process that is killed in the middle leaves nothing behind: no process, mount, namespace, control group or
//! folder, two seconds later.
//!
//! The victim is this same binary, told by its environment to bring something up and wait to be killed.

use std::{
    collections::BTreeSet,
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

/// Which tier the victim shall bring up, and the file in which it names its run's folder when it has.
const TIER: &str = "MIZZEN_VICTIM";
const SAY: &str = "MIZZEN_VICTIM_SAYS";

/// What can be seen of a run from outside.
#[derive(Debug, Default, PartialEq, Eq)]
struct Traces {
    processes: BTreeSet<String>,
    mounts: BTreeSet<String>,
    /// Of processes, open files and mounts alike: whatever keeps one alive.
    namespaces: BTreeSet<String>,
    control_groups: BTreeSet<PathBuf>,
    folder: Option<PathBuf>,
}

/// Every process that the machine has.
fn processes() -> impl Iterator<Item = PathBuf> {
    let numbered = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path()).filter(numbered)
}

fn links(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
}

/// The namespaces in which processes of a run live, pods included, and this one does not.
fn private_namespaces(run: &Path) -> BTreeSet<String> {
    let own: BTreeSet<String> = links(Path::new("/proc/self/ns")).collect();
    let theirs = processes().filter(|process| marked(process, run) || !mounts(process, run).is_empty());
    theirs.flat_map(|process| links(&process.join("ns"))).filter(|link| !own.contains(link)).collect()
}

/// What a process has mounted from the run's folder. A pod's own root is among it.
fn mounts(process: &Path, run: &Path) -> Vec<String> {
    let (all, run) = (fs::read_to_string(process.join("mountinfo")), run.to_string_lossy());
    all.unwrap_or_default().lines().filter(|mount| mount.contains(&*run)).map(str::to_owned).collect()
}

fn marked(process: &Path, run: &Path) -> bool {
    let mark = format!("MIZZEN_RUN={}", run.display());
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
}

/// What is to be seen of a run whose namespaces are known.
fn traces(run: &Path, namespaces: &BTreeSet<String>) -> Traces {
    let mut traces = Traces { folder: run.exists().then(|| run.to_owned()), ..Traces::default() };
    let name = run.file_name().unwrap_or_default();
    for process in processes() {
        let held: Vec<String> = ["ns", "fd"].iter().flat_map(|kind| links(&process.join(kind))).collect();
        let inside = links(&process.join("ns")).any(|namespace| namespaces.contains(&namespace));
        if marked(&process, run) || inside {
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            traces.processes.insert(format!("{} {}", process.display(), String::from_utf8_lossy(&command)));
        }
        traces.namespaces.extend(held.into_iter().filter(|link| namespaces.contains(link)));
        traces.mounts.extend(mounts(&process, run));
    }
    let groups = fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    let groups = groups.flat_map(|controller| [controller.path(), controller.path().join(name)]);
    traces.control_groups.extend(groups.filter(|path| path.ends_with(name) && path.exists()));
    traces
}

/// Starts a victim, and looks around when it is up; its run's folder, its namespaces, and what was to be seen.
async fn victim(tier: &str) -> Result<(Part, PathBuf, BTreeSet<String>, Traces)> {
    let said = run().folder().join(format!("victim-of-{tier}"));
    let mut command = Command::new(std::env::current_exe().map_err(Error::other)?);
    command.args(["--exact", "the_victim", "--nocapture"]).env(TIER, tier).env(SAY, &said);
    let victim = Part::start("victim", command)?;
    let folder = victim
        .until("the victim to be up", PATIENCE * 2, async || Seen::from_result(fs::read_to_string(&said)))
        .await?;
    let folder = PathBuf::from(folder);
    let namespaces = private_namespaces(&folder);
    let before = traces(&folder, &namespaces);
    Ok((victim, folder, namespaces, before))
}

/// The kill, and what is left two seconds later, or as soon as nothing is.
async fn kill(victim: &Part, folder: &Path, namespaces: &BTreeSet<String>) -> Traces {
    victim.kill();
    let end = Instant::now() + Duration::from_secs(2);
    loop {
        let last = Instant::now() >= end;
        let left = traces(folder, namespaces);
        if last || left == Traces::default() {
            return left;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_killed_run_with_a_node_leaves_nothing() -> Result<()> {
    needs!(Node::NEEDS);
    let (victim, folder, namespaces, before) = victim("node").await?;
    assert!(before.processes.iter().any(|process| process.contains("kubelet")), "{before:#?}");
    assert!(before.processes.iter().any(|process| process.contains("containerd-shim")), "{before:#?}");
    assert!(before.mounts.iter().any(|mount| mount.contains("overlay")), "{before:#?}");
    for kind in ["net:", "mnt:", "pid:"] {
        assert!(namespaces.iter().any(|namespace| namespace.starts_with(kind)), "{namespaces:?}");
    }
    assert!(!before.control_groups.is_empty(), "{before:#?}");
    assert_eq!(kill(&victim, &folder, &namespaces).await, Traces::default());
    Ok(())
}

#[tokio::test]
async fn a_killed_run_with_an_api_server_leaves_nothing() -> Result<()> {
    needs!(ApiServer::NEEDS);
    let (victim, folder, namespaces, before) = victim("api-server").await?;
    assert!(before.processes.iter().any(|process| process.contains("kube-apiserver")), "{before:#?}");
    assert_eq!(kill(&victim, &folder, &namespaces).await, Traces::default());
    Ok(())
}

#[tokio::test]
async fn a_node_that_is_dropped_takes_its_processes_and_namespaces_along() -> Result<()> {
    needs!(Node::NEEDS);
    let node = Node::start().await?;
    let namespaces = private_namespaces(run().folder());
    assert!(namespaces.iter().any(|namespace| namespace.starts_with("pid:")), "{namespaces:?}");
    drop(node);
    until("the namespaces to go", PATIENCE, async || {
        let left = traces(run().folder(), &namespaces).namespaces;
        Seen::when(left.is_empty(), || format!("{left:?}"))
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
