//! Small templates by what they show. What each of them gives is Go's to say.

mod control;
mod functions;
mod language;
mod printing;

/// What the rows show, and the rows.
pub(crate) type Group = (&'static str, &'static [&'static str]);

pub(crate) fn rows() -> impl Iterator<Item = &'static Group> {
    [language::ROWS, control::ROWS, functions::ROWS, printing::ROWS].into_iter().flatten()
}
