//! A measuring program of its own, where one is needed: built beside ours, run, and its figures read.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::{keeper::keep, root};

/// Our program and the one that measures it.
pub(crate) struct Programs {
    mizzen: PathBuf,
    bench: PathBuf,
}

impl Programs {
    pub(crate) fn build(bench: &str, quick: bool) -> anyhow::Result<Self> {
        let (profile, folder) = if quick { ("dev", "debug") } else { ("release", "release") };
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root()).args(["build", "-p", "mizzen-cli", "-p", bench, "--profile", profile]);
        if !keep(&mut cargo).status()?.success() {
            bail!("the programs cannot be built");
        }
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        let program = |name: &str| target.join(folder).join(name);
        Ok(Self { mizzen: program("mizzen"), bench: program(bench) })
    }

    pub(crate) fn run(&self, words: &[String]) -> anyhow::Result<Value> {
        let out = result_file(&self.bench);
        let mut command = Command::new(&self.bench);
        command.arg("--mizzen").arg(&self.mizzen).arg("--out").arg(&out).args(words);
        if !keep(&mut command).status()?.success() {
            bail!("the measurement did not finish");
        }
        let text = fs::read_to_string(&out).context("the figures")?;
        Ok(serde_json::from_str(&text)?)
    }
}

fn result_file(bench: &Path) -> PathBuf {
    bench.with_extension("json")
}
