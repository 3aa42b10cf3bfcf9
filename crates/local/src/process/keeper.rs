//! How children end with us.

use super::{Place, end_marked};
use crate::state::MARK;
use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, setns, unshare},
    sys::{prctl, signal::Signal},
    unistd::{Gid, getppid, setgid},
};
use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};
use tokio::{process::Child, time::sleep};

/// The hidden verb of the binary that calls [`become_child`].
pub(crate) const CHILD_VERB: &str = "child-of-up";
/// The hidden verb of the binary that calls [`keep`].
const KEEPER_VERB: &str = "keeper-of-up";

/// Turns this process into the program that is named, as a child that the kernel ends when its parent ends. Returns only why
/// that did not work.
pub fn become_child(parent: u32, place: &Place, program: &OsString, arguments: &[OsString]) -> io::Error {
    match settle(parent, place) {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

fn settle(parent: u32, place: &Place) -> io::Result<()> {
    if let Some(network) = &place.network {
        setns(File::open(network)?, CloneFlags::CLONE_NEWNET)?;
    }
    if let Some(etc) = &place.etc {
        unshare(CloneFlags::CLONE_NEWNS)?;
        let none = None::<&str>;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
        for file in fs::read_dir(etc)? {
            let file = file?;
            let place = Path::new("/etc").join(file.file_name());
            // Where there is none, nobody looks for it.
            if place.exists() {
                mount(Some(&file.path()), &place, none, MsFlags::MS_BIND, none)?;
            }
        }
    }
    if let Some(group) = place.group {
        setgid(Gid::from_raw(group))?;
    }
    // Last: changing who one is takes it back.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // It may have ended before we could ask.
    if u32::try_from(getppid().as_raw()) != Ok(parent) {
        return Err(io::Error::other("the mesh has ended"));
    }
    Ok(())
}

/// Has a keeper for the mesh, and another one if that ends, for ever. A keeper's standard input ends with this future, and with this process.
pub(crate) async fn guard(mark: PathBuf) {
    loop {
        match start(&mark) {
            Ok(mut keeper) => {
                // `wait` would close it.
                let input = keeper.stdin.take();
                let _ = keeper.wait().await;
                drop(input);
            }
            Err(error) => {
                tracing::error!(%error, "no keeper can be started: processes may be left after kill -9");
            }
        }
        sleep(Duration::from_secs(1)).await;
    }
}

fn start(mark: &Path) -> io::Result<Child> {
    tokio::process::Command::new(env::current_exe()?)
        .arg(KEEPER_VERB)
        .arg(mark)
        .env_remove(MARK)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C at the terminal is not for it.
        .process_group(0)
        .spawn()
}

/// Waits until standard input ends, then ends everything of the mesh.
pub fn keep(mark: &Path) {
    let mut bytes = [0; 64];
    let mut input = io::stdin().lock();
    loop {
        match input.read(&mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    end_marked(mark);
}
