//! `cargo xtask fuzz`: inputs made up by libFuzzer, guided by the lines that they reach: `validate` through text, objects
//! and verdict, `render` through templates and `--set`. It compiles with the toolchain that everything else is compiled with: the coverage that libFuzzer wants is
//! in stable compilers, too. What it learns stays under the target folder; what it finds is to become a seed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::{keeper::keep, result, root};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What is fuzzed
    #[arg(default_value = "validate")]
    what: What,

    /// How long
    #[arg(long, default_value_t = 10)]
    minutes: u64,

    /// Write bench/results/fuzz-NAME.json
    #[arg(long)]
    save: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Validate,
    Render,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Render => "render",
        }
    }
}

/// What libFuzzer needs of the compiler, and Rust's own checks.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions=yes",
    "-Coverflow-checks=yes",
];

/// One input may take this many seconds, and the process this many megabytes.
const SECONDS: u64 = 10;
const MEGABYTES: u64 = 1_024;

pub(crate) fn command(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let name = arguments.what.name();
    let target = root().join("target/fuzz");
    let program = build(&target, name)?;
    let (learned, found) = (target.join("corpus").join(name), target.join("found").join(name));
    for folder in [&learned, &found] {
        fs::create_dir_all(folder)?;
    }
    let before = files(&found)?;
    let seeds = root().join("fuzz/seeds").join(name);
    let log = target.join(format!("{name}.log"));
    println!("{} minutes; what it prints: {}", arguments.minutes, log.display());
    let output = fs::File::create(&log)?;
    let mut run = Command::new(program);
    run.arg(&learned).arg(&seeds);
    run.arg(format!("-max_total_time={}", arguments.minutes * 60));
    run.arg(format!("-timeout={SECONDS}")).arg(format!("-rss_limit_mb={MEGABYTES}"));
    run.arg("-max_len=16384").arg("-print_final_stats=1").arg("-use_value_profile=1");
    run.arg(format!("-artifact_prefix={}/", found.display()));
    let status = keep(&mut run).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).status()?;

    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let new: Vec<_> = files(&found)?.into_iter().filter(|file| !before.contains(file)).collect();
    let row = json!({
        "minutes": arguments.minutes,
        "inputs": statistic(&text, "number_of_executed_units"),
        "peakMegabytes": statistic(&text, "peak_rss_mb"),
        "seeds": files(&seeds)?.len(),
        "kept": files(&learned)?.len(),
        "edgesReached": reached(&text),
        "findings": new.len(),
    });
    println!("{row:#}");
    for file in &new {
        println!("finding: {}", file.display());
    }
    if arguments.save {
        result::save(&format!("fuzz-{name}"), &row)?;
    }
    if new.is_empty() && !status.success() {
        bail!("the fuzzer ended with {status}; see {}", log.display());
    }
    Ok(if new.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A target folder of its own, or every ordinary build afterwards would start anew.
fn build(target: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let host = host()?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["build", "--release", "-p", "mizzen-fuzz", "--target", &host]);
    cargo
        .args(["--bin", &format!("fuzz-{name}")])
        .arg("--target-dir")
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    // Link-time optimisation would take the counters away that it thinks nobody reads.
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    // Generated code with counters in it takes the optimiser a quarter of an hour.
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    if !keep(&mut cargo).status()?.success() {
        bail!("the fuzzer cannot be built");
    }
    Ok(target.join(host).join("release").join(format!("fuzz-{name}")))
}

/// Naming it makes cargo keep the flags away from build scripts.
fn host() -> anyhow::Result<String> {
    let output = keep(Command::new("rustc").current_dir(root()).arg("-vV")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc does not say what it compiles for")
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// `stat::name: 123`
fn statistic(log: &str, name: &str) -> Option<u64> {
    let line = log.lines().rev().find_map(|line| line.strip_prefix(&format!("stat::{name}:")))?;
    line.trim().parse().ok()
}

/// `#123 … cov: 456 …`, of the last line that has it.
fn reached(log: &str) -> Option<u64> {
    let line = log.lines().rev().find(|line| line.contains(" cov: "))?;
    line.split(" cov: ").nth(1)?.split_whitespace().next()?.parse().ok()
}
