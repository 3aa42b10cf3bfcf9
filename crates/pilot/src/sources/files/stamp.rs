//! Has a file changed?

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::{
    fs::Metadata,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{sync::Notify, time::timeout};

/// A file that was written less than this ago may be half written.
const SETTLED: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    #[cfg(unix)]
    inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(metadata),
        }
    }

    /// How long to wait until it can be read; nothing if it can be now.
    pub(crate) fn unsettled(&self, now: SystemTime) -> Option<Duration> {
        let age = now.duration_since(self.modified?).ok()?;
        SETTLED.checked_sub(age).filter(|left| !left.is_zero())
    }
}

/// Tells of changes below folders, if the system does.
pub(crate) struct Watch {
    told: Arc<Notify>,
    /// Watches as long as it lives.
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    pub(crate) fn new(paths: &[PathBuf], recursive: bool) -> Self {
        let told = Arc::new(Notify::new());
        let tell = Arc::clone(&told);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Our own reading is no news.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                tell.notify_one();
            }
        });
        let mode = if recursive { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        let mut watcher = match watcher {
            Ok(watcher) => watcher,
            Err(error) => {
                tracing::info!(%error, "the system does not tell of changes: looking for them");
                return Self { told, _watcher: None };
            }
        };
        for path in paths {
            if let Err(error) = watcher.watch(path, mode) {
                tracing::info!(path = %path.display(), %error, "the system does not tell of changes here: looking for them");
            }
        }
        Self { told, _watcher: Some(watcher) }
    }

    /// Returns when something has changed, or at `most` later.
    pub(crate) async fn changed(&self, most: Duration) {
        let _ = timeout(most, self.told.notified()).await;
    }
}
