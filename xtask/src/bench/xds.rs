//! `cargo xtask bench xds`: builds the control plane and the program that measures it, and runs the latter. The mesh of
//! a thousand services and a hundred proxies three times, or the curves over services, proxies and objects.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::{keeper::keep, result, root};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The curves: over services, proxies and objects, one run each
    #[arg(long)]
    curves: bool,

    /// For the measuring program, such as `--services 200 --only mizzen`
    #[arg(last = true)]
    more: Vec<String>,
}

/// Services, proxies, objects of each kind.
type Size = (usize, usize, usize);

const CURVES: &[(&str, &[Size])] = &[
    ("services", &[(100, 50, 0), (500, 50, 0), (1_000, 50, 0), (2_000, 50, 0), (5_000, 50, 0)]),
    ("proxies", &[(100, 10, 0), (100, 100, 0), (100, 500, 0), (100, 1_000, 0)]),
    ("objects", &[(500, 50, 0), (500, 50, 100), (500, 50, 400)]),
];

pub(crate) fn command(arguments: &Arguments, quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    let programs = Programs::build(quick)?;
    let size = |services: usize, proxies: usize, objects: usize| {
        let (services, proxies, objects) = (services.to_string(), proxies.to_string(), objects.to_string());
        ["--services", &services, "--proxies", &proxies, "--objects", &objects].map(str::to_owned).to_vec()
    };
    if arguments.curves {
        let mut curves = serde_json::Map::new();
        for (name, points) in CURVES {
            let mut curve = Vec::new();
            for &(services, proxies, objects) in *points {
                let mut words = size(services, proxies, objects);
                words.extend(["--runs", "1", "--changes", "5", "--churn", "5"].map(str::to_owned));
                words.extend(arguments.more.iter().cloned());
                curve.push(programs.run(&words)?);
            }
            curves.insert((*name).to_owned(), Value::Array(curve));
        }
        return finish("xds-curves", &json!({ "curves": curves }), save);
    }
    let mut words = if quick { size(20, 4, 2) } else { size(1_000, 100, 0) };
    let rest = if quick {
        ["--runs", "1", "--changes", "1", "--churn", "2"]
    } else {
        ["--runs", "3", "--changes", "7", "--churn", "30"]
    };
    words.extend(rest.map(str::to_owned));
    if !quick {
        words.push("--eager".to_owned());
    }
    words.extend(arguments.more.iter().cloned());
    finish("xds", &programs.run(&words)?, save)
}

fn finish(name: &str, figures: &Value, save: bool) -> anyhow::Result<ExitCode> {
    if save {
        result::save(name, figures)?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Programs {
    mizzen: PathBuf,
    bench: PathBuf,
}

impl Programs {
    fn build(quick: bool) -> anyhow::Result<Self> {
        let (profile, folder) = if quick { ("dev", "debug") } else { ("release", "release") };
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root()).args([
            "build",
            "-p",
            "mizzen-cli",
            "-p",
            "mizzen-bench-xds",
            "--profile",
            profile,
        ]);
        if !keep(&mut cargo).status()?.success() {
            bail!("the programs cannot be built");
        }
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        let program = |name: &str| target.join(folder).join(name);
        Ok(Self { mizzen: program("mizzen"), bench: program("mizzen-bench-xds") })
    }

    fn run(&self, words: &[String]) -> anyhow::Result<Value> {
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
