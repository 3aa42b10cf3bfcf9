//! A test that lacks something is named and noted as skipped, and fails where nothing may be skipped.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use mizzen_testkit::needs::lacking;

struct Skipper {
    note: PathBuf,
}

impl Skipper {
    fn new(name: &str) -> Self {
        Self { note: std::env::temp_dir().join(format!("mizzen-skipped-{}-{name}", std::process::id())) }
    }

    /// A process whose only test needs what no machine has.
    fn run(&self, ci: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_testkit-victim"));
        command.args(["skip", "return"]).env("MIZZEN_SKIPPED", &self.note).env_remove("CI");
        command.envs(ci.map(|value| ("CI", value))).output().unwrap()
    }

    fn noted(&self) -> String {
        fs::read_to_string(&self.note).unwrap_or_default()
    }
}

impl Drop for Skipper {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.note);
    }
}

#[test]
fn a_skipped_test_is_named_and_noted_with_its_reason() {
    let skipper = Skipper::new("noted");
    let output = skipper.run(None);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let line = "skipped main: no-such-tool is not installed: run `cargo xtask tools no-such-tool`\n";
    assert_eq!((said.as_str(), skipper.noted().as_str()), (line, line));
}

#[test]
fn in_ci_a_skipped_test_fails() {
    let skipper = Skipper::new("ci");
    assert!(!skipper.run(Some("true")).status.success());
    assert_eq!(skipper.noted(), "");
    assert!(skipper.run(Some("false")).status.success(), "that is not CI");
}

#[test]
fn a_skip_that_cannot_be_noted_fails() {
    let skipper = Skipper { note: "/nonexistent/note".into() };
    assert!(!skipper.run(None).status.success());
}

#[test]
fn what_is_lacking_is_told_by_its_kind() {
    let root = nix::unistd::geteuid().is_root();
    assert_eq!(lacking(&[&["root"]]).is_none(), root);
    assert_eq!(lacking(&[&["/proc"]]), None, "a path of the machine");
    for need in ["/no/such/path", "modules/no-such-module", "no-such-tool"] {
        assert!(lacking(&[&[], &[need]]).is_some_and(|reason| reason.contains(need)), "{need}");
    }
}
