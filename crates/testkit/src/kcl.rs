//! The real KCL engine, as its own library for Python has it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    error::{During, Error, Result},
    tools,
};

/// How the engine is asked; `cargo xtask bench app` asks the same way.
pub const SCRIPT: &str = include_str!("kcl.py");

pub struct Kcl;

impl Kcl {
    pub const NEEDS: &[&str] = &["python/kcl"];

    /// What a program prints, as YAML; the engine's own words where it refuses it.
    pub fn run(file: &Path) -> Result<String> {
        Self::run_with(file, &[])
    }

    /// The same for a program that imports packages, which are in these folders.
    pub fn run_with(file: &Path, packages: &[(&str, PathBuf)]) -> Result<String> {
        let packages = packages.iter().map(|(name, folder)| format!("{name}={}", folder.display()));
        let mut command = Command::new("python3");
        command.arg("-c").arg(SCRIPT).arg(file).args(packages);
        command.env("PYTHONPATH", tools::folder("python/kcl")?).env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command.output().during("start python3")?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(Error::Part {
                part: "kcl".to_owned(),
                reason: String::from_utf8_lossy(&output.stderr).into_owned(),
                log: None,
            })
        }
    }
}
