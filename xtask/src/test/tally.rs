//! Counting, and the table at the end.

use std::{ops::AddAssign, process::ExitCode, time::Duration};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) not_here: usize,
}

impl Tally {
    pub(crate) fn passed(passed: usize) -> Self {
        Self { passed, ..Self::default() }
    }

    pub(crate) fn failed(failed: usize) -> Self {
        Self { failed, ..Self::default() }
    }

    pub(crate) fn not_here(not_here: usize) -> Self {
        Self { not_here, ..Self::default() }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.not_here += other.not_here;
    }
}

#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<(String, Option<Tally>, Duration)>,
}

impl Table {
    pub(crate) fn add(&mut self, name: &str, tally: Tally, took: Duration) {
        self.rows.push((name.to_owned(), Some(tally), took));
    }

    /// A row that took time and counted nothing.
    pub(crate) fn note(&mut self, name: &str, took: Duration) {
        self.rows.push((name.to_owned(), None, took));
    }

    fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in self.rows.iter().filter_map(|(_, tally, _)| *tally) {
            total += tally;
        }
        total
    }

    /// Prints the table; what a run is worth is its exit code.
    pub(crate) fn print(&self, in_ci: bool) -> ExitCode {
        println!(
            "\n{:10} {:>7} {:>7} {:>8} {:>9} {:>8}",
            "part", "passed", "failed", "skipped", "not here", "seconds"
        );
        for (name, tally, took) in &self.rows {
            let seconds = took.as_secs_f64();
            match tally {
                Some(Tally { passed, failed, skipped, not_here }) => {
                    println!("{name:10} {passed:>7} {failed:>7} {skipped:>8} {not_here:>9} {seconds:>8.1}");
                }
                None => println!("{name:10} {seconds:>43.1}"),
            }
        }
        let Tally { passed, failed, skipped, .. } = self.total();
        println!("\n{passed} passed, {failed} failed, {skipped} skipped");
        let good = failed == 0 && passed > 0 && !(in_ci && skipped > 0);
        if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
