//! A node's private namespaces: one for mounts, network, processes, host name and IPC alike.
//!
//! In: a folder and a name. Out: processes that run in there, and its network. The first process (`init.sh`) takes
//! everything with it when it ends; the kernel ends it when `unshare` ends, and that one is ended by us or by the
//! keeper. So nothing is ever torn down in order: pods, shims, mounts and rules just vanish.

use std::{
    ffi::OsStr,
    fs,
    net::Ipv4Addr,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    Part,
    error::{Error, Result},
    netns::NetNs,
    run::run,
    tools,
    wait::{self, Seen},
};

/// Debian's folders, whatever the caller's own search path has: iptables and runc live in `sbin`.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

pub(super) struct Space {
    /// `unshare`, the parent of the first process.
    unshare: Part,
    init: u32,
    network: NetNs,
    control_group: String,
}

impl Space {
    /// Makes the namespaces and waits until they are set up.
    pub(super) async fn make(folder: &Path, name: &str, address: Ipv4Addr) -> Result<Self> {
        // The keeper removes what has the run's name; nodes of one run lie below it side by side.
        let below = folder.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let control_group = format!("{}/{below}", run().name());
        let mut command = Command::new(tools::command("unshare")?);
        command
            .args(["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--"])
            .args(["sh", "-c", include_str!("init.sh"), "mizzen-node"])
            .arg(folder)
            .args([name, &address.to_string(), &control_group])
            .env("PATH", PATH);
        let unshare = Part::start("node", command)?;
        let said = folder.join("init.pid");
        let init = unshare
            .until("the node's namespaces", wait::PATIENCE, async || {
                let text = fs::read_to_string(&said).ok();
                let pid = text.and_then(|text| text.trim().parse().ok());
                Seen::from_option(pid, || "they are being set up".to_owned())
            })
            .await?;
        let network = NetNs::of_pid(init)?;
        Ok(Self { unshare, init, network, control_group })
    }

    pub(super) fn network(&self) -> &NetNs {
        &self.network
    }

    /// As the kubelet names it: from the root of every controller.
    pub(super) fn control_group(&self) -> String {
        format!("/{}", self.control_group)
    }

    /// Starts a process inside. Its working folder is the root, so paths must be absolute.
    pub(super) fn start(&self, name: &str, command: &Command) -> Result<Part> {
        Part::start(name, self.enter(command)?)
    }

    /// The same command, inside.
    fn enter(&self, inner: &Command) -> Result<Command> {
        let mut command = Command::new(tools::command("nsenter")?);
        command
            .arg(format!("--target={}", self.init))
            .args(["--mount", "--net", "--pid", "--uts", "--ipc", "--"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .env("PATH", PATH);
        for (name, value) in inner.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        Ok(command)
    }

    /// Whether everything inside has ended.
    pub(super) fn ended(&self) -> Option<Error> {
        self.unshare.ended().map(|status| self.unshare.error(format_args!("it ended ({status})")))
    }
}

/// The first process goes first: while the parents of those that were sent inside still live, they collect them, and the
/// namespaces are gone when `unshare` is.
impl Drop for Space {
    fn drop(&mut self) {
        if self.unshare.ended().is_some() {
            return;
        }
        let _ = kill(Pid::from_raw(self.init.cast_signed()), Signal::SIGKILL);
        let patience = Instant::now() + Duration::from_secs(5);
        while self.unshare.ended().is_none() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
