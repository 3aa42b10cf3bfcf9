//! One process of the mesh, from its start over all its ends to the end of the mesh.

use super::{Command, Log, keeper::CHILD_VERB};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use std::{
    env, io,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Child,
    sync::watch,
    time::{sleep, timeout},
};

/// One that ends again and again is started less and less often.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// One that has lived so long is forgiven.
const FORGIVEN: Duration = Duration::from_secs(10);
/// After being asked to end.
const PATIENCE: Duration = Duration::from_secs(3);
/// Ends in a row that are told.
const TOLD: u32 = 4;
/// Of what it said last.
const LAST_LINES: usize = 5;

/// How a process is doing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    pub(crate) pid: Option<u32>,
    pub(crate) since: Option<SystemTime>,
    /// Ends that nobody asked for.
    pub(crate) restarts: u32,
    pub(crate) last_end: Option<Ended>,
    /// It ended more than once before it had lived for a while.
    pub(crate) ends_at_once: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// `exit status: 1`, `signal: 9 (SIGKILL)`, or why it could not be started.
    pub(crate) how: String,
    /// What it said last.
    pub(crate) said: Vec<String>,
}

/// A process as others see it.
#[derive(Clone)]
pub(crate) struct Supervised {
    pub(crate) name: String,
    status: watch::Receiver<Status>,
}

impl Supervised {
    pub(crate) fn status(&self) -> Status {
        self.status.borrow().clone()
    }
}

/// The future runs until `end` is told and the process is gone. `tell` is called with sentences for people.
pub(crate) fn supervise(
    name: String,
    command: Command,
    log: Log,
    mut end: watch::Receiver<bool>,
    tell: impl Fn(String) + Send + Sync + 'static,
) -> (Supervised, impl Future<Output = ()>) {
    let (status, seen) = watch::channel(Status::default());
    let handle = Supervised { name: name.clone(), status: seen };
    let log = Arc::new(Mutex::new(log));
    let running = async move {
        let mut pause = FIRST_PAUSE;
        let mut quick = 0_u32;
        loop {
            let begun = Instant::now();
            let said = Said::default();
            let ended = match start(&command) {
                Ok(mut child) => {
                    let pid = child.id();
                    status.send_modify(|status| (status.pid, status.since) = (pid, Some(SystemTime::now())));
                    let reading = [
                        tokio::spawn(follow(child.stdout.take(), Arc::clone(&log), said.clone())),
                        tokio::spawn(follow(child.stderr.take(), Arc::clone(&log), said.clone())),
                    ];
                    let ended = tokio::select! {
                        ended = child.wait() => Some(ended),
                        _ = end.wait_for(|end| *end) => None,
                    };
                    let Some(ended) = ended else {
                        stop(&mut child).await;
                        status.send_modify(|status| status.pid = None);
                        return;
                    };
                    // Whoever inherited its output may go on writing.
                    for mut task in reading {
                        let _ = timeout(Duration::from_millis(200), &mut task).await;
                        task.abort();
                    }
                    // What it started may still have its port.
                    signal_group(pid, Signal::SIGKILL);
                    ended.map_or_else(|error| error.to_string(), how)
                }
                Err(error) => format!("it cannot be started: {error}"),
            };
            let lived = begun.elapsed();
            (pause, quick) = if lived > FORGIVEN { (FIRST_PAUSE, 0) } else { (pause, quick + 1) };
            let ended = Ended { how: ended, said: said.lines() };
            match quick {
                0..TOLD => tell(sentence(&name, &ended, pause)),
                TOLD => tell(format!(
                    "{name} ends again and again; it is tried further, and this is not said any more"
                )),
                _ => {}
            }
            status.send_modify(|status| {
                status.pid = None;
                status.restarts += 1;
                status.ends_at_once = quick > 1;
                status.last_end = Some(ended);
            });
            tokio::select! {
                () = sleep(pause) => {}
                _ = end.wait_for(|end| *end) => return,
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    };
    (handle, running)
}

fn sentence(name: &str, ended: &Ended, pause: Duration) -> String {
    let said = ended.said.last().map(|line| format!("; it said last: {line}")).unwrap_or_default();
    format!("{name} has ended ({}){said}; it is started again in {:.1} s", ended.how, pause.as_secs_f32())
}

fn how(status: ExitStatus) -> String {
    status.to_string()
}

fn start(command: &Command) -> io::Result<Child> {
    // A missing folder is else told as if the program were missing.
    if !command.folder.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no folder {}", command.folder.display()),
        ));
    }
    let mut child = tokio::process::Command::new(env::current_exe()?);
    child.arg(CHILD_VERB).arg(std::process::id().to_string());
    for (name, path) in [("--network", &command.place.network), ("--etc", &command.place.etc)] {
        if let Some(path) = path {
            child.arg(name).arg(path);
        }
    }
    if let Some(group) = command.place.group {
        child.arg("--group").arg(group.to_string());
    }
    child
        .arg("--")
        .arg(&command.program)
        .args(&command.arguments)
        .current_dir(&command.folder)
        .envs(&command.environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C at the terminal is for us alone, and its own children are ended with it.
        .process_group(0)
        .spawn()
}

async fn stop(child: &mut Child) {
    let group = child.id();
    signal_group(group, Signal::SIGTERM);
    if timeout(PATIENCE, child.wait()).await.is_err() {
        signal_group(group, Signal::SIGKILL);
        let _ = child.wait().await;
    }
    // What it left behind in its group.
    signal_group(group, Signal::SIGKILL);
}

/// A child leads a group of its own number.
fn signal_group(leader: Option<u32>, signal: Signal) {
    if let Some(leader) = leader.and_then(|pid| i32::try_from(pid).ok()) {
        let _ = killpg(Pid::from_raw(leader), signal);
    }
}

/// The last lines of a process.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn add(&self, bytes: &[u8]) {
        const KEPT: usize = 4 << 10;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    fn lines(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        // Nothing that a process prints may steer the terminal.
        let plain = |line: &&str| line.chars().filter(|letter| !letter.is_control()).take(300).collect();
        last.iter().map(plain).collect()
    }
}

async fn follow(output: Option<impl AsyncRead + Unpin>, log: Arc<Mutex<Log>>, said: Said) {
    let Some(mut output) = output else { return };
    let mut bytes = vec![0; 16 << 10];
    while let Ok(count @ 1..) = output.read(&mut bytes).await {
        said.add(&bytes[..count]);
        let failed = log.lock().unwrap_or_else(PoisonError::into_inner).write(&bytes[..count]);
        if let Some(error) = failed {
            tracing::warn!(%error, "a log cannot be written: what processes say is lost until it can");
        }
    }
}
