//! Logs go to standard error, set up once, here. Comes in: which events and in what form. A log that cannot be
//! written never stops the work.

mod filter;

pub(crate) use filter::{BadFilter, Filter};

use anstream::{AutoStream, ColorChoice};
use std::io;
use tracing_subscriber::{fmt, layer::SubscriberExt, registry, util::SubscriberInitExt};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Text,
    /// One object a line.
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) filter: Filter,
    pub(crate) form: Form,
}

impl Settings {
    pub(crate) fn start(&self) -> anyhow::Result<()> {
        // Errors of the writer would be printed to the writer, and panic there.
        let lines = fmt::layer().with_writer(io::stderr).log_internal_errors(false);
        let registry = registry().with(self.filter.targets());
        match self.form {
            Form::Text => {
                let colours = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
                registry.with(lines.with_ansi(colours)).try_init()?;
            }
            Form::Json => registry.with(lines.json().flatten_event(true)).try_init()?,
        }
        Ok(())
    }
}
