//! Where `cargo xtask tools` has put things.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The cache: `MIZZEN_TOOLS`, or `mizzen/tools` in the user's cache folder.
pub fn cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("MIZZEN_TOOLS").unwrap_or_else(|| {
        let caches = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
        caches.unwrap_or_else(std::env::temp_dir).join("mizzen/tools")
    })
}

/// What Debian packages bring, found where Debian puts it; all else comes from the cache only, so that a binary
/// of another version on the `PATH` is never taken by accident.
const SYSTEM: &[&str] = &["containerd", "ctr", "docker-registry", "iptables", "runc", "ip", "unshare", "nsenter"];
const SYSTEM_FOLDERS: &[&str] = &["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/bin"];

/// The path of a command.
pub fn command(name: &str) -> Result<PathBuf> {
    let found = if SYSTEM.contains(&name) {
        SYSTEM_FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists())
    } else {
        Some(cache().join("bin").join(name)).filter(|path| path.exists())
    };
    found.ok_or_else(|| Error::Missing { name: name.to_owned() })
}

/// A folder of the cache, such as the Istio module with its charts and goldens.
pub fn folder(name: &str) -> Result<PathBuf> {
    Some(cache().join(name)).filter(|path| path.is_dir()).ok_or_else(|| Error::Missing { name: name.to_owned() })
}
