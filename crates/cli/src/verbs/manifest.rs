//! `manifest generate`: the objects of a mesh, as istioctl prints them; `manifest diff`: what differs between two sets
//! of objects. No cluster is asked.

use super::{Group, Verb};
use crate::{
    args::{connection, format::TextOrJson, mesh},
    diagnostics,
    exit::Exit,
    failure::{Hint, Usage},
    inputs::{self, Input},
    output::Output,
    program::Program,
};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use mizzen_install::{
    Refused,
    compare::{Change, Choice, Difference, compare},
    deploy::kubernetes,
    generate, print, printed,
};
use mizzen_text::{
    Code, Diagnostic, Path,
    yaml::{Document, Options, load_all},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, path::PathBuf};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Print the objects of a mesh
    Generate {
        /// Go on where the IstioOperator is not valid: what is wrong is a warning then
        #[arg(long)]
        force: bool,

        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,

        // istioctl's; nothing is changed in any case.
        #[arg(long, hide = true)]
        dry_run: bool,

        /// Render for the version of Kubernetes that the cluster has
        #[arg(long)]
        cluster_specific: bool,

        #[command(flatten)]
        connection: Box<connection::Typed>,

        // Last: its heading is that of everything behind it.
        #[command(flatten)]
        mesh: mesh::Typed,
    },
    /// Compare the objects of two files, or of two folders with -r; ends with 1 if anything differs
    Diff(DiffTyped),
}

#[derive(Args)]
pub(crate) struct DiffTyped {
    /// The file or folder with the objects as they were; - is standard input
    #[arg(value_name = "OLD")]
    old: String,

    /// The file or folder with the objects as they are now; - is standard input
    #[arg(value_name = "NEW")]
    new: String,

    /// OLD and NEW are folders: everything in them is compared
    #[arg(short = 'r', long = "directory")]
    directory: bool,

    /// Compare only these objects: KIND:NAMESPACE:NAME, with * for anything, separated by commas
    #[arg(long, value_name = "OBJECTS", default_value = "::", hide_default_value = true)]
    select: String,

    /// Do not compare these objects, named in the same way
    #[arg(long, value_name = "OBJECTS", default_value = "", hide_default_value = true)]
    ignore: String,

    /// Compare objects that got another name, for instance `Service:*:istio-pilot->Service:*:istiod`
    #[arg(long, value_name = "OLD->NEW", default_value = "", hide_default_value = true)]
    rename: String,

    // istioctl's; everything is said in any case.
    #[arg(short, long, hide = true)]
    verbose: bool,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: TextOrJson,
}

pub(crate) enum Manifest {
    Generate { mesh: mesh::Mesh, force: bool, file: Option<PathBuf>, cluster: Option<Box<connection::Typed>> },
    Diff { typed: DiffTyped, choice: Choice },
}

impl Verb for Manifest {
    const NAME: &'static str = "manifest";
    const ABOUT: &'static str = "Print the objects of a mesh, or compare two sets of objects";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("manifest generate", "The default profile, with the charts that are built in"),
        (
            "manifest generate --set profile=demo -f mesh.yaml > mesh.generated.yaml",
            "Another profile, changed by a file",
        ),
        ("manifest generate -d istio-1.31.0/manifests", "Istio's own charts, as istioctl would print them"),
        ("manifest diff old.yaml new.yaml --ignore ConfigMap:*:values", "What a change does"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(match typed.task {
            Task::Generate { mesh, force, output, connection, dry_run: _, cluster_specific } => {
                let cluster = cluster_specific.then_some(connection);
                Self::Generate { mesh: mesh.meant()?, force, file: output, cluster }
            }
            Task::Diff(typed) => {
                if typed.old == "-" && typed.new == "-" {
                    bail!(Usage("standard input can only be one of the two".into()));
                }
                let choice = Choice::default()
                    .selecting(&typed.select)
                    .and_then(|choice| choice.ignoring(&typed.ignore))
                    .and_then(|choice| choice.renaming(&typed.rename))
                    .map_err(|error| Usage(error.to_string()))?;
                Self::Diff { typed, choice }
            }
        })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match self {
            Self::Generate { mesh, force, file, cluster } => {
                let (mut input, charts) = mesh.read(force)?;
                if let Some(cluster) = cluster {
                    let connection = cluster.connect()?;
                    let version =
                        connection.run(kubernetes(&connection.cluster)).map_err(connection::refused)?;
                    input.kube_version = Some(version);
                }
                let generated = generate(&input, charts.as_ref()).map_err(diagnostics::named)?;
                diagnostics::warn(&generated.warnings);
                match file {
                    Some(file) => fs::write(&file, printed(&generated))
                        .with_context(|| format!("{} cannot be written", file.display()))?,
                    None => print(&generated, |piece| output.bytes(piece.as_bytes()))?,
                }
                Ok(Exit::Done)
            }
            Self::Diff { typed, choice } => diff(&typed, &choice, output),
        }
    }
}

fn diff(typed: &DiffTyped, choice: &Choice, output: &mut Output) -> Result<Exit> {
    let (old, new) = (objects(&typed.old, typed.directory)?, objects(&typed.new, typed.directory)?);
    let found = compare(&old, &new, choice);
    match typed.output {
        TextOrJson::Json => output.json(&found.iter().map(to_json).collect::<Vec<_>>())?,
        TextOrJson::Text => output.text(&text(&found))?,
    }
    Ok(if found.is_empty() { Exit::Done } else { Exit::Problem })
}

fn text(found: &[Difference]) -> String {
    if found.is_empty() {
        return "Manifests are identical\n".to_owned();
    }
    let mut text = "Differences in manifests are:\n".to_owned();
    for difference in found {
        match difference {
            Difference::OnlyOld { object } => text += &format!("\nObject {object} is missing in NEW\n"),
            Difference::OnlyNew { object } => text += &format!("\nObject {object} is missing in OLD\n"),
            Difference::Changed { object, changes } => {
                text += &format!("\nObject {object} has diffs:\n");
                text.extend(changes.iter().map(|change| format!("  {change}\n")));
            }
        }
    }
    text
}

fn to_json(difference: &Difference) -> Value {
    let change =
        |change: &Change| json!({"path": change.path.to_string(), "old": change.old, "new": change.new});
    match difference {
        Difference::OnlyOld { object } => json!({"object": object, "missingIn": "new"}),
        Difference::OnlyNew { object } => json!({"object": object, "missingIn": "old"}),
        Difference::Changed { object, changes } => {
            json!({"object": object, "changes": changes.iter().map(change).collect::<Vec<_>>()})
        }
    }
}

fn objects(name: &str, directory: bool) -> Result<Vec<Value>> {
    if name != "-" && fs::metadata(name).is_ok_and(|file| file.is_dir()) && !directory {
        bail!(Usage(format!("{name} is a folder")).hint("with -r folders are compared"));
    }
    let mut objects = Vec::new();
    let mut wrong = Vec::new();
    for input in inputs::read(&[name.to_owned()], &Options::KUBERNETES) {
        match input {
            Input::Unreadable(diagnostic) => wrong.push(*diagnostic),
            Input::Source(source) => {
                for document in load_all(&source, &Options::KUBERNETES) {
                    match document {
                        Ok(document) => {
                            diagnostics::warn(&document.warnings);
                            collect(&document, &mut objects, &mut wrong);
                        }
                        Err(diagnostic) => wrong.push(*diagnostic),
                    }
                }
            }
        }
    }
    if !wrong.is_empty() {
        bail!(Refused(wrong));
    }
    twice(name, &objects);
    Ok(objects)
}

/// In a cluster the last one would count, and so it does here; but nobody writes an object twice on purpose.
fn twice(name: &str, objects: &[Value]) {
    let mut seen = BTreeSet::new();
    for object in objects {
        let part = |way: &str| object.pointer(way).and_then(Value::as_str).unwrap_or_default();
        let key = [part("/kind"), part("/metadata/namespace"), part("/metadata/name")];
        if !seen.insert(key) {
            let message = format!("{name} has {} more than once; the last one counts", key.join(":"));
            diagnostics::warn(&[Diagnostic::new(Code::Doubtful, message)]);
        }
    }
}

/// A list, as `kubectl get -o yaml` prints it, is its items.
fn collect(document: &Document, objects: &mut Vec<Value>, wrong: &mut Vec<Diagnostic>) {
    match (&document.value["kind"], &document.value["items"]) {
        (Value::String(kind), Value::Array(items)) if kind.ends_with("List") => {
            objects.extend(items.iter().cloned());
        }
        (Value::String(_), _) => objects.push(document.value.clone()),
        _ if document.value.is_null() => {}
        _ => {
            let message = "this is no object: it has no `kind`";
            wrong.push(Diagnostic::new(Code::Invalid, message).at(document.place(&Path::default())));
        }
    }
}
