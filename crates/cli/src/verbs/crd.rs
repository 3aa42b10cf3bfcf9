//! `crd print`: Istio's custom resource definitions, as this binary checks objects against them, and by name those of the two
//! operators' own resources. Nothing outside of it is asked; what is printed can be given to `kubectl apply --server-side -f -`.

use super::{Group, Verb};
use crate::{
    args::format::YamlOrJson,
    exit::Exit,
    failure::{Hint, Usage},
    output::{Format, Output},
    program::Program,
};
use anyhow::Result;
use clap::{Args, Subcommand};
use mizzen_api::{crd::Crd, istio};
use serde_json::{Value, json};

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
        output: YamlOrJson,
    },
}

pub(crate) struct Print {
    definitions: Vec<Value>,
    format: YamlOrJson,
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
        ("crd print istio", "The resource that describes a whole mesh, for its operator"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Task::Print { kinds, output } = typed.task;
        let mut definitions: Vec<Value> = Vec::new();
        for word in &kinds {
            let found = of_operators(word).or_else(|| Crd::called(word).map(Crd::object));
            let definition = found.ok_or_else(|| unknown(word))?;
            if !definitions.contains(&definition) {
                definitions.push(definition);
            }
        }
        if kinds.is_empty() {
            definitions.extend(Crd::all().map(Crd::object));
        }
        Ok(Self { definitions, format: output })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match (self.format, self.definitions.as_slice()) {
            (YamlOrJson::Json, [one]) => output.show(Format::Json, one)?,
            (YamlOrJson::Json, all) => {
                output.show(Format::Json, &json!({ "apiVersion": "v1", "kind": "List", "items": all }))?;
            }
            (YamlOrJson::Yaml, all) => {
                for definition in all {
                    output.bytes(b"---\n")?;
                    output.show(Format::Yaml, definition)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// The resources of the two operators are no part of a mesh: they are printed only by name.
fn of_operators(word: &str) -> Option<Value> {
    let all = [istio::definition(), mizzen_operator::definition()];
    let word = word.to_ascii_lowercase();
    all.into_iter().find(|definition| {
        let names = &definition["spec"]["names"];
        let short = names["shortNames"].as_array().into_iter().flatten();
        let known = [&names["singular"], &names["plural"], &definition["metadata"]["name"]];
        known.into_iter().chain(short).any(|name| *name == *word)
    })
}

fn unknown(word: &str) -> anyhow::Error {
    let known: Vec<_> = Crd::all().map(|crd| crd.kind.as_str()).collect();
    let hint = match Crd::nearest(word) {
        Some(kind) => format!("did you mean {kind}?"),
        None => format!("the kinds are {}", known.join(", ")),
    };
    Usage(format!("'{word}' is none of Istio's kinds")).hint(hint)
}
