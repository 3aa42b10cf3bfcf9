//! Processes by the mark in their environment: what is left of a mesh whose `up` was killed.

use crate::state::MARK;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

/// They are asked first, and then made.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends every process of this user that carries the mark, but for ourselves. Says how many there were.
pub fn end_marked(mark: &Path) -> usize {
    let first = marked(mark);
    for pid in &first {
        let _ = kill(*pid, Signal::SIGTERM);
    }
    let since = Instant::now();
    while since.elapsed() < PATIENCE && !marked(mark).is_empty() {
        sleep(Duration::from_millis(20));
    }
    // New ones may come from those that are being ended.
    for _ in 0..50 {
        let left = marked(mark);
        if left.is_empty() {
            break;
        }
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
        }
        sleep(Duration::from_millis(20));
    }
    first.len()
}

fn marked(mark: &Path) -> Vec<Pid> {
    let mut wanted = MARK.as_bytes().to_vec();
    wanted.push(b'=');
    wanted.extend_from_slice(mark.as_os_str().as_bytes());
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Those of others cannot be read, nor those that have just ended.
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        if pid != own && environment.split(|&byte| byte == 0).any(|variable| variable == wanted) {
            found.extend(i32::try_from(pid).map(Pid::from_raw));
        }
    }
    found
}
