//! How help reads: verbs in groups, then options, then examples. clap knows one list of verbs only, so the groups
//! are written into its template.

use crate::{
    program::Program,
    style::{HEADING, LITERAL},
    verbs::{self, Group},
};
use std::fmt::Write;

pub(crate) fn template(program: Program) -> String {
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n\n");
    let shown = || verbs::of(program).filter(|verb| !verb.hidden);
    let width = shown().map(|verb| verb.name.len()).max().unwrap_or_default();
    for group in Group::ALL {
        let members: Vec<_> = shown().filter(|verb| verb.group == *group).collect();
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{HEADING}{}:{HEADING:#}", group.heading());
        for verb in members {
            let _ = writeln!(text, "  {LITERAL}{:width$}{LITERAL:#}  {}", verb.name, verb.about);
        }
        text.push('\n');
    }
    let _ = write!(text, "{HEADING}Options:{HEADING:#}\n{{options}}{{after-help}}");
    text
}

/// The first example of every verb, and where the others are.
pub(crate) fn footer(program: Program) -> String {
    let shown = verbs::of(program).filter(|verb| !verb.hidden);
    let first: Vec<_> = shown.filter_map(|verb| verb.examples.first().copied()).collect();
    let name = program.name();
    format!("{}\n\n`{name} VERB --help` tells more about one verb.", examples(program, &first))
}

pub(crate) fn examples(program: Program, examples: &[(&str, &str)]) -> String {
    let mut text = format!("{HEADING}Examples:{HEADING:#}");
    for (line, what) in examples {
        let line = line.replace("{}", program.name());
        let _ = write!(text, "\n  {what}:\n    {LITERAL}{} {line}{LITERAL:#}", program.name());
    }
    text
}
