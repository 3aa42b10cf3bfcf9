//! From Debian's packages. They go to their usual places, so they need root.

use std::{path::Path, process::Command};

use super::list::Apt;
use crate::{failure::Failure, program};

pub(crate) fn is_installed(apt: &Apt) -> bool {
    apt.provides.iter().all(|path| Path::new(path).exists())
}

/// The command that a person without root may hand to somebody who has it.
pub(crate) fn by_hand(apt: &Apt) -> String {
    format!("sudo apt-get install --yes --no-install-recommends {}", apt.packages.join(" "))
}

pub(crate) fn version(apt: &Apt) -> Option<String> {
    let package = apt.packages.first()?;
    program::read(Command::new("dpkg-query").args(["--show", "--showformat=${Version}", package])).ok()
}

pub(crate) fn install(apt: &Apt, log: &Path) -> Result<(), Failure> {
    let install = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(&apt.packages);
        program::run(&mut command, log)
    };
    // Lists that are missing or old are the usual cause of a first failure.
    install().or_else(|_| {
        program::run(Command::new("apt-get").args(["update", "--quiet"]), log)?;
        install()
    })?;
    if is_installed(apt) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the packages are installed, but not all of {} is there",
        apt.provides.join(", ")
    )))
}
