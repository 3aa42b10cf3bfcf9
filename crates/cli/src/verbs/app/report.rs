//! What is wrong with an application's files, for people, for programs, for a code scanning page.

use crate::output::{Closed, Output};
use anstream::AutoStream;
use clap::ValueEnum;
use mizzen_text::{Diagnostic, Severity, to_sarif};
use serde_json::{Value, json};
use std::io::{self, Write};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    Text,
    Json,
    Sarif,
}

/// On standard error, beside the result.
pub(super) fn tell(form: Form, diagnostics: &[Diagnostic]) {
    let mut stream = AutoStream::auto(io::stderr());
    let told = match form {
        Form::Text => text(diagnostics),
        _ if diagnostics.is_empty() => String::new(),
        Form::Json | Form::Sarif => format!("{:#}\n", value(form, diagnostics)),
    };
    // With standard error closed there is nobody to tell.
    let _ = stream.write_all(told.as_bytes());
}

/// As the result itself.
pub(super) fn show(form: Form, diagnostics: &[Diagnostic], output: &mut Output) -> Result<(), Closed> {
    match form {
        Form::Text => output.text(&format!("{}{}\n", text(diagnostics), summary(diagnostics))),
        Form::Json | Form::Sarif => output.json(&value(form, diagnostics)),
    }
}

fn text(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{}\n", diagnostic.for_people(true))).collect()
}

fn value(form: Form, diagnostics: &[Diagnostic]) -> Value {
    if form == Form::Sarif {
        return to_sarif(diagnostics);
    }
    let (errors, warnings) = counted(diagnostics);
    json!({
        "diagnostics": diagnostics.iter().map(Diagnostic::to_json).collect::<Vec<_>>(),
        "summary": {"errors": errors, "warnings": warnings},
    })
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    match counted(diagnostics) {
        (0, 0) => "good".to_owned(),
        (0, warnings) => format!("good, with {}", many(warnings, "warning")),
        (errors, 0) => many(errors, "error"),
        (errors, warnings) => format!("{} and {}", many(errors, "error"), many(warnings, "warning")),
    }
}

fn counted(diagnostics: &[Diagnostic]) -> (usize, usize) {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning))
}
