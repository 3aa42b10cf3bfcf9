//! `cargo xtask parity`: our control plane beside the real istiod, scenario by scenario, and with `--envoys` the same scenarios
//! through real Envoys. The work is `mizzen-parity`'s, which has the dependencies that this program does without; here it is
//! built, called, and its result kept.

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::{keeper::keep, result, root};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these scenarios (files of parity/scenarios, without .yaml)
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,

    /// Give the scenarios to real Envoys instead: do they take all that is sent?
    #[arg(long)]
    envoys: bool,

    /// Write bench/results/parity.json, or envoys.json
    #[arg(long)]
    save: bool,

    /// The real istiod in our place: shows whether the yardstick holds still
    #[arg(long, conflicts_with = "save")]
    against_itself: bool,
}

pub(crate) fn command(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if arguments.save && !arguments.only.is_empty() {
        bail!("a part of the scenarios is no result to save: leave out --only or --save");
    }
    let yardstick = build("mizzen-parity", "mizzen-parity")?;
    let folder = root().join("target/parity");
    fs::create_dir_all(&folder)?;
    let (verb, name, page) = match arguments.envoys {
        true => ("envoys", "envoys", "envoys.md"),
        false => ("run", "parity", "report.md"),
    };
    let json = folder.join(format!("{name}.json"));
    // One of another run must not be saved as this one.
    let _ = fs::remove_file(&json);
    let mut run = Command::new(yardstick);
    run.arg(verb).arg("--page").arg(folder.join(page)).arg("--json").arg(&json);
    if !arguments.against_itself {
        run.arg("--binary").arg(build("mizzen-cli", "mizzen")?);
    }
    run.arg("--").args(&arguments.only);
    let status = keep(&mut run).status()?;
    if arguments.save {
        let text = fs::read_to_string(&json).context("there is no result to save")?;
        result::save(name, &serde_json::from_str::<Value>(&text)?)?;
    }
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A binary of this workspace, by the path that cargo tells.
fn build(package: &str, binary: &str) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["build", "--package", package, "--bin", binary]);
    cargo.arg("--message-format=json-render-diagnostics").stderr(std::process::Stdio::inherit());
    let output = keep(&mut cargo).output()?;
    if !output.status.success() {
        bail!("{binary} cannot be built");
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let file = messages
        .filter(|message| message["target"]["name"] == binary)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    file.with_context(|| format!("cargo does not say where it has put {binary}"))
}
