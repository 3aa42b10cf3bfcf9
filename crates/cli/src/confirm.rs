//! A question that only a person can answer. Where nobody is there to answer it, that is said instead of taken for a no.

use crate::{failure::Hint, output::Output};
use anyhow::{Context, Result, anyhow};
use std::io::{self, BufRead, IsTerminal};

/// Asks until the answer is yes or no; an end of the input is a no.
pub(crate) fn confirm(question: &str, output: &mut Output) -> Result<bool> {
    if !io::stdin().is_terminal() {
        let told = question.lines().next().unwrap_or_default();
        return Err(anyhow!("this needs a confirmation, and standard input is no terminal: {told}")
            .hint("give -y to go on without being asked"));
    }
    loop {
        output.text(&format!("{question} "))?;
        output.flush()?;
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer).context("the answer could not be read")?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => {
                output.go_on_unread();
                return Ok(true);
            }
            "n" | "no" | "" => return Ok(false),
            _ if read == 0 => return Ok(false),
            _ => {}
        }
    }
}
