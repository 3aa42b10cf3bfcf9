//! `cargo xtask bench xds`: builds the control plane and the program that measures it, and runs the latter. The mesh of
//! a thousand services and a hundred proxies three times, or the curves over services, proxies and objects.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::programs::Programs;
use crate::result;

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
    let programs = Programs::build("mizzen-bench-xds", quick)?;
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
