//! `cargo xtask bench install`: builds the program that measures and runs it.

use std::process::ExitCode;

use super::programs::Programs;
use crate::result;

pub(crate) fn command(quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    let rounds = if quick { "1" } else { "7" };
    let figures =
        Programs::build("mizzen-bench-install", quick)?.run(&["--rounds".to_owned(), rounds.to_owned()])?;
    if save {
        result::save("install", &figures)?;
    }
    Ok(ExitCode::SUCCESS)
}
