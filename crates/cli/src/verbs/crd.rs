//! `crd print`: Istio's custom resource definitions, as this binary checks objects against them. Nothing outside of it
//! is asked; what is printed can be given to `kubectl apply --server-side -f -`.

use super::{Group, Verb};
use crate::{
    exit::Exit,
    failure::{Hint, Usage},
    output::{Format, Output},
    program::Program,
};
use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use mizzen_api::crd::Crd;
use serde_json::json;

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Print the definitions of all kinds, or of those named
    Print {
        /// A kind, its plural or its short name; upper and lower case are the same
        #[arg(value_name = "KIND")]
        kinds: Vec<String>,

        /// How to print them
        #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
        output: Word,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    Yaml,
    Json,
}

pub(crate) struct Print {
    definitions: Vec<&'static Crd>,
    format: Word,
}

impl Verb for Print {
    const NAME: &'static str = "crd";
    const ABOUT: &'static str = "Print the custom resource definitions of Istio's kinds";
    const GROUP: Group = Group::Models;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("crd print", "All of them, as YAML"),
        ("crd print virtualservice dr", "Those of some kinds, by any name that kubectl takes"),
        ("crd print Gateway -o json", "One, for a script"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Task::Print { kinds, output } = typed.task;
        let mut definitions: Vec<&Crd> = Vec::new();
        for word in &kinds {
            let crd = Crd::called(word).ok_or_else(|| unknown(word))?;
            if !definitions.iter().any(|known| known.kind == crd.kind) {
                definitions.push(crd);
            }
        }
        if kinds.is_empty() {
            definitions.extend(Crd::all());
        }
        Ok(Self { definitions, format: output })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match (self.format, self.definitions.as_slice()) {
            (Word::Json, [crd]) => output.show(Format::Json, &crd.object())?,
            (Word::Json, all) => {
                let items: Vec<_> = all.iter().map(|crd| crd.object()).collect();
                output.show(Format::Json, &json!({ "apiVersion": "v1", "kind": "List", "items": items }))?;
            }
            (Word::Yaml, all) => {
                for crd in all {
                    output.bytes(b"---\n")?;
                    output.show(Format::Yaml, &crd.object())?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn unknown(word: &str) -> anyhow::Error {
    let known: Vec<_> = Crd::all().map(|crd| crd.kind.as_str()).collect();
    let hint = match Crd::nearest(word) {
        Some(kind) => format!("did you mean {kind}?"),
        None => format!("the kinds are {}", known.join(", ")),
    };
    Usage(format!("'{word}' is none of Istio's kinds")).hint(hint)
}
