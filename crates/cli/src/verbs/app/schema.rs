//! `app schema`: what can be written, as JSON Schema or as KCL.

use crate::{exit::Exit, output::Output};
use anyhow::Result;
use clap::{Args, ValueEnum};
use mizzen_app::{File, kcl, schema};

#[derive(Args)]
pub(crate) struct Typed {
    /// Which file it is for
    #[arg(value_name = "FILE", default_value = "app")]
    file: Word,

    /// As KCL schemas: what `kcl run` prints of an App is an app.yaml
    #[arg(long)]
    kcl: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    /// app.yaml
    App,
    /// app.STACK.yaml, in which nothing is required
    Overlay,
    /// platform.yaml
    Platform,
}

pub(super) fn run(typed: &Typed, output: &mut Output) -> Result<Exit> {
    let file = match typed.file {
        Word::App => File::App,
        Word::Overlay => File::Overlay,
        Word::Platform => File::Platform,
    };
    if typed.kcl {
        output.bytes(kcl(file).as_bytes())?;
    } else {
        output.json(&schema(file))?;
    }
    Ok(Exit::Done)
}
