//! `cargo xtask test`: every check of this repository, built once, counted once.
//!
//! Parts run in the order of their cost. The last line is `N passed, N failed, N skipped`; the table before it says
//! where the time went. With `CI` set nothing may be skipped; what is `not here` (comparison data, the advisory
//! database) is counted apart and always named.

mod binaries;
mod deny;
mod libtest;
mod tally;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use anyhow::Context;
use clap::ValueEnum;
use tally::Tally;

use crate::{keeper::keep, root, tools};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The parts to run; all when none is named
    #[arg(value_enum)]
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// `cargo fmt --check`
    Format,
    /// `cargo clippy`, warnings are errors
    Lint,
    /// Functions and small binaries, no real parts
    Unit,
    /// Outputs compared with files (`tests/golden_*.rs`)
    Golden,
    /// Real Kubernetes, Envoy, istiod (`tests/real_*.rs`)
    Real,
    /// Examples in the documentation, and that it builds without warnings
    Doc,
    /// Licences, bans, sources and, where a database is at hand, advisories
    Deny,
}

/// Where a run leaves its logs.
struct Place {
    logs: PathBuf,
    /// Two runs in one checkout would write over each other.
    _lock: File,
}

pub(crate) fn command(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let start = Instant::now();
    let parts = if arguments.parts.is_empty() { Part::value_variants() } else { &arguments.parts };
    let place = Place::new()?;
    let in_ci = in_ci();
    let lacks = tools::ensure(|tool| parts.iter().any(|part| part.wants(tool)), in_ci)
        .unwrap_or_else(|error| vec![format!("any tool: {error:#}")]);
    let tools_seconds = start.elapsed().as_secs_f64();
    let mut table = tally::Table::default();
    for lack in &lacks {
        eprintln!("not installed: {lack}");
    }
    if in_ci && !lacks.is_empty() {
        table.add("tools", Tally::failed(lacks.len()), start.elapsed());
    }
    let mut built = None;
    for part in parts {
        if part.is_built() && built.is_none() {
            eprintln!("== build");
            let began = Instant::now();
            // What cannot be built fails once; the other parts have their own to say.
            match binaries::build() {
                Ok(binaries) => {
                    table.note("build", began.elapsed());
                    built = Some(binaries);
                }
                Err(error) => {
                    println!("error: {error:#}");
                    table.add("build", Tally::failed(1), began.elapsed());
                    built = Some(Vec::new());
                }
            }
        }
        let began = Instant::now();
        eprintln!("== {}", part.name());
        let tally = match part {
            Part::Format => check(Command::new("cargo").args(["fmt", "--all", "--check"])),
            Part::Lint => check(
                cargo(&["clippy", "--workspace", "--all-targets", "--quiet"]).args(["--", "-D", "warnings"]),
            ),
            Part::Unit | Part::Golden | Part::Real => {
                let chosen = built.iter().flatten().filter(|binary| binary.part() == *part);
                libtest::run_all(chosen, &place, in_ci)?
            }
            Part::Doc => doc(),
            Part::Deny => deny::check()?,
        };
        table.add(part.name(), tally, began.elapsed());
    }
    // Parts that need no tool also run where there is no place for any.
    if let (Ok(gigabytes), Ok(folder)) = (tools::disk_gigabytes(), tools::cache_folder()) {
        println!("\ntools: {tools_seconds:.1} s, {gigabytes:.1} GB in {}", folder.display());
    }
    Ok(table.print(in_ci))
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Lint => "lint",
            Self::Unit => "unit",
            Self::Golden => "golden",
            Self::Real => "real",
            Self::Doc => "doc",
            Self::Deny => "deny",
        }
    }

    /// Whether it runs test binaries.
    fn is_built(self) -> bool {
        matches!(self, Self::Unit | Self::Golden | Self::Real)
    }

    /// Only what a part uses is installed for it.
    fn wants(self, tool: &str) -> bool {
        match self {
            Self::Deny => tool == "cargo-deny",
            Self::Golden | Self::Real => tool != "cargo-deny",
            Self::Format | Self::Lint | Self::Unit | Self::Doc => false,
        }
    }
}

impl Place {
    fn new() -> anyhow::Result<Self> {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        fs::create_dir_all(&target).context("the target folder cannot be made")?;
        let lock =
            File::create(target.join("test-logs.lock")).context("the folder for logs cannot be locked")?;
        if lock.try_lock().is_err() {
            eprintln!("another `cargo xtask test` is at work in this checkout: waiting for it");
            lock.lock()?;
        }
        let logs = target.join("test-logs");
        if logs.exists() {
            fs::remove_dir_all(&logs).context("the logs of the last run cannot be removed")?;
        }
        fs::create_dir_all(&logs).context("the folder for logs cannot be made")?;
        let logs = logs.canonicalize()?;
        Ok(Self { logs, _lock: lock })
    }
}

/// As most programs read it.
fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(arguments);
    command
}

/// A command that counts as one test; its output is shown as it comes.
fn check(command: &mut Command) -> Tally {
    match keep(command).current_dir(root()).stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Tally::passed(1),
        Ok(_) => Tally::failed(1),
        Err(error) => {
            println!("{} cannot be started: {error}", command.get_program().display());
            Tally::failed(1)
        }
    }
}

fn doc() -> Tally {
    let mut tally =
        check(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"));
    let output = keep(&mut cargo(&["test", "--workspace", "--doc", "--quiet"])).output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let examples = libtest::count(&text);
            tally += Tally { skipped: examples.skipped, ..Tally::default() };
            if !output.status.success() {
                print!("{text}{}", String::from_utf8_lossy(&output.stderr));
                tally += Tally::failed(examples.failed.max(1));
            }
            tally += Tally::passed(examples.passed);
        }
        Err(error) => {
            println!("cargo test --doc cannot be started: {error}");
            tally += Tally::failed(1);
        }
    }
    tally
}
