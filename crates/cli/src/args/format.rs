//! `-o`, the same for every verb that shows something.

use crate::output::Format;
use clap::{Args, ValueEnum};

#[derive(Args, Clone, Copy)]
#[group(skip)] // clap names a group after the struct, and a verb has a `Typed` of its own
pub(crate) struct Typed {
    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Word,
}

#[derive(Clone, Copy, ValueEnum)]
enum Word {
    #[value(alias = "table")]
    Text,
    Json,
    Yaml,
}

impl From<Typed> for Format {
    fn from(typed: Typed) -> Self {
        match typed.output {
            Word::Text => Self::Text,
            Word::Json => Self::Json,
            Word::Yaml => Self::Yaml,
        }
    }
}

/// `-o` of verbs that tell what they do.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    Text,
    Json,
}

/// `-o` of verbs that print objects.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YamlOrJson {
    Yaml,
    Json,
}
