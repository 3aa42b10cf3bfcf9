//! Asking before something is done that cannot be taken back.

use crate::{
    failure::{Hint, Usage},
    output::Output,
};
use anyhow::{Result, bail};
use std::io::{self, BufRead, IsTerminal};

/// Nobody is asked who is not there: without a terminal it has to be said on the command line.
pub(crate) fn confirmed(question: &str, yes: bool, output: &mut Output) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        bail!(
            Usage("standard input is no terminal, so nobody can be asked".into())
                .hint("give -y to go on without being asked")
        );
    }
    output.text(&format!("{question} Proceed? (y/N) "))?;
    output.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}
