//! A mesh in the background: this process starts another one, waits until it is ready, and leaves.

use super::{failed, screen};
use crate::{exit::Exit, failure::Hint, output::Output};
use anyhow::{Context, Result, anyhow};
use mizzen_local::{
    client,
    state::{Refused, State},
    up::{Capture, Failed},
};
use std::{
    env,
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Downloading an Envoy may take minutes, and is said meanwhile.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) fn start(
    file: Option<&Path>,
    envoy: Option<&Path>,
    capture: Capture,
    here: &Path,
    output: &mut Output,
) -> Result<Exit> {
    let folder = match file {
        Some(file) => {
            mizzen_local::config::read(file).map_err(|refused| failed::told(Failed::Config(refused)))?.folder
        }
        None => here.to_owned(),
    };
    let state = State::of(&folder).context("the current folder is gone")?;
    // Taken for a moment, so that a mesh that is up is told at once, and a folder that cannot be written.
    drop(state.lock().map_err(|refused: Refused| failed::told(refused.into()))?);
    let log = state.root().join("up.log");
    let open =
        |truncate| OpenOptions::new().create(true).write(true).truncate(truncate).mode(0o600).open(&log);
    let (out, errors) = open(true)
        .and_then(|file| Ok((file.try_clone()?, file)))
        .with_context(|| format!("{} cannot be written", log.display()))?;
    let mut command = Command::new(env::current_exe().context("this program is gone")?);
    command.args(["up", "--detached", "--capture", capture.word()]);
    if let Some(file) = file {
        command.arg("--file").arg(file);
    }
    if let Some(envoy) = envoy {
        command.arg("--envoy").arg(envoy);
    }
    let child = command.stdin(Stdio::null()).stdout(out).stderr(errors).spawn();
    let mut child = child.context("the mesh cannot be started")?;
    let begun = Instant::now();
    let mut shown = 0;
    loop {
        if let Some(record) = state.record().filter(|record| record.ready && record.pid == child.id()) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let view = runtime.block_on(client::view(&record))?;
            output.text(&screen::summary(&view, Some(begun.elapsed().as_secs_f32())))?;
            let name = screen::program();
            output.text(&format!(
                "\nIt runs in the background: `{name} status` shows it, `{name} down` ends it.\n"
            ))?;
            return Ok(Exit::Done);
        }
        if let Some(status) = child.try_wait().context("the mesh is lost")? {
            let said = fs::read_to_string(&log).unwrap_or_default();
            // It has said why, and what to do, in our own words.
            let said = said.trim_start_matches("error: ").trim_end();
            if said.is_empty() {
                let reason = format!(
                    "the mesh has not started ({status}), and why could not be written to {}",
                    log.display()
                );
                return Err(anyhow!(reason).hint("is the disk full?"));
            }
            return Err(anyhow!("{said}"));
        }
        if begun.elapsed() > PATIENCE {
            return Err(anyhow!("the mesh is not ready after {} s", PATIENCE.as_secs())
                .hint(format!("{} says what it waits for", log.display())));
        }
        // What takes long is said while it does.
        let said = fs::read_to_string(&log).unwrap_or_default();
        if begun.elapsed() > Duration::from_secs(2) && said.len() > shown && !said.starts_with("error") {
            output.text(&said[shown..])?;
            output.flush()?;
            shown = said.len();
        }
        sleep(Duration::from_millis(20));
    }
}

/// A terminal that closes, or its Ctrl-C, is nothing to us from here on.
pub(super) fn leave_terminal() {
    // Fails only for one that leads a session already, which is as good.
    let _ = nix::unistd::setsid();
}
