//! Memory that is free goes back to the machine at once. A look at a mesh needs some for half a second, and then the process rests, for
//! hours; by default the allocator keeps a good part of it as a reserve. It reads its settings before anything of ours runs, so that the
//! process starts itself once more with them.

use std::{
    env,
    os::unix::process::CommandExt,
    process::{self, Command},
};

const SETTING: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "0");

/// Comes back only where it is so already, or cannot be: it works all the same.
pub(super) fn again() {
    if env::var_os(SETTING.0).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut words = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    let error = command.args(words).env(SETTING.0, SETTING.1).exec();
    tracing::debug!(%error, pid = process::id(), "cannot be started with other settings");
}
