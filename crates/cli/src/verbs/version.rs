//! `version`: what this binary is and how it was built. Nothing outside the binary is asked.
//!
//! JSON and YAML have istioctl's shape, `clientVersion` with the fields of [`Build`]. As text, `istioctl` prints
//! one line unless told `--short=false`, and the other programs everything unless told `--short`, as Istio's do.

use super::{Group, Verb};
use crate::{
    args,
    build::{BUILD, Build},
    exit::Exit,
    failure::{Hint, Usage},
    output::{Format, Output},
    program::Program,
};
use anyhow::{Result, bail};
use serde::Serialize;
use std::fmt;

#[derive(clap::Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    format: args::format::Typed,

    /// Print the number only; `--short=false` prints everything
    #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    short: Option<bool>,

    /// istioctl's: whether to ask the control plane and the proxies too
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true")]
    remote: Option<bool>,
}

pub(crate) struct Version {
    format: Format,
    short: bool,
}

impl Verb for Version {
    const NAME: &'static str = "version";
    const ABOUT: &'static str = "Print the version and how it was built";
    const GROUP: Group = Group::Binary;
    const ALSO_IN: &'static [Program] = Program::ALL;
    const EXAMPLES: &'static [(&'static str, &'static str)] =
        &[("version -o json", "Everything, for a script"), ("version --short", "One line")];
    type Typed = Typed;

    fn meant(typed: Typed, program: Program) -> Result<Self> {
        if typed.remote == Some(true) {
            let sentence = "`--remote` is not in this version of Mizzen yet: it knows its own version only";
            bail!(Usage(sentence.into()).hint("leave it out, or give --remote=false"));
        }
        let short = typed.short.unwrap_or(program == Program::Istioctl);
        Ok(Self { format: typed.format.into(), short })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        output.show(self.format, &Shown { client_version: BUILD, short: self.short })?;
        Ok(Exit::Done)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    client_version: Build,
    #[serde(skip)]
    short: bool,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let build = &self.client_version;
        write!(f, "client version: {}", build.version)?;
        if self.short {
            return Ok(());
        }
        write!(f, "\n  revision: {} ({}), tag: {}", build.revision, build.status, build.tag)?;
        write!(f, "\n  compatible with: Istio {}", build.istio_version)?;
        write!(f, "\n  built: Rust {}, {}, {}", build.rust_version, build.target, build.profile)
    }
}
