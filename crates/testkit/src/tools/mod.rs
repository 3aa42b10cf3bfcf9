//! Where `cargo xtask tools` has put things.

mod cache;

use std::path::{Path, PathBuf};

pub use cache::cache;

use crate::error::{Error, Result};

/// What Debian packages bring, found where Debian puts it, and the name under which `cargo xtask tools` installs it. All
/// else comes from the cache only, so that a binary of another version on the `PATH` is never taken by accident.
const SYSTEM: &[(&str, &str)] = &[
    ("containerd", "containerd"),
    ("ctr", "containerd"),
    ("runc", "containerd"),
    ("unshare", "containerd"),
    ("nsenter", "containerd"),
    ("docker-registry", "docker-registry"),
    ("ip", "ip"),
    ("iptables", "iptables"),
];
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/bin"];

/// The path of a command.
pub fn command(name: &str) -> Result<PathBuf> {
    let system = SYSTEM.iter().find(|(command, _)| *command == name);
    let (found, tool) = match system {
        Some((_, tool)) => {
            let mut places = SYSTEM_FOLDERS.iter().map(|folder| Path::new(folder).join(name));
            (places.find(|path| path.exists()), *tool)
        }
        None => (Some(cache().join("bin").join(name)).filter(|path| path.exists()), name),
    };
    found.ok_or_else(|| Error::Missing { name: tool.to_owned() })
}

/// A folder of the cache, such as the Istio module with its charts and goldens.
pub fn folder(name: &str) -> Result<PathBuf> {
    Some(cache().join(name))
        .filter(|path| path.is_dir())
        .ok_or_else(|| Error::Missing { name: name.to_owned() })
}
