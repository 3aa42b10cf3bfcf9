//! Standard output and standard error when they are not what one hopes for.

mod common;

use common::command;
use std::{fs::File, io::pipe, process::Stdio};

const PRINTING: [&[&str]; 7] = [
    &["--help"],
    &["version"],
    &["version", "-o", "json"],
    &["completion", "bash"],
    &["profile", "list"],
    &["profile", "dump", "demo"],
    &["profile", "dump", "demo", "-o", "flags"],
];

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("/dev/full").into()
}

/// A pipe whose reader is gone before the first byte: the surest form of `| head -c1`.
fn closed() -> Stdio {
    pipe().expect("a pipe").1.into()
}

#[test]
fn a_reader_that_leaves_early_is_no_problem() {
    for words in PRINTING {
        let output = command("mizzen").args(words).stdout(closed()).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &[][..]), "{words:?}");
    }
}

#[test]
fn a_full_disk_is_a_problem_and_named() {
    for words in PRINTING {
        let output = command("mizzen").args(words).stdout(full()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        let expected = "error: the output could not be written\n  cause: No space left on device";
        assert!(said.starts_with(expected), "{words:?}: {said}");
    }
}

#[test]
fn objects_need_a_reader_or_room_and_their_warnings_are_said_in_any_case() {
    for (stdout, code, told) in [(closed(), 0, ""), (full(), 1, "error: the output could not be written")] {
        let output = command("mizzen").args(["manifest", "generate"]).stdout(stdout).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let (warnings, errors): (Vec<_>, Vec<_>) =
            said.split("\n\n").filter(|text| !text.is_empty()).partition(|text| text.starts_with("warning["));
        assert!(!warnings.is_empty(), "{said}");
        assert_eq!(errors.len(), usize::from(code == 1), "{said}");
        assert!(errors.iter().all(|error| error.starts_with(told)), "{said}");
    }
}

#[test]
fn errors_and_logs_that_cannot_be_written_change_nothing_else() {
    let wrong = command("mizzen").arg("--wrong").stderr(full()).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    for format in ["text", "json"] {
        let words = ["version", "-s", "--log-level", "trace", "--log-format", format];
        let output = command("mizzen").args(words).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert!(output.stdout.starts_with(b"client version: "), "{format}");
    }
}
