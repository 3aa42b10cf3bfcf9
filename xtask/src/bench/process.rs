//! What one run of a program costs: time, processor time, and the most memory that it had.
//!
//! The system tells the peak of all children that a process has waited for, so every run gets a parent of its own:
//! this program once more, which starts nothing else.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use anyhow::{Context as _, bail};
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use serde::{Deserialize, Serialize};

use crate::keeper::keep;

#[derive(Clone, Copy, Deserialize, Serialize)]
pub(crate) struct Cost {
    pub(crate) code: i32,
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_bytes: u64,
}

/// Runs a program; what it prints is thrown away.
pub(crate) fn measure(program: &Path, arguments: &[&OsStr]) -> anyhow::Result<Cost> {
    let mut parent = Command::new(std::env::current_exe()?);
    parent.args(["bench", "process"]).arg(program).arg("--").args(arguments);
    let output = keep(&mut parent).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("{} cannot be measured: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("the measurement cannot be read")
}

/// The parent's side: the cost as JSON on standard output.
pub(crate) fn child(program: &Path, arguments: &[String]) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let status =
        Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let seconds = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let cost = Cost {
        code: status.code().unwrap_or(-1),
        seconds,
        cpu_seconds: cpu as f64 / 1e6,
        // Linux counts in kilobytes.
        peak_bytes: u64::try_from(usage.max_rss()).unwrap_or_default() * 1_024,
    };
    println!("{}", serde_json::to_string(&cost)?);
    Ok(ExitCode::SUCCESS)
}
