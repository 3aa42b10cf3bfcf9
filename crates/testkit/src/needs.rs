//! What a test needs of the machine, and what happens where it is not there.
//!
//! `needs!(ApiServer::NEEDS, Envoy::NEEDS)` as the first line of a test: where something is missing, the test is
//! named as skipped, on standard error and in the file that `cargo xtask test` counts from, and returns. With
//! `CI` set nothing is skipped: the test fails.

use std::{fs::OpenOptions, io::Write};

use crate::tools;

/// Root, in a list of needs; every other word is a command or, with a slash, a folder of the tools cache, or, with a
/// slash in front, a path of this machine.
pub const ROOT: &str = "root";

#[macro_export]
macro_rules! needs {
    ($($needs:expr),+ $(,)?) => {
        if let Some(lacking) = $crate::needs::lacking(&[$($needs),+]) {
            return $crate::needs::skip(&lacking);
        }
    };
}

/// The first need that this machine does not meet, in words.
pub fn lacking(needs: &[&[&str]]) -> Option<String> {
    needs.iter().copied().flatten().find_map(|need| match *need {
        ROOT if nix::unistd::geteuid().is_root() => None,
        ROOT => Some("needs root".to_owned()),
        place if place.starts_with('/') => (!std::path::Path::new(place).exists())
            .then(|| format!("{place} is not there: run `cargo xtask tools`")),
        folder if folder.contains('/') => tools::folder(folder).err().map(|error| error.to_string()),
        command => tools::command(command).err().map(|error| error.to_string()),
    })
}

/// A test's result when it did not run.
pub trait Skipped {
    fn skipped() -> Self;
}

impl Skipped for () {
    fn skipped() -> Self {}
}

impl<E> Skipped for Result<(), E> {
    fn skipped() -> Self {
        Ok(())
    }
}

/// Records the running test as skipped.
///
/// # Panics
/// With `CI` set, where a skipped test is a failed one, and where it cannot be noted.
pub fn skip<T: Skipped>(reason: &str) -> T {
    let in_ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    assert!(!in_ci, "skipped, which CI does not allow: {reason}");
    note("skipped", reason);
    T::skipped()
}

/// Records the running test as one whose comparison data is not on this machine, which CI allows.
///
/// # Panics
/// Where it cannot be noted.
pub fn not_here<T: Skipped>(data: &str) -> T {
    note("not here", &format!("there is no {data}: set MIZZEN_DATA to the folder of the comparison data"));
    T::skipped()
}

fn note(word: &str, reason: &str) {
    let thread = std::thread::current();
    let line = format!("{word} {}: {reason}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(file) = std::env::var_os("MIZZEN_SKIPPED") {
        let noted = OpenOptions::new().append(true).create(true).open(file);
        let noted = noted.and_then(|mut file| file.write_all(line.as_bytes()));
        // Otherwise it would be counted as passed.
        assert!(noted.is_ok(), "it cannot be noted that this test was {word}: {noted:?}");
    }
}
