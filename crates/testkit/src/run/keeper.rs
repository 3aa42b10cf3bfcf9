//! Starting a keeper. `xtask` includes this very file: what it starts ends with it in the same way.

use std::{
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

/// Carried in the environment of every process that belongs to a run; the keeper finds them by it.
pub const MARK: &str = "MIZZEN_RUN";

/// The keeper of a run. Its standard input is closed by the kernel when this process ends: that is its signal, so the
/// value must live as long as the process.
pub(crate) fn start(folder: &Path) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", include_str!("keeper.sh"), "mizzen-keeper"])
        .arg(folder)
        // In a process that is itself a part of another run, that run's keeper must leave this one alone.
        .env_remove(MARK)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C at the terminal is not for it.
        .process_group(0)
        .spawn()
}
