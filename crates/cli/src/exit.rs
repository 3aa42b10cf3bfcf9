//! What a script learns from us. A bug (panic) ends with 101, Rust's own code, which no verb uses.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// A problem was found, or the work was refused or failed.
    Problem = 1,
    /// The command line was wrong; nothing was attempted.
    Usage = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
