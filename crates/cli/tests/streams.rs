//! Standard output and standard error when they are not what one hopes for.

mod common;

use common::command;
use std::{fs::File, io::pipe, process::Stdio};

const PRINTING: [&[&str]; 8] = [
    &["--help"],
    &["version"],
    &["version", "-o", "json"],
    &["completion", "bash"],
    // Quiet on standard error.
    &["manifest", "generate", "--set", "profile=empty"],
    &["profile", "list"],
    &["profile", "dump", "demo"],
    &["profile", "dump", "demo", "-o", "flags"],
];

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("/dev/full").into()
}

#[test]
fn a_reader_that_leaves_early_is_no_problem() {
    for words in PRINTING {
        let (reader, writer) = pipe().unwrap();
        // Gone before the first byte: the surest form of `| head -c1`.
        drop(reader);
        let output = command("mizzen").args(words).stdout(writer).output().unwrap();
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
