//! The run: what one test process owns, and who cleans up after it.
//!
//! In: nothing; the first part that is started makes the run. Out: a folder for state, a folder for logs, a
//! runtime for what must outlive a single test, and the keeper. Rust drops no statics and nobody drops anything
//! after `kill -9`, so cleaning up is not left to this process: `keeper.sh` does it in every case, the same way.

mod keeper;

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    panic,
    path::{Path, PathBuf},
    process::Child,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::UNIX_EPOCH,
};

pub use keeper::MARK;
use tokio::runtime::Runtime;

pub struct Run {
    folder: PathBuf,
    runtime: Runtime,
    next: AtomicU32,
    _keeper: Child,
}

static RUN: OnceLock<Run> = OnceLock::new();

/// The run of this process.
pub fn run() -> &'static Run {
    RUN.get_or_init(Run::new)
}

/// A test of this process has failed: from now on the logs are kept. Says where, if there is anything to keep.
pub(crate) fn failed() -> Option<String> {
    let folder = &RUN.get()?.folder;
    fs::write(folder.join("failed"), "").ok()?;
    Some(format!("the logs of this run are kept in {}/logs", folder.display()))
}

impl Run {
    #[expect(clippy::expect_used, reason = "without a folder and a keeper no test of this process can run")]
    fn new() -> Self {
        // Numbers of processes come again, and the kept logs of a failed run must not be written over.
        let started = UNIX_EPOCH.elapsed().map_or(0, |time| time.as_millis());
        let folder = std::env::temp_dir().join(format!("mizzen-run-{}-{started}", std::process::id()));
        fs::create_dir_all(folder.join("logs")).expect("the run's folder can be made");
        // Proxies run as another user and read their configuration here.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("the run's folder is ours");
        let keeper = keeper::start(&folder).expect("sh can be started");
        if std::env::var_os("MIZZEN_KEEP").is_some() {
            let _ = fs::write(folder.join("keep-all"), "");
        }
        keep_logs_of_failed_tests();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("mizzen-run")
            .enable_all()
            .build()
            .expect("a runtime can be made");
        Self { folder, runtime, next: AtomicU32::new(0), _keeper: keeper }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Also the name of every control group that this run makes.
    pub fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where servers and relays of this process live: a test's own runtime ends with the test.
    pub fn runtime(&self) -> &tokio::runtime::Handle {
        self.runtime.handle()
    }

    /// A new folder for one part, readable by other users.
    pub fn part_folder(&self, part: &str) -> std::io::Result<PathBuf> {
        let folder = self.folder.join(format!("{:03}-{part}", self.number()));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    }

    /// A new log file for one part.
    pub fn log_file(&self, part: &str) -> PathBuf {
        self.folder.join("logs").join(format!("{:03}-{part}.log", self.number()))
    }

    fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// A test fails by a panic, or by an error that it returns: that one is seen where the error is printed.
fn keep_logs_of_failed_tests() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        previous(info);
        if let Some(place) = failed() {
            // Past libtest's capture: the place must be seen in any case.
            let _ = writeln!(std::io::stderr(), "{place}");
        }
    }));
}
