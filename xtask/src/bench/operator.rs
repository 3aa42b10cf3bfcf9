//! `cargo xtask bench operator`: builds the program that measures and runs it.

use std::process::ExitCode;

use super::programs::Programs;
use crate::result;

pub(crate) fn command(quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    let words: &[&str] =
        if quick { &["--pods", "100", "--nodes", "3", "--rounds", "1"] } else { &["--rounds", "7"] };
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let figures = Programs::build("mizzen-bench-operator", quick)?.run(&words)?;
    if save {
        result::save("operator", &figures)?;
    }
    Ok(ExitCode::SUCCESS)
}
