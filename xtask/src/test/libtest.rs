//! Running test binaries, a bounded number at a time, and reading what libtest prints.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;

use super::{Place, binaries::Binary, tally::Tally};
use crate::keeper::keep;

/// A binary that takes longer hangs: it would eat the whole budget of a run.
const LIMIT: Duration = Duration::from_secs(20 * 60);

pub(crate) fn run_all<'a>(
    binaries: impl Iterator<Item = &'a Binary>,
    place: &Place,
    in_ci: bool,
) -> anyhow::Result<Tally> {
    let binaries: Vec<&Binary> = binaries.collect();
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Ok(Tally::default()));
    let jobs = thread::available_parallelism().map_or(1, usize::from).min(4);
    thread::scope(|scope| {
        for _ in 0..jobs.min(binaries.len()) {
            scope.spawn(|| {
                while let Some(binary) = binaries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run(binary, place, in_ci);
                    let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                    match (&mut *total, outcome) {
                        (Ok(sum), Ok(tally)) => *sum += tally,
                        (Ok(_), Err(error)) => *total = Err(error),
                        (Err(_), _) => {}
                    }
                }
            });
        }
    });
    total.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn run(binary: &Binary, place: &Place, in_ci: bool) -> anyhow::Result<Tally> {
    let name = binary.name.replace(' ', "-");
    let log = place.logs.join(format!("{name}.log"));
    let skipped = place.logs.join(format!("{name}.skipped"));
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let start = Instant::now();
    let mut child = keep(&mut Command::new(&binary.file))
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env("CARGO_PKG_NAME", &binary.package)
        .env("MIZZEN_SKIPPED", &skipped)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .spawn()
        .with_context(|| format!("{} cannot be started", binary.name))?;
    let status = wait(&mut child, start)?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let reasons = lines_of(&skipped);
    let tally = judge(&text, status, &reasons, in_ci);
    report(binary, tally, &text, &reasons, start.elapsed());
    Ok(tally)
}

/// `None` when the binary had to be ended.
fn wait(child: &mut Child, start: Instant) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a binary's output and end are worth. Skipped tests have passed for libtest; here they have not. A binary
/// that ends badly without naming a failed test is one failure of its own.
fn judge(text: &str, status: Option<ExitStatus>, skipped: &BTreeSet<String>, in_ci: bool) -> Tally {
    let mut tally = count(text);
    tally.passed = tally.passed.saturating_sub(skipped.len());
    let not_here = skipped.iter().filter(|line| line.starts_with("not here ")).count();
    tally.not_here = not_here;
    tally.skipped += skipped.len() - not_here;
    let said_so = text.lines().any(|line| line.starts_with("test result: "));
    let ended_well = said_so && status.is_some_and(|status| status.success());
    if !ended_well && tally.failed == 0 {
        tally.failed = 1;
    }
    if in_ci {
        tally.failed += std::mem::take(&mut tally.skipped);
    }
    tally
}

/// Sums libtest's closing lines.
pub(crate) fn count(text: &str) -> Tally {
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| line.starts_with("test result: ")) {
        let number = |word: &str| {
            let before = line.split(&format!(" {word}")).next()?;
            before.rsplit(' ').next()?.parse::<usize>().ok()
        };
        tally.passed += number("passed").unwrap_or(0);
        tally.failed += number("failed").unwrap_or(0);
        tally.skipped += number("ignored").unwrap_or(0);
    }
    tally
}

fn lines_of(file: &Path) -> BTreeSet<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn report(binary: &Binary, tally: Tally, text: &str, skipped: &BTreeSet<String>, took: Duration) {
    let Tally { passed, failed, skipped: skips, not_here } = tally;
    let seconds = took.as_secs_f64();
    let absent = if not_here > 0 { format!(", {not_here} not here") } else { String::new() };
    let mut lines = format!(
        "   {}: {passed} passed, {failed} failed, {skips} skipped{absent}; {seconds:.1} s\n",
        binary.name
    );
    for reason in skipped {
        lines += &format!("      {reason}\n");
    }
    if failed > 0 {
        lines += &format!("---- {} printed:\n{text}\n----\n", binary.name);
    }
    print!("{lines}");
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::{Tally, count, judge};

    const TWO: &str = "test a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    fn ended(code: i32) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn closing_lines_are_added_up() {
        let tally = count(&format!("{TWO}{TWO}"));
        assert_eq!(tally, Tally { passed: 4, failed: 0, skipped: 2, not_here: 0 });
    }

    #[test]
    fn a_skipped_test_has_not_passed() {
        let skipped = BTreeSet::from(["skipped a: needs root".to_owned()]);
        assert_eq!(
            judge(TWO, ended(0), &skipped, false),
            Tally { passed: 1, failed: 0, skipped: 2, not_here: 0 }
        );
    }

    #[test]
    fn a_test_whose_data_is_not_here_is_counted_apart_in_ci_too() {
        let two = BTreeSet::from(["not here a: no data".to_owned()]);
        let text = TWO.replace("1 ignored", "0 ignored");
        let expected = Tally { passed: 1, failed: 0, skipped: 0, not_here: 1 };
        assert_eq!(judge(&text, ended(0), &two, true), expected);
    }

    #[test]
    fn ci_forgives_no_skipped_test() {
        assert_eq!(judge(TWO, ended(0), &BTreeSet::new(), true).failed, 1);
    }

    #[test]
    fn a_binary_that_dies_is_a_failure_though_no_test_failed() {
        assert_eq!(judge("test a ... ok\n", ended(134), &BTreeSet::new(), false).failed, 1);
        assert_eq!(judge(TWO, None, &BTreeSet::new(), false).failed, 1);
        assert_eq!(
            judge("test a ... ", ended(0), &BTreeSet::new(), false).failed,
            1,
            "it left in the middle"
        );
    }
}
