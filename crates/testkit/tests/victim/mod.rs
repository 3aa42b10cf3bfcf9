//! A process of its own with a run of its own, to be ended in one way or another.

use std::{
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
};

pub(crate) struct Victim {
    child: Child,
    /// Of its run.
    pub(crate) folder: PathBuf,
}

impl Victim {
    /// Comes back when what it was to bring up is up.
    pub(crate) fn start(what: &str, end: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_testkit-victim"))
            .args([what, end])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut folder = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut folder).unwrap();
        let mut victim = Self { child, folder: folder.trim().into() };
        if folder.is_empty() {
            let (status, said) = victim.end();
            panic!("the victim did not come up ({status}): {said}");
        }
        victim
    }

    /// Lets it end as it was told; how it did, and what it said on standard error.
    pub(crate) fn end(&mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap(), said)
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
