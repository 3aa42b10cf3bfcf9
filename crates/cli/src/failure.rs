//! The only way to tell of an error: `error: sentence`, the causes below it, then `hint:` lines; and which exit
//! code it gives. Comes in: what a verb returned. Goes out: standard error and an [`Exit`].

use crate::{exit::Exit, output::Closed, style};
use anstream::AutoStream;
use anyhow::Error;
use mizzen_install::Refused;
use std::{
    error, fmt,
    fmt::Write as _,
    io::{self, Write as _},
};

/// What was typed cannot be meant: exit code 2. For what clap cannot see.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for Usage {}

/// An error that knows what to do about it. It reads as the error it carries.
#[derive(Debug)]
struct Hinted {
    error: Error,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl error::Error for Hinted {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(self.error.as_ref())
    }
}

/// `.hint("…")` on an error: one sentence that says what to do.
pub(crate) trait Hint {
    fn hint(self, hint: impl Into<String>) -> Error;
}

impl<E: Into<Error>> Hint for E {
    fn hint(self, hint: impl Into<String>) -> Error {
        Error::new(Hinted { error: self.into(), hint: hint.into() })
    }
}

/// Prints the error, unless it is none to the user, and says how the process ends.
pub(crate) fn report(error: &Error) -> Exit {
    let (text, exit) = told(error);
    // With standard error closed or full there is nobody left to tell; the exit code still says it.
    let _ = AutoStream::auto(io::stderr()).write_all(text.as_bytes());
    exit
}

fn told(error: &Error) -> (String, Exit) {
    if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(Closed::ByReader))) {
        return (String::new(), Exit::Done);
    }
    // What is wrong with what a person wrote is shown where it stands.
    let refused = error.downcast_ref::<Refused>().map(|refused| &refused.0);
    let refused =
        refused.or_else(|| error.downcast_ref::<mizzen_local::config::Refused>().map(|refused| &refused.0));
    if let Some(refused) = refused {
        let told = refused.iter().map(|diagnostic| format!("{}\n", diagnostic.for_people(true)));
        return (told.collect(), Exit::Problem);
    }
    match error.downcast_ref::<clap::Error>() {
        Some(usage) => (usage.render().ansi().to_string(), Exit::Usage),
        None => (text(error), exit(error)),
    }
}

fn exit(error: &Error) -> Exit {
    if error.chain().any(|cause| cause.is::<Usage>()) { Exit::Usage } else { Exit::Problem }
}

fn text(error: &Error) -> String {
    let (bad, hint) = (style::ERROR, style::HINT);
    let mut text = format!("{bad}error:{bad:#} {}\n", indented(&error.to_string()));
    let mut hints = String::new();
    let mut same = false;
    for (place, cause) in error.chain().enumerate() {
        if place > 0 && !same {
            let _ = writeln!(text, "  cause: {}", indented(&cause.to_string()));
        }
        // A hinted error and the one it carries are one and the same to the reader.
        let hinted = cause.downcast_ref::<Hinted>();
        same = hinted.is_some();
        if let Some(hinted) = hinted {
            let _ = writeln!(hints, "{hint}hint:{hint:#} {}", indented(&hinted.hint));
        }
    }
    text + &hints
}

/// The further lines of a message stay below its first.
fn indented(message: &str) -> String {
    message.trim_end().replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstream::adapter::strip_str;
    use anyhow::{Context, anyhow};

    fn plain(error: &Error) -> String {
        strip_str(&text(error)).to_string()
    }

    #[test]
    fn causes_are_indented_and_hints_come_last() {
        let error = anyhow!("connection refused\nby 127.0.0.1").hint("is the cluster running?");
        let error = Err::<(), _>(error).context("no answer").context("could not apply").unwrap_err();
        let expected = "error: could not apply\n  cause: no answer\n  cause: connection refused\n    by 127.0.0.1\n\
                        hint: is the cluster running?\n";
        assert_eq!(plain(&error), expected);
    }

    #[test]
    fn a_hint_does_not_repeat_its_error() {
        assert_eq!(plain(&anyhow!("no").hint("say please")), "error: no\nhint: say please\n");
    }

    #[test]
    fn wrong_usage_is_seen_below_a_hint_and_a_context() {
        let usage =
            Err::<(), _>(Usage("no such day".into()).hint("try monday")).context("calendar").unwrap_err();
        assert_eq!(exit(&usage), Exit::Usage);
        assert_eq!(exit(&anyhow!("other")), Exit::Problem);
    }

    #[test]
    fn a_reader_who_left_is_no_failure_but_a_full_disk_is() {
        assert_eq!(told(&Closed::ByReader.into()), (String::new(), Exit::Done));
        let full = Closed::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(told(&full.into()).1, Exit::Problem);
    }
}
