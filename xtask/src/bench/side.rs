//! Two programs that do the same, one after the other, in turn: what each costs, and the ratio.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::bail;
use serde_json::{Value, json};

use super::process::{Cost, measure};
use crate::{keeper::keep, root};

/// A program and what it is asked.
pub(crate) struct Side {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// What it is called in the result, if not by its file.
    named: Option<&'static str>,
}

impl Side {
    pub(crate) fn new<'a>(program: &Path, arguments: impl IntoIterator<Item = &'a OsStr>) -> Self {
        let arguments = arguments.into_iter().map(OsStr::to_owned).collect();
        Self { program: program.to_owned(), arguments, named: None }
    }

    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.named = Some(name);
        self
    }

    fn name(&self) -> String {
        if let Some(name) = self.named {
            return name.to_owned();
        }
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What it prints, once.
    pub(crate) fn output(&self) -> anyhow::Result<Vec<u8>> {
        let mut command = Command::new(&self.program);
        let output = keep(command.args(&self.arguments)).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            bail!(
                "{} ended with {}: {}",
                self.name(),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(output.stdout)
    }

    fn measure(&self) -> anyhow::Result<Cost> {
        let arguments: Vec<&OsStr> = self.arguments.iter().map(OsString::as_os_str).collect();
        let cost = measure(&self.program, &arguments)?;
        // What is refused is left early, and would flatter whoever refuses it.
        if cost.code != 0 {
            bail!("{} ended with {}: it should not", self.name(), cost.code);
        }
        Ok(cost)
    }
}

pub(crate) fn in_turn(ours: &Side, theirs: &Side, rounds: usize) -> anyhow::Result<Value> {
    let (mut our_costs, mut their_costs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        our_costs.push(ours.measure()?);
        their_costs.push(theirs.measure()?);
    }
    let ratio = |of: fn(&Cost) -> f64| median(&our_costs, of) / median(&their_costs, of);
    Ok(json!({
        "rounds": rounds,
        ours.name(): summary(&our_costs),
        theirs.name(): summary(&their_costs),
        "ratio": {
            "seconds": ratio(|cost| cost.seconds),
            "cpuSeconds": ratio(|cost| cost.cpu_seconds),
            "peakBytes": ratio(|cost| cost.peak_bytes as f64),
        },
    }))
}

/// Our own program. A quick look does with the build that tests have made.
pub(crate) fn build(quick: bool) -> anyhow::Result<PathBuf> {
    let (profile, folder) = if quick { ("dev", "debug") } else { ("release", "release") };
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["build", "-p", "mizzen-cli", "--profile", profile]);
    if !keep(&mut cargo).status()?.success() {
        bail!("mizzen cannot be built");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(folder).join("mizzen"))
}

fn summary(costs: &[Cost]) -> Value {
    let seconds = |at: fn(f64, f64) -> f64| costs.iter().map(|cost| cost.seconds).fold(costs[0].seconds, at);
    json!({
        "medianSeconds": median(costs, |cost| cost.seconds),
        "spreadSeconds": [seconds(f64::min), seconds(f64::max)],
        "medianCpuSeconds": median(costs, |cost| cost.cpu_seconds),
        "medianPeakBytes": median(costs, |cost| cost.peak_bytes as f64),
    })
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
