//! What is wrong with what a person wrote, on its way to that person: warnings go to standard error while the result goes
//! to standard output, and every message says which field it is about.

use anstream::AutoStream;
use mizzen_install::Refused;
use mizzen_text::{Diagnostic, Path, Step};
use std::io::{self, Write};

/// On standard error, in colours where it shows them.
pub(crate) fn warn(warnings: &[Diagnostic]) {
    let mut stream = AutoStream::auto(io::stderr());
    for warning in warnings {
        let mut warning = warning.clone();
        warning.message = sentence(&warning.message, &warning.path);
        // With standard error closed there is nobody to tell.
        let _ = writeln!(stream, "{}", warning.for_people(true));
    }
}

/// The same, in sentences that have a subject.
pub(crate) fn named(mut refused: Refused) -> Refused {
    for diagnostic in &mut refused.0 {
        diagnostic.message = sentence(&diagnostic.message, &diagnostic.path);
    }
    refused
}

/// Rules say what a field is not; here is which field.
pub(crate) fn sentence(message: &str, path: &Path) -> String {
    let steps = &path.0;
    let start = steps.iter().rposition(|step| matches!(step, Step::Field(_))).unwrap_or_default();
    let field = Path(steps[start..].to_vec());
    let is_predicate = ["is ", "must ", "has ", "cannot "].iter().any(|verb| message.starts_with(verb));
    if is_predicate && !steps.is_empty() { format!("`{field}` {message}") } else { message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_a_subject_gets_its_field() {
        let path = Path(vec![Step::Field("spec".into()), Step::Field("ports".into()), Step::Index(1)]);
        assert_eq!(sentence("must be a map", &path), "`ports[1]` must be a map");
        assert_eq!(sentence("unknown field `a`", &path), "unknown field `a`");
        assert_eq!(sentence("must be a map", &Path::default()), "must be a map");
    }
}
