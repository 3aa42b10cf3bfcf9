//! A panic is a bug of ours. It prints one sentence that asks for a report, and the process ends with Rust's own
//! exit code 101, so that a script can tell it from a problem that was found (1) or wrong usage (2).

use std::{
    env,
    io::{self, Write},
    panic::{self, PanicHookInfo},
};

pub(crate) fn report_panics() {
    let trace = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        // Nothing can be done here about a standard error that is closed.
        let _ = io::stderr().write_all(sentence(panic).as_bytes());
        if env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            trace(panic);
        }
    }));
}

fn sentence(panic: &PanicHookInfo<'_>) -> String {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place =
        panic.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    format!(
        "error: this is a bug in Mizzen, please report it with the command and `mizzen version`: {what}{place}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The test runs itself again: a hook belongs to a whole process, and only its standard error is the truth.
    #[test]
    fn a_panic_prints_one_sentence_that_asks_for_a_report() {
        const INNER: &str = "MIZZEN_TEST_PANIC";
        if env::var_os(INNER).is_some() {
            report_panics();
            let cell = panic::catch_unwind(|| panic!("the mast is broken"));
            return assert!(cell.is_err());
        }
        let name = "bug::tests::a_panic_prints_one_sentence_that_asks_for_a_report";
        let run = |trace: &str| {
            let mut command = Command::new(env::current_exe().unwrap());
            command.args(["--exact", name, "--nocapture"]).env(INNER, "1").env("RUST_BACKTRACE", trace);
            let output = command.output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stderr).unwrap()
        };
        let plain = run("0");
        assert!(plain.contains("please report it"), "{plain}");
        assert!(plain.contains("the mast is broken (") && plain.contains("bug.rs:"), "{plain}");
        assert!(!plain.contains("stack backtrace"), "{plain}");
        assert!(run("1").contains("stack backtrace"));
    }
}
