//! Where the tools cache is. `xtask` includes this very file: the one fills what the other reads.

use std::path::PathBuf;

/// `MIZZEN_TOOLS`, or `mizzen/tools` in the user's cache folder.
pub fn cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from("MIZZEN_TOOLS").unwrap_or_else(|| {
        let caches = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
        caches.unwrap_or_else(std::env::temp_dir).join("mizzen/tools")
    })
}
