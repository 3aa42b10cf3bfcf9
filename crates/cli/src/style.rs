//! The few colours, so that help, errors and output agree. Whether they are shown is decided where text is written.

use anstyle::{AnsiColor, Style};
use clap::builder::Styles;

pub(crate) const HEADING: Style = Style::new().bold().underline();
pub(crate) const LITERAL: Style = Style::new().bold();
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const CHANGED: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();

pub(crate) const CLAP: Styles = Styles::styled()
    .header(HEADING)
    .usage(HEADING)
    .literal(LITERAL)
    .valid(HINT)
    .invalid(AnsiColor::Yellow.on_default())
    .error(ERROR);
