//! `cargo deny`: licences, bans and sources always; advisories where a database is at hand, with its date.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::tally::Tally;
use crate::{keeper::keep, program, root, tools};

pub(crate) fn check() -> anyhow::Result<Tally> {
    let deny = tools::cache_folder()?.join("bin/cargo-deny");
    if !deny.exists() {
        println!("cargo-deny is not installed: `cargo xtask tools cargo-deny`");
        return Ok(Tally { skipped: 1, ..Tally::default() });
    }
    // It reads the sources of every platform's dependencies, also of those that were never compiled here. Without a
    // network those that are here may be enough.
    if let Err(failure) = program::read(Command::new("cargo").current_dir(root()).args(["fetch", "--locked"]))
    {
        println!("{}", failure.reason);
    }
    let mut tally = run(&deny, &["licenses", "bans", "sources"]);
    match database() {
        Some(database) => {
            println!("advisory database of {}", date(&database));
            tally += run(&deny, &["advisories"]);
        }
        None => {
            println!("advisories: not here (no copy of the advisory database below CARGO_HOME)");
            tally += Tally::not_here(1);
        }
    }
    Ok(tally)
}

fn run(deny: &Path, checks: &[&str]) -> Tally {
    let mut command = Command::new(deny);
    command
        .current_dir(root())
        .args(["--offline", "--all-features", "check", "--hide-inclusion-graph"])
        .args(checks);
    let passed = keep(&mut command).stdin(Stdio::null()).status().is_ok_and(|status| status.success());
    if passed { Tally::passed(checks.len()) } else { Tally::failed(1) }
}

/// Where cargo-deny keeps its copy, below one folder per source.
fn database() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")))?;
    let folders = fs::read_dir(home.join("advisory-dbs")).ok()?.flatten().map(|entry| entry.path());
    folders.filter(|folder| folder.join(".git").exists()).min()
}

fn date(database: &Path) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(database).args(["log", "-1", "--format=%cs"]);
    program::read(&mut git).map_or_else(|_| "unknown date".to_owned(), |date| date.trim().to_owned())
}
