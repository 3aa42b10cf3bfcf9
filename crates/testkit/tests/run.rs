//! What a run leaves behind, by the way its process ended. That process is a program of its own, `testkit-victim`.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

#[path = "victim/mod.rs"]
mod victim;

use std::{fs, path::Path};

use mizzen_testkit::{
    Result,
    run::MARK,
    wait::{self, PATIENCE, Seen},
};
use victim::Victim;

/// Processes that carry the run's mark.
fn processes_of(folder: &Path) -> Vec<String> {
    let mark = format!("{MARK}={}", folder.display());
    let carries =
        |environment: Vec<u8>| environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = all.filter(|path| fs::read(path.join("environ")).is_ok_and(carries));
    ours.map(|path| path.display().to_string()).collect()
}

/// The part and its child. One that is just becoming another program has no environment for a moment.
async fn both_are_there(folder: &Path) -> Result<()> {
    wait::until("the part and its child", PATIENCE, async || {
        let processes = processes_of(folder);
        Seen::when(processes.len() >= 2, || format!("{processes:?}"))
    })
    .await
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
    let mut victim = Victim::start("part", "return");
    both_are_there(&victim.folder).await?;
    let (status, said) = victim.end();
    assert!(status.success(), "{said}");
    nothing_is_left_of(&victim.folder).await
}

#[tokio::test]
async fn a_run_that_is_killed_leaves_nothing() -> Result<()> {
    let mut victim = Victim::start("part", "return");
    both_are_there(&victim.folder).await?;
    victim.kill();
    nothing_is_left_of(&victim.folder).await
}

#[tokio::test]
async fn a_run_with_a_test_that_panics_keeps_its_logs_and_says_where() -> Result<()> {
    logs_are_kept_after("panic").await
}

#[tokio::test]
async fn a_run_with_a_test_that_returns_an_error_keeps_its_logs_and_says_where() -> Result<()> {
    logs_are_kept_after("error").await
}

async fn logs_are_kept_after(end: &str) -> Result<()> {
    let mut victim = Victim::start("part", end);
    let (status, said) = victim.end();
    assert!(!status.success());
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
