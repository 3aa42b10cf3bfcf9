//! `backbone generate`: custom resource definitions → models in another language, as files. Nothing is written before
//! everything is read and found good.

use super::{Group, Verb};
use crate::{
    diagnostics::warn,
    exit::Exit,
    failure::{Hint, Usage},
    inputs::{self, Input},
    output::Output,
    program::Program,
};
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use mizzen_backbone::{File, Language, files, kcl, read};
use mizzen_text::{Severity, yaml::Options};
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write models of the kinds that custom resource definitions define
    Generate(Given),
}

#[derive(Args)]
struct Given {
    /// The files hold custom resource definitions, which is all that can be read
    #[arg(long)]
    crd: bool,

    /// A file, a folder, or - for standard input; several documents, Lists, YAML or JSON
    #[arg(short, long, value_name = "FILE", required = true)]
    file: Vec<String>,

    /// What to write
    #[arg(long, value_name = "LANGUAGE", default_value = "kcl")]
    to: Word,

    /// The folder to write to
    #[arg(short, long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    target: PathBuf,

    /// The package: a folder below it
    #[arg(short = 'm', long, value_name = "NAME", default_value = "models")]
    package: String,

    /// Only what kcl-openapi writes, in its very words: without groups of which one may be given, and without rules
    #[arg(long)]
    exact: bool,

    /// What parts of a kind are called in KCL
    #[arg(long, value_name = "NAMES", default_value = "long")]
    names: Names,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    /// Schemas laid out and named as kcl-openapi's
    Kcl,
    /// A schema for editors and kubeconform
    JsonSchema,
    /// Structures for serde
    Rust,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Names {
    /// By group, version, kind and the whole path
    Long,
    /// By kind and the end of the path; equal parts are one
    Short,
}

pub(crate) struct Generate {
    given: Given,
    language: Language,
}

impl Verb for Generate {
    const NAME: &'static str = "backbone";
    const ABOUT: &'static str = "Write models of custom resource definitions: KCL, JSON Schema, Rust";
    const GROUP: Group = Group::Models;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("backbone generate --crd -f crds.yaml", "KCL schemas of all kinds in a file, in ./models"),
        (
            "backbone generate --crd -f crds -t out --to json-schema",
            "JSON Schema of all that a folder defines",
        ),
        (
            "crd print dr | {} backbone generate --crd -f - --names short",
            "One of Istio's own kinds, with short names",
        ),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Task::Generate(given) = typed.task;
        let part = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        };
        if !given.package.split('/').all(part) {
            let hint = "letters, digits, _ and -; / between folders";
            bail!(Usage(format!("'{}' cannot be the name of a package", given.package)).hint(hint));
        }
        let language = match given.to {
            Word::Kcl => Language::Kcl(kcl::Style {
                exact: given.exact,
                names: match given.names {
                    Names::Long => kcl::Names::Long,
                    Names::Short => kcl::Names::Short,
                },
            }),
            _ if given.exact || given.names == Names::Short => {
                bail!(
                    Usage("--exact and --names are about KCL".to_owned())
                        .hint("leave them out, or say --to kcl")
                )
            }
            Word::JsonSchema => Language::JsonSchema,
            Word::Rust => Language::Rust,
        };
        Ok(Self { given, language })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let mut diagnostics = Vec::new();
        let mut definitions = Vec::new();
        for input in inputs::read(&self.given.file, &Options::KUBERNETES) {
            match input {
                Input::Source(source) => definitions.extend(read(&source, &mut diagnostics)),
                Input::Unreadable(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        warn(&diagnostics);
        if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Ok(Exit::Problem);
        }
        if definitions.is_empty() {
            bail!(anyhow!("there is no CustomResourceDefinition to make a model of"));
        }
        let files = different(files(&definitions, self.language, &self.given.package))?;
        let folder = self.given.target.join(&self.given.package);
        for file in &files {
            let path = folder.join(&file.path);
            if !(file.beginning && path.exists()) {
                write(&path, &file.text)?;
            }
        }
        output.text(&format!("{} files in {}\n", files.len(), folder.display()))?;
        Ok(Exit::Done)
    }
}

/// A definition that is given twice is one, if it is the same.
fn different(mut files: Vec<File>) -> Result<Vec<File>> {
    files.dedup();
    if let Some(two) = files.windows(2).find(|two| two[0].path == two[1].path) {
        let error = anyhow!("two different definitions would both be {}", two[0].path);
        bail!(error.hint("leave one of them out"));
    }
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<()> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.with_context(|| format!("{} cannot be written", path.display()))
}
