//! Whether `check::schema` says what the server says.

use std::collections::BTreeSet;

use mizzen_check::schema;
use mizzen_text::{Path, Severity, Step};

use crate::{
    documents::Named,
    server::{Cause, Refusal, Verdict},
};

/// What the server says when it has left out its rules.
const STOPPED: &str = "some validation rules were not checked";

pub(crate) fn agrees(document: &Named, verdict: &Verdict) -> Result<(), String> {
    let findings =
        schema::check(&document.object, schema::Unknown::Ignore).ok_or("unknown to check::schema")?;
    let said = || {
        findings.errors().map(|finding| format!("{}: {}", finding.path, finding.message)).collect::<Vec<_>>()
    };
    let Some(refusal) = &verdict.0 else {
        return if findings.accepted() {
            Ok(())
        } else {
            Err(format!("the server accepts it, we say {:?}", said()))
        };
    };
    if findings.accepted() {
        return Err(format!("we accept it, the server says {refusal:?}"));
    }
    let ours: BTreeSet<_> = findings.errors().map(|finding| plain(&finding.path)).collect();
    let theirs: BTreeSet<_> = refusal.causes.iter().filter_map(field).collect();
    let missing: Vec<_> = theirs.iter().filter(|field| !ours.iter().any(|ours| is_at(ours, field))).collect();
    if !missing.is_empty() {
        return Err(format!(
            "{missing:?} named by the server only; we say {:?}, it says {refusal:?}",
            said()
        ));
    }
    let extra: Vec<_> = ours.iter().filter(|ours| !theirs.iter().any(|field| is_at(ours, field))).collect();
    if !extra.is_empty() && !refusal.stopped() {
        return Err(format!("{extra:?} named by us only; we say {:?}, the server says {refusal:?}", said()));
    }
    Ok(())
}

pub(crate) fn agrees_on_unknown_fields(document: &Named, strict: &Verdict) -> Result<(), String> {
    let findings =
        schema::check(&document.object, schema::Unknown::Warn).ok_or("unknown to check::schema")?;
    // What a value of a wrong type has inside is nobody's field; the server counts it, as far as it drops it.
    let wrong: Vec<_> = findings.errors().map(|finding| format!("{}.", plain(&finding.path))).collect();
    let is_inside = |field: &String| wrong.iter().any(|wrong| field.starts_with(wrong));
    let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning);
    let ours = warnings
        .map(|finding| plain(&finding.path))
        .filter(|field| !is_inside(field))
        .collect::<BTreeSet<_>>();
    let message = strict.0.as_ref().map(|refusal| refusal.message.as_str()).unwrap_or_default();
    let theirs = message.split("unknown field \"").skip(1).filter_map(|rest| rest.split('"').next());
    let theirs: BTreeSet<_> = theirs.map(flat).filter(|field| !is_inside(field)).collect();
    // Metadata that cannot be decoded ends it before unknown fields are told.
    let undecoded =
        strict.0.as_ref().is_some_and(|refusal| refusal.code == 400 && !message.contains("strict decoding"));
    (ours == theirs || undecoded)
        .then_some(())
        .ok_or_else(|| format!("unknown fields: we say {ours:?}, the server {message}"))
}

impl Refusal {
    /// Before the rules, since something was wrong already; or before all, in decoding.
    fn stopped(&self) -> bool {
        self.causes.is_empty() || self.causes.iter().any(|cause| cause.message.contains(STOPPED))
    }
}

/// The server's field, or the one that its message names where it names none.
fn field(cause: &Cause) -> Option<String> {
    if cause.message.contains(STOPPED) {
        return None;
    }
    if cause.field != "<nil>" && !cause.field.is_empty() {
        return Some(flat(&cause.field));
    }
    let message = cause.message.strip_prefix("Invalid value: \"\": ").unwrap_or(&cause.message);
    let quoted = message.strip_prefix('"').and_then(|rest| rest.split('"').next());
    quoted.or_else(|| message.rsplit(" in ").next()).map(flat)
}

/// One spelling for `a.b[c]`, `a.b.c` and `a.b["c"]`.
fn flat(field: &str) -> String {
    let plain: String =
        field.chars().map(|c| if c == '[' { '.' } else { c }).filter(|c| !"]\"".contains(*c)).collect();
    plain.trim_start_matches('.').to_owned()
}

fn plain(path: &Path) -> String {
    let steps = path.0.iter().map(|step| match step {
        Step::Field(name) => name.clone(),
        Step::Index(index) => index.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

/// Of metadata the server names the list or the map, we the item.
fn is_at(ours: &str, theirs: &str) -> bool {
    let in_metadata = ours.starts_with("metadata.");
    let without_index =
        || ours.split('.').filter(|step| step.parse::<usize>().is_err()).collect::<Vec<_>>().join(".");
    ours == theirs || in_metadata && (ours.starts_with(&format!("{theirs}.")) || without_index() == *theirs)
}
