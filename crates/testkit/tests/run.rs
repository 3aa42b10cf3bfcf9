//! What a run leaves behind, by the way its process ended. The process is this very test binary, started again
//! with one test to run: [`victim`].

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use mizzen_testkit::{
    Part, Result,
    run::{MARK, run},
    wait::{self, PATIENCE, Seen},
};

const VICTIM: &str = "MIZZEN_VICTIM";

/// Starts a part, says where its run is, and ends as it was told. Without being told it does nothing.
#[test]
fn victim() {
    let Ok(end) = std::env::var(VICTIM) else { return };
    let mut talker = Command::new("sh");
    // A grandchild that has left its parent's session and group is a part of the run as well.
    talker.args(["-c", "echo speaking; setsid sleep 600 & exec sleep 600"]);
    let part = Part::start("talker", talker).unwrap();
    while !part.log().contains("speaking") {
        std::thread::yield_now();
    }
    let _ = writeln!(std::io::stdout(), "\nrun {}", run().folder().display());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    assert_ne!(end, "panic", "the test failed");
}

struct Victim {
    child: Child,
    folder: PathBuf,
}

fn start(end: &str) -> Victim {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM, end)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let folder =
        lines.map_while(|line| line.ok()).find_map(|line| line.strip_prefix("run ").map(PathBuf::from));
    Victim { child, folder: folder.expect("the victim says where its run is") }
}

/// Processes that carry the run's mark.
fn processes_of(folder: &Path) -> Vec<String> {
    let mark = format!("{MARK}={}", folder.display());
    let carries =
        |environment: Vec<u8>| environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = all.filter(|path| fs::read(path.join("environ")).is_ok_and(carries));
    ours.map(|path| path.display().to_string()).collect()
}

async fn nothing_is_left_of(folder: &Path) -> Result<()> {
    wait::until("the run to be gone", PATIENCE, async || {
        let processes = processes_of(folder);
        Seen::when(processes.is_empty() && !folder.exists(), || {
            format!("{processes:?}, {}", folder.display())
        })
    })
    .await
}

#[tokio::test]
async fn a_run_that_returns_leaves_nothing() -> Result<()> {
    let mut victim = start("return");
    assert!(processes_of(&victim.folder).len() >= 2, "the part and its child are there");
    drop(victim.child.stdin.take());
    assert!(victim.child.wait().unwrap().success());
    nothing_is_left_of(&victim.folder).await
}

#[tokio::test]
async fn a_run_that_is_killed_leaves_nothing() -> Result<()> {
    let mut victim = start("kill");
    assert!(processes_of(&victim.folder).len() >= 2, "the part and its child are there");
    victim.child.kill().unwrap();
    victim.child.wait().unwrap();
    nothing_is_left_of(&victim.folder).await
}

#[tokio::test]
async fn a_run_with_a_failed_test_keeps_its_logs_and_says_where() -> Result<()> {
    let mut victim = start("panic");
    drop(victim.child.stdin.take());
    let mut said = String::new();
    victim.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!victim.child.wait().unwrap().success());
    let logs = victim.folder.join("logs");
    assert!(said.contains(&format!("kept in {}", logs.display())), "{said}");
    wait::until("the keeper to end what is left", PATIENCE, async || {
        let processes = processes_of(&victim.folder);
        Seen::when(processes.is_empty() && !victim.folder.join("failed").exists(), || {
            format!("{processes:?}")
        })
    })
    .await?;
    let log = fs::read_dir(&logs).unwrap().flatten().next().expect("a log is kept").path();
    assert_eq!(fs::read_to_string(log).unwrap(), "speaking\n");
    fs::remove_dir_all(&victim.folder).unwrap();
    Ok(())
}
