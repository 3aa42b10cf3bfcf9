//! `profile list`, `profile dump`, `profile diff`: what a profile sets, with everything that charts add to it. No cluster
//! is asked.

use super::{Group, Verb};
use crate::{
    args::{cluster, mesh},
    diagnostics,
    exit::Exit,
    failure::{Hint, Usage},
    output::Output,
    program::Program,
};
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use mizzen_install::{Charts, Input, Refused, compare::changes, effective, flags, get_path, merge};
use mizzen_text::yaml::{self, Options};
use serde_json::{Value, json};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Print the names of all profiles
    List {
        #[command(flatten)]
        charts: mesh::ChartsTyped,

        /// How to print them
        #[arg(short, long, value_name = "FORMAT", default_value = "text")]
        output: ListWord,

        #[command(flatten)]
        cluster: cluster::Typed,
    },
    /// Print everything that a profile sets, the defaults of charts included
    Dump {
        /// The profile; without one the default, or the one that a file names
        #[arg(value_name = "PROFILE")]
        profile: Option<String>,

        /// Only what is below this path of the spec, for instance `components` or `values.global.proxy`
        #[arg(short = 'p', long, value_name = "PATH")]
        config_path: Option<String>,

        /// How to print it; flags: a line for each field, path=value
        #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
        output: Word,

        /// The profile's own file, as it is written
        #[arg(long, conflicts_with_all = ["filename", "set", "revision"])]
        raw: bool,

        #[command(flatten)]
        cluster: cluster::Typed,

        // Last: its heading is that of everything behind it.
        #[command(flatten)]
        mesh: mesh::Typed,
    },
    /// Print what differs between two profiles; ends with 1 if anything does
    Diff {
        /// The profile to start from
        #[arg(value_name = "OLD")]
        old: String,

        /// The profile to compare with it
        #[arg(value_name = "NEW")]
        new: String,

        #[command(flatten)]
        charts: mesh::ChartsTyped,

        #[command(flatten)]
        cluster: cluster::Typed,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListWord {
    Text,
    Json,
    Yaml,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    Yaml,
    Json,
    Flags,
}

pub(crate) struct Profile(Task);

impl Verb for Profile {
    const NAME: &'static str = "profile";
    const ABOUT: &'static str = "List, print and compare profiles";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("profile list", "The names of all profiles"),
        ("profile dump demo", "Everything that one sets"),
        ("profile dump --config-path values.global.proxy -o flags", "A part of it, a line for each field"),
        ("profile diff default demo", "What differs between two"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self(typed.task))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match self.0 {
            Task::List { charts, output: word, cluster: _ } => {
                let mut names = charts.open(charts.manifests.as_deref())?.profiles();
                names.sort();
                match word {
                    ListWord::Json => output.json(&names)?,
                    ListWord::Yaml => output.bytes(yaml::to_string(&json!(names)).as_bytes())?,
                    ListWord::Text => {
                        let lines: String = names.iter().map(|name| format!("    {name}\n")).collect();
                        output.text(&format!("Istio configuration profiles:\n{lines}"))?;
                    }
                }
                Ok(Exit::Done)
            }
            Task::Dump { profile: name, mesh, config_path, output: word, raw, cluster: _ } => {
                let (mut input, charts) = mesh.meant()?.read(true)?;
                if let Some(name) = name {
                    if !input.files.is_empty() {
                        let hint = "a file names its profile itself, as spec.profile";
                        bail!(Usage("a profile and -f cannot both be given".into()).hint(hint));
                    }
                    charts.profile(&name)?;
                    input.sets.insert(0, format!("profile={name}"));
                }
                dump(&input, charts.as_ref(), config_path.as_deref(), word, raw, output)?;
                Ok(Exit::Done)
            }
            Task::Diff { old, new, charts, cluster: _ } => {
                let charts = charts.open(charts.manifests.as_deref())?;
                diff(&tree(&old, charts.as_ref())?, &tree(&new, charts.as_ref())?, output)
            }
        }
    }
}

fn tree(name: &str, charts: &dyn Charts) -> Result<Value> {
    // Asked first, so that a name that does not exist is told as it was typed.
    charts.profile(name)?;
    let input = Input { sets: vec![format!("profile={name}")], ..Input::default() };
    Ok(effective(&merge(&input, charts)?, charts)?)
}

fn dump(
    input: &Input,
    charts: &dyn Charts,
    path: Option<&str>,
    word: Word,
    raw: bool,
    output: &mut Output,
) -> Result<()> {
    let merged = merge(input, charts)?;
    diagnostics::warn(&merged.warnings);
    let source = if raw { Some(charts.profile(&merged.profile)?) } else { None };
    let mut tree = match &source {
        Some(file) if word == Word::Yaml && path.is_none() => return Ok(output.bytes(file.bytes())?),
        Some(file) => yaml::load_first(file, &Options::KUBERNETES)
            .map_err(|wrong| Refused(vec![*wrong]))?
            .unwrap_or_default(),
        None => effective(&merged, charts)?,
    };
    if let Some(path) = path {
        tree = match get_path(&tree, &format!("spec.{path}")) {
            Some(part) => part.clone(),
            None => bail!(
                Usage(format!("the profile `{}` has nothing at `{path}`", merged.profile))
                    .hint("the path starts below spec, for instance `components.pilot`")
            ),
        };
    }
    match word {
        Word::Yaml => output.bytes(yaml::to_string(&tree).as_bytes())?,
        Word::Json => output.json(&tree)?,
        Word::Flags => {
            let tree = tree.get("spec").unwrap_or(&tree);
            let lines: String = flags(tree, path).into_iter().map(|line| line + "\n").collect();
            output.bytes(lines.as_bytes())?;
        }
    }
    Ok(())
}

fn diff(old: &Value, new: &Value, output: &mut Output) -> Result<Exit> {
    let found = changes(old, new);
    if found.is_empty() {
        output.text("Profiles are identical\n")?;
        return Ok(Exit::Done);
    }
    let lines: String = found.iter().map(|change| format!("  {change}\n")).collect();
    output.text(&format!("The difference between profiles:\n{lines}"))?;
    Ok(Exit::Problem)
}
