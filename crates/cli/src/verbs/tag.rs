//! `tag set`, `tag generate`, `tag list`, `tag remove`: other names for a revision, as istioctl has them.

use super::{Group, Verb};
use crate::{
    args::{
        connection::{self, Connection, refused},
        control_plane, mesh,
    },
    confirm::confirm,
    exit::Exit,
    failure::Hint,
    output::Output,
    program::Program,
};
use anyhow::{Context, Error, Result, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use mizzen_check::schema::names;
use mizzen_install::tag::{self, Change, Listed, NoTag, Request, State};
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
    /// Make a tag, or with --overwrite move it to another revision
    Set(SetTyped),
    /// Print the objects of a tag instead of applying them
    Generate(SetTyped),
    /// List the tags, their revisions and the namespaces that ask for them
    #[command(visible_alias = "show")]
    List {
        /// How to print them
        #[arg(short, long, value_name = "FORMAT", default_value = "table")]
        output: Word,

        #[command(flatten)]
        place: control_plane::Typed,

        #[command(flatten)]
        connection: connection::Typed,
    },
    /// Remove a tag
    #[command(visible_alias = "delete")]
    Remove {
        /// The tag
        #[arg(value_name = "TAG")]
        tag: String,

        /// Do not ask, also if namespaces still use it
        #[arg(short = 'y', long = "skip-confirmation", alias = "yes")]
        yes: bool,

        #[command(flatten)]
        place: control_plane::Typed,

        #[command(flatten)]
        connection: connection::Typed,
    },
}

#[derive(Args)]
struct SetTyped {
    /// The tag
    #[arg(value_name = "TAG")]
    tag: String,

    /// The revision that it stands for
    #[arg(short, long, value_name = "NAME")]
    revision: String,

    /// The tag may be there already: it is moved
    #[arg(long)]
    overwrite: bool,

    /// The name of its injection webhook, if not istio-revision-tag-TAG
    #[arg(long, value_name = "NAME")]
    webhook_name: Option<String>,

    /// Inject also in namespaces without a label
    #[arg(long)]
    auto_inject_namespaces: bool,

    /// Do not ask, also if its webhook is in another's way
    #[arg(short = 'y', long = "skip-confirmation", alias = "yes")]
    yes: bool,

    #[command(flatten)]
    charts: mesh::ChartsTyped,

    #[command(flatten)]
    place: control_plane::Typed,

    #[command(flatten)]
    connection: connection::Typed,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    #[value(alias = "text")]
    Table,
    Json,
    Yaml,
}

pub(crate) struct Tag(Task);

impl Verb for Tag {
    const NAME: &'static str = "tag";
    const ABOUT: &'static str = "Give revisions of the control plane other names";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("tag list", "The tags of a cluster"),
        ("tag set prod --revision 1-31-0", "A tag for a revision"),
        ("tag set prod --revision 1-31-1 --overwrite", "Another revision for the same tag"),
        ("tag set default --revision 1-31-1", "The revision for namespaces that name none"),
        ("tag generate prod --revision 1-31-0 > tag.yaml", "Its objects, to be applied by others"),
        ("tag remove prod", "Without the tag"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self(typed.task))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match self.0 {
            Task::Set(typed) => set(typed, false, output)?,
            Task::Generate(typed) => set(typed, true, output)?,
            Task::List { output: word, place, connection } => {
                let (_, state) = look(connection, &place)?;
                list(&state.tags(), word, output)?;
            }
            Task::Remove { tag, yes, place, connection } => {
                let (connection, state) = look(connection, &place)?;
                let removal = state.removal(&tag)?;
                if !removal.namespaces.is_empty()
                    && !yes
                    && !confirm(&still_used(&tag, &removal.namespaces), output)?
                {
                    output.text("Aborting operation.\n")?;
                    return Ok(Exit::Done);
                }
                connection.run(removal.apply(&connection.cluster)).map_err(refused)?;
                output.text(&format!("Revision tag {tag} removed\n"))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn look(connection: connection::Typed, place: &control_plane::Typed) -> Result<(Connection, State)> {
    let connection = connection.connect()?;
    let state = connection.run(State::read(&connection.cluster, &place.istio_namespace)).map_err(refused)?;
    Ok((connection, state))
}

fn set(typed: SetTyped, generate: bool, output: &mut Output) -> Result<()> {
    if let Err(reason) = names::dns_label(&typed.tag) {
        return Err(anyhow!("the tag {:?} {reason}", typed.tag).hint("it is part of the names of objects"));
    }
    let charts = typed.charts.open(typed.charts.manifests.as_deref())?;
    let (connection, state) = look(typed.connection, &typed.place)?;
    let request = Request {
        tag: tag::Tag {
            name: typed.tag.clone(),
            auto_inject: typed.auto_inject_namespaces,
            user_managed: true,
            webhook_name: typed.webhook_name,
            ..tag::Tag::default()
        },
        revision: typed.revision.clone(),
        overwrite: typed.overwrite,
        generate,
    };
    let change = state.change(request, charts.as_ref()).map_err(hinted)?;
    if !change.conflicts.is_empty() && !typed.yes {
        tell(&change);
        if !generate && !confirm("Apply anyways? [y/N]", output)? {
            return Ok(());
        }
    }
    if generate {
        let texts: Vec<String> = change.objects.iter().map(yaml::to_string).collect();
        return Ok(output.bytes(texts.join("---\n").as_bytes())?);
    }
    connection
        .run(change.apply(&connection.cluster))
        .map_err(refused)
        .context("failed to apply tag webhook MutatingWebhookConfiguration to cluster")?;
    let (tag, revision) = (&typed.tag, &typed.revision);
    output.text(&format!(
        "Revision tag {tag:?} created, referencing control plane revision {revision:?}. To enable injection using this\n\
         revision tag, use 'kubectl label namespace <NAMESPACE> istio.io/rev={tag}'\n"
    ))?;
    Ok(())
}

/// On standard error: what is printed may be read by a program.
fn tell(change: &Change) {
    let lines: String = change.conflicts.iter().map(|conflict| format!("{conflict}\n")).collect();
    let text = format!("creating tag would conflict, pass --skip-confirmation to proceed:\n{lines}");
    // With standard error closed there is nobody to tell.
    let _ = anstream::AutoStream::auto(io::stderr()).write_all(text.as_bytes());
}

fn hinted(refused: NoTag) -> Error {
    let hint = match &refused {
        NoTag::NoSuchRevision(_) => "`tag list` shows the revisions of a cluster",
        NoTag::Exists(_) => "with --overwrite it is moved to the revision",
        NoTag::NamedLikeRevision(_) => "choose another name, or give --overwrite",
        _ => return refused.into(),
    };
    refused.hint(hint)
}

fn still_used(tag: &str, namespaces: &[String]) -> String {
    format!(
        "Caution, found {} namespace(s) still injected by tag {tag:?}: {}\nProceed with operation? [y/N]",
        namespaces.len(),
        namespaces.join(" ")
    )
}

fn list(tags: &[Listed], word: Word, output: &mut Output) -> Result<()> {
    if tags.is_empty() {
        return Ok(output.text("No Istio revision tags found.\n")?);
    }
    match word {
        // Go's way, byte for byte.
        Word::Json => {
            let mut json = Vec::new();
            tags.serialize(&mut Serializer::with_formatter(&mut json, PrettyFormatter::with_indent(b"\t")))?;
            json.push(b'\n');
            output.bytes(&json)?;
        }
        Word::Yaml => output.bytes(yaml::to_string(&json!(tags)).as_bytes())?,
        Word::Table => {
            let head = [("TAG".to_owned(), "REVISION".to_owned(), "NAMESPACES".to_owned())];
            let rows =
                tags.iter().map(|row| (row.tag.clone(), row.revision.clone(), row.namespaces.join(",")));
            let rows: Vec<_> = head.into_iter().chain(rows).collect();
            let width = |cell: fn(&(String, String, String)) -> &String| {
                rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or_default() + 1
            };
            let (first, second) = (width(|row| &row.0), width(|row| &row.1));
            let lines = rows
                .iter()
                .map(|(tag, revision, namespaces)| format!("{tag:first$}{revision:second$}{namespaces}\n"));
            output.text(&lines.collect::<String>())?;
        }
    }
    Ok(())
}
