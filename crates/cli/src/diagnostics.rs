//! Warnings on their way to a person, while the result goes to standard output.

use anstream::AutoStream;
use mizzen_text::Diagnostic;
use std::io::{self, Write};

/// On standard error, in colours where it shows them.
pub(crate) fn warn(warnings: &[Diagnostic]) {
    let mut stream = AutoStream::auto(io::stderr());
    for warning in warnings {
        // With standard error closed there is nobody to tell.
        let _ = writeln!(stream, "{}", warning.for_people(true));
    }
}
