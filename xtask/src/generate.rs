//! `cargo xtask generate`: what is generated and committed, made anew from the installed interface definitions. The
//! work is `crates/generate`'s, which is compiled only here: compilers for protos are heavy.

use std::process::{Command, ExitCode};

use anyhow::bail;

use crate::{keeper::keep, root, tools};

/// What `mizzen-generate` reads, which says the same in its `NEEDS`.
const DEFINITIONS: &[&str] = &["istio-oracle", "modules/istio", "modules/istio-api"];

pub(crate) fn command() -> anyhow::Result<ExitCode> {
    if let Some(lack) = tools::ensure(|tool| DEFINITIONS.contains(&tool), true)?.first() {
        bail!("not installed: {lack}");
    }
    let mut generate = Command::new("cargo");
    generate.current_dir(root()).args(["run", "--quiet", "-p", "mizzen-generate", "--"]);
    let status = keep(generate.arg(tools::cache_folder()?)).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
