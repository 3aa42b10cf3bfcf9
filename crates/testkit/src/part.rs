//! One child process that belongs to the run: started with a log of its own, ended when dropped.

use std::{
    collections::HashSet,
    fs::{File, Permissions},
    io::{Read, Seek, SeekFrom},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    error::{During, Error, Result},
    run::{MARK, run},
    wait,
};

pub struct Part {
    name: String,
    child: Mutex<Child>,
    pid: u32,
    log: PathBuf,
}

impl Part {
    /// Starts the command; output goes to the part's log, input is empty.
    pub fn start(name: &str, mut command: Command) -> Result<Self> {
        let log = run().log_file(name);
        let out = File::create(&log).during(format_args!("log of {name}"))?;
        // A part that runs as another user may open its output once more by name, as `/dev/stdout`.
        out.set_permissions(Permissions::from_mode(0o666)).during(format_args!("log of {name}"))?;
        let err = out.try_clone().during(format_args!("log of {name}"))?;
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .env(MARK, run().folder())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .during(format_args!("start {program}"))?;
        Ok(Self { name: name.to_owned(), pid: child.id(), child: Mutex::new(child), log })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn log_file(&self) -> &Path {
        &self.log
    }

    /// Everything that the part has printed so far.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// How it ended, if it did.
    pub fn ended(&self) -> Option<ExitStatus> {
        self.child().try_wait().ok().flatten()
    }

    /// Sends a signal; a part that is gone already is no error.
    pub fn signal(&self, signal: Signal) {
        if self.ended().is_none() {
            let _ = kill(Pid::from_raw(self.pid.cast_signed()), signal);
        }
    }

    /// Ends the part at once and waits until it is gone.
    pub fn kill(&self) {
        let mut child = self.child();
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Whether it is this process that listens on a port. Whoever else took the port in between may answer as well.
    pub fn listens_on(&self, port: u16) -> bool {
        let process = PathBuf::from(format!("/proc/{}", self.pid));
        let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        let own: HashSet<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
        let tables = ["net/tcp", "net/tcp6"].map(|name| std::fs::read_to_string(process.join(name)));
        let local = format!(":{port:04X}");
        tables.iter().flatten().flat_map(|table| table.lines()).any(|line| {
            // Local address, state (0A is listening) and inode, as the kernel prints its table of sockets.
            let fields: Vec<&str> = line.split_whitespace().collect();
            matches!(fields.as_slice(), [_, address, _, "0A", _, _, _, _, _, inode, ..]
                if address.ends_with(&local) && own.contains(&format!("socket:[{inode}]")))
        })
    }

    /// An error about this part, with the end of its log.
    pub fn error(&self, reason: impl std::fmt::Display) -> Error {
        Error::Part { part: self.name.clone(), reason: reason.to_string(), log: Some(self.log.clone()) }
    }

    /// Waits for a condition of this part; gives up early when the process ends.
    pub async fn until<T>(
        &self,
        what: &str,
        limit: Duration,
        mut probe: impl AsyncFnMut() -> wait::Seen<T>,
    ) -> Result<T> {
        let outcome = wait::until(what, limit, async || match self.ended() {
            Some(status) => wait::Seen::Never(format!("it ended ({status})")),
            None => probe().await,
        });
        outcome.await.map_err(|error| self.error(error))
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The last lines of a log, indented, for an error message.
pub(crate) fn tail(log: &Path, lines: usize) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(log)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(16 * 1024)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    let last = &all[all.len().saturating_sub(lines)..];
    last.iter().map(|line| format!("  | {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, process::Command};

    use super::Part;

    #[test]
    fn a_port_on_which_somebody_else_listens_is_not_the_part_s_own() {
        let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut command = Command::new("sleep");
        command.arg("600");
        let part = Part::start("sleeper", command).unwrap();
        assert!(!part.listens_on(stranger.local_addr().unwrap().port()));
    }
}
