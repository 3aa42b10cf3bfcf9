//! `x precheck`: whether Istio can be installed into a cluster or upgraded there. Nothing is changed.

use super::{Group, Verb};
use crate::{
    args::{
        connection::{self, refused},
        control_plane::NAMESPACE,
    },
    exit::Exit,
    failure::Usage,
    output::Output,
    program::Program,
    style,
};
use anstyle::{AnsiColor, Style};
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use mizzen_install::precheck::{DOCUMENTATION, Facts, Finding, Level, Scope, Since};
use mizzen_text::yaml;
use serde::Serialize;
use serde_json::{Serializer, json, ser::PrettyFormatter};
use std::io::{self, Write};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check whether Istio can safely be installed or upgraded; ends with 1 if a warning or worse is found
    Precheck(PrecheckTyped),
}

#[derive(Args)]
struct PrecheckTyped {
    /// Tell also what behaves otherwise since this release, such as 1.20
    #[arg(short = 'f', long, value_name = "VERSION")]
    from_version: Option<String>,

    /// Do not look at the cluster itself
    #[arg(long)]
    skip_controlplane: bool,

    /// Print only what is as bad as this, or worse
    #[arg(long, value_name = "LEVEL", default_value = "warning", ignore_case = true)]
    output_threshold: LevelWord,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "log")]
    output: Word,

    // istioctl's; what is checked does not depend on it.
    #[arg(short, long, hide = true)]
    revision: Option<String>,

    /// The namespace of the control plane
    #[arg(short = 'i', long = "istioNamespace", value_name = "NAMESPACE", default_value = NAMESPACE)]
    istio_namespace: String,

    /// Of the objects, look only at those of this namespace
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    #[command(flatten)]
    connection: connection::Typed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LevelWord {
    Info,
    Warning,
    Error,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    Log,
    Json,
    Yaml,
}

pub(crate) struct X {
    typed: PrecheckTyped,
    since: Option<Since>,
}

impl Verb for X {
    const NAME: &'static str = "x";
    const ALIASES: &'static [&'static str] = &["experimental", "exp"];
    const ABOUT: &'static str = "Check a cluster before Istio is installed or upgraded";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("x precheck", "Whether Istio can be installed or upgraded"),
        ("x precheck --from-version 1.20", "And what behaves otherwise since a release"),
        ("x precheck -o json --output-threshold info", "Everything that is found, for a script"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Task::Precheck(typed) = typed.task;
        let from = typed.from_version.as_deref().filter(|version| !version.is_empty());
        let since = from.map(Since::read).transpose().map_err(|error| Usage(error.to_string()))?;
        Ok(Self { typed, since })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let Self { typed, since } = self;
        let threshold = match typed.output_threshold {
            LevelWord::Info => Level::Info,
            LevelWord::Warning => Level::Warning,
            LevelWord::Error => Level::Error,
        };
        let scope = Scope {
            istio_namespace: typed.istio_namespace,
            control_plane: !typed.skip_controlplane,
            since,
            // They are worth an Info, which nobody would see.
            annotations: threshold == Level::Info,
            namespace: typed.namespace.unwrap_or_default(),
        };
        let connection = typed.connection.connect()?;
        let facts = connection.run(Facts::read(&connection.cluster, &scope)).map_err(refused)?;
        let findings = facts.findings();
        let shown: Vec<&Finding> = findings.iter().filter(|finding| finding.level >= threshold).collect();
        if shown.is_empty() {
            safe();
        } else {
            show(&shown, typed.output, output)?;
        }
        if findings.iter().any(|finding| finding.level >= Level::Warning) {
            bail!(
                "Issues found when checking the cluster. Istio may not be safe to install or upgrade.\n\
                 See {DOCUMENTATION} for more information about causes and resolutions."
            );
        }
        Ok(Exit::Done)
    }
}

/// On standard error, as istioctl has it: there is nothing to print.
fn safe() {
    let good: Style = AnsiColor::Green.on_default();
    let text = format!(
        "{good}✔{good:#} No issues found when checking the cluster. Istio is safe to install or upgrade!\n  \
         To get started, check out https://istio.io/latest/docs/setup/getting-started/.\n"
    );
    // With standard error closed there is nobody to tell.
    let _ = anstream::AutoStream::auto(io::stderr()).write_all(text.as_bytes());
}

fn show(findings: &[&Finding], word: Word, output: &mut Output) -> Result<()> {
    match word {
        Word::Log => {
            let lines = findings.iter().map(|finding| {
                let style = match finding.level {
                    Level::Info => Style::new(),
                    Level::Warning => AnsiColor::Yellow.on_default(),
                    Level::Error => style::ERROR,
                };
                let text = finding.to_string();
                let (level, rest) = text.split_once(' ').unwrap_or((&text, ""));
                format!("{style}{level}{style:#} {rest}\n")
            });
            output.text(&lines.collect::<String>())?;
        }
        // Go's way, byte for byte.
        Word::Json => {
            let mut json = Vec::new();
            let format = PrettyFormatter::with_indent(b"\t");
            findings.serialize(&mut Serializer::with_formatter(&mut json, format))?;
            json.push(b'\n');
            output.bytes(&json)?;
        }
        Word::Yaml => output.bytes(yaml::to_string(&json!(findings)).as_bytes())?,
    }
    Ok(())
}
