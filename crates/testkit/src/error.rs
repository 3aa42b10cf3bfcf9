//! What can go wrong while a part is brought up: always which part, why, and where its log is.

use std::{fmt, io, path::PathBuf};

use crate::run;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(thiserror::Error)]
pub enum Error {
    /// A binary or folder that `cargo xtask tools` should have installed.
    #[error("{name} is not installed: run `cargo xtask tools {name}`")]
    Missing { name: String },
    /// The part ended, or said no, before it could be used.
    #[error("{part}: {reason}{}", log_hint(.log.as_ref()))]
    Part { part: String, reason: String, log: Option<PathBuf> },
    /// Something that was waited for did not happen.
    #[error("waited {seconds} s for {what}; last seen: {last}")]
    Timeout { what: String, seconds: u64, last: String },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("kubernetes: {0}")]
    Kube(#[from] kube::Error),
    #[error("certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// Anything else that has no better name, told in a sentence.
    #[error("{0}")]
    Other(String),
}

fn log_hint(log: Option<&PathBuf>) -> String {
    let Some(path) = log else { return String::new() };
    format!("\n  log: {}\n{}", path.display(), crate::part::tail(path, 15))
}

/// The error that a test or a `main` returns is printed with `Debug`, and an `unwrap` does the same: a sentence is worth
/// more there than a struct. It is also the one moment at which a test's failure by an error can be seen from here, so
/// whoever only wants the text uses `Display`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        run::failed().map_or(Ok(()), |place| write!(f, "\n{place}"))
    }
}

impl Error {
    pub fn other(message: impl fmt::Display) -> Self {
        Self::Other(message.to_string())
    }
}

/// Names what was being done when the operating system said no.
pub trait During<T> {
    fn during(self, what: impl fmt::Display) -> Result<T>;
}

impl<T> During<T> for io::Result<T> {
    fn during(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|source| Error::Io { what: what.to_string(), source })
    }
}
