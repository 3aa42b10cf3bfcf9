//! What a process has used, from the kernel's tables.

use std::{fs, time::Duration};

use anyhow::{Context as _, Result};
use nix::{
    time::{clock_getcpuclockid, clock_gettime},
    unistd::Pid,
};

pub(crate) struct Meter {
    pid: u32,
}

impl Meter {
    pub(crate) fn of(pid: u32) -> Self {
        Self { pid }
    }

    /// Seconds of processor time of all its threads, past and present, of themselves and of the system on their behalf.
    pub(crate) fn cpu(&self) -> Result<f64> {
        let clock = clock_getcpuclockid(Pid::from_raw(self.pid.cast_signed()))?;
        Ok(Duration::from(clock_gettime(clock)?).as_secs_f64())
    }

    /// Resident bytes now, and the most there have been.
    pub(crate) fn memory(&self) -> Result<(u64, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let kilobytes = |name: &str| -> Option<u64> {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        let (now, peak) =
            kilobytes("VmRSS:").zip(kilobytes("VmHWM:")).context("memory figures are missing")?;
        Ok((now * 1024, peak * 1024))
    }
}
