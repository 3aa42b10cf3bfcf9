//! `uninstall`: a mesh goes, one revision of it or all.

use super::{
    Group, Verb,
    install::{attended, line, may, unlisted},
};
use crate::{
    args::{
        connection::{self, refused},
        format::TextOrJson,
    },
    confirm::confirm,
    exit::Exit,
    failure::{Hint, Usage},
    inputs::{self, Input},
    output::Output,
    program::Program,
};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use mizzen_cluster::Cluster;
use mizzen_install::{
    Refused,
    deploy::{self, Event, Facts, Removal, Which},
    running::Running,
};
use mizzen_text::yaml::{self, Options};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::mpsc;

#[derive(Args)]
pub(crate) struct Typed {
    /// The revision to remove; `default` is the one without a name
    #[arg(short, long, value_name = "NAME")]
    revision: Option<String>,

    /// The IstioOperator file whose mesh is to be removed
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    filename: Option<String>,

    /// Remove all revisions, what they share, and the definitions of Istio's kinds, with every object of those kinds
    #[arg(long, conflicts_with_all = ["revision", "filename"])]
    purge: bool,

    /// istioctl's way to name a revision: `revision=NAME`
    #[arg(short, long = "set", value_name = "PATH=VALUE", hide_short_help = true)]
    set: Vec<String>,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(short = 'y', long = "skip-confirmation", alias = "yes")]
    yes: bool,

    // istioctl's, without an effect here.
    #[arg(long, hide = true)]
    force: bool,
    #[arg(short, long, hide = true)]
    verbose: bool,
    #[arg(short = 'd', long, hide = true)]
    manifests: Option<String>,
    #[arg(short = 'i', long = "istioNamespace", hide = true)]
    istio_namespace: Option<String>,
    #[arg(short = 'n', long, hide = true)]
    namespace: Option<String>,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: TextOrJson,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(crate) struct Uninstall {
    typed: Typed,
    which: Which,
}

impl Verb for Uninstall {
    const NAME: &'static str = "uninstall";
    const ABOUT: &'static str = "Remove a mesh from a cluster";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("uninstall --revision canary", "One control plane with its gateways; what revisions share stays"),
        ("uninstall --purge", "Everything, with Istio's kinds"),
        ("uninstall --purge --dry-run", "Only what would be removed"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let which = which(&typed)?;
        Ok(Self { typed, which })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let Self { typed, which } = self;
        let text = typed.output == TextOrJson::Text;
        if typed.yes && !typed.dry_run {
            output.go_on_unread();
        }
        let connection = typed.connection.connect()?;
        let cluster = &connection.cluster;
        let facts = connection.run(Facts::read(cluster)).map_err(refused)?;
        if let Which::Revision { revision, .. } = &which
            && !facts.has_revision(revision)
        {
            let known: Vec<&str> = facts.revisions().into_iter().collect();
            let hint = if known.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are: {}", known.join(", "))
            };
            return Err(anyhow!("could not find target revision {revision}").hint(hint));
        }
        let removal = connection.run(deploy::plan_removal(cluster, &facts, &which)).map_err(refused)?;
        if removal.is_empty() {
            match text {
                true => output.text("there is nothing to remove\n")?,
                false if typed.dry_run => output.json(&json!({ "remove": [], "proxies": [] }))?,
                false => output.json(&json!({ "removed": [], "going": [], "failed": [] }))?,
            }
            return Ok(Exit::Done);
        }
        let proxies = connection.run(proxies(cluster, &facts, &which, &removal));
        if text {
            output.text(&shown(&removal, &proxies, typed.dry_run))?;
            for tag in facts.tags_left(&removal) {
                let advice = "move it with `mizzen tag set`, or remove it with `mizzen tag remove`";
                output.text(&format!("the tag {tag} will point at nothing: {advice}\n"))?;
            }
            for id in &removal.kept {
                output
                    .text(&format!("{id} stays: somebody has changed the labels by which it would go\n"))?;
            }
            output.flush()?;
        }
        let missing = connection.run(cluster.missing_rights(&removal.rights())).map_err(refused)?;
        may(&missing)?;
        if typed.dry_run {
            if !text {
                output.json(&json!({ "remove": removal.objects, "proxies": proxies }))?;
            }
            return Ok(Exit::Done);
        }
        let question = match &which {
            Which::Everything => {
                "All Istio resources will be removed from the cluster, with every object of Istio's kinds."
                    .to_owned()
            }
            Which::Revision { revision, .. } => {
                format!("Revision {revision} will be removed from the cluster.")
            }
        };
        if !typed.yes && !confirm(&format!("{question} Proceed? (y/N)"), output)? {
            output.text("nothing was done\n")?;
            return Ok(Exit::Problem);
        }
        let removed = connection.run(async {
            let (told, mut events) = mpsc::channel(4_096);
            let progress = move |event| {
                // Whoever cannot follow misses a line.
                let _ = told.try_send(event);
            };
            let work = deploy::remove(cluster, removal, &progress);
            let mut print = |event: Event| -> Result<()> {
                if text && let Some(line) = line(&event) {
                    output.text(&format!("{line}\n"))?;
                    output.flush()?;
                }
                Ok(())
            };
            let interrupted = || format!("interrupted after {} deletions", cluster.requests().1);
            attended(work, &mut events, &mut print, interrupted).await
        })?;
        let removed = removed.map_err(unlisted)?;
        let told = |list: &[(mizzen_cluster::ObjectId, String)]| -> Vec<Value> {
            list.iter().map(|(id, why)| json!({ "object": id, "reason": why })).collect()
        };
        if !text {
            output.json(&json!({ "removed": removed.deleted, "going": told(&removed.going), "failed": told(&removed.failed) }))?;
        }
        if !removed.failed.is_empty() {
            let all: Vec<String> = removed.failed.iter().map(|(id, why)| format!("{id}: {why}")).collect();
            return Err(anyhow!("{}", all.join("\n"))
                .hint("what was removed is gone; run the same command again to go on"));
        }
        if !removed.going.is_empty() {
            let all: Vec<String> = removed.going.iter().map(|(id, why)| format!("{id} {why}")).collect();
            return Err(anyhow!("everything was deleted, but something is still there:\n{}", all.join("\n"))
                .hint("it goes when whoever holds it lets it go; run the same command again to see"));
        }
        if text {
            output.text("the mesh is removed\n")?;
        }
        Ok(Exit::Done)
    }
}

fn which(typed: &Typed) -> Result<Which> {
    let set = typed.set.iter().filter_map(|set| set.strip_prefix("revision=")).next_back();
    let revision = typed.revision.as_deref().or(set);
    if typed.purge {
        return Ok(Which::Everything);
    }
    if revision.is_none() && typed.filename.is_none() {
        bail!(
            Usage("what is to be removed? one of --revision, --filename or --purge is needed".into())
                .hint("`uninstall --revision default` removes the control plane without a name")
        );
    }
    let file = typed.filename.as_deref().map(operator).transpose()?.unwrap_or_default();
    let text = |pointer: &str| file.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let revision = revision
        .map(str::to_owned)
        .or_else(|| text("/spec/revision"))
        .or_else(|| text("/spec/values/revision"));
    Ok(Which::Revision {
        revision: revision.filter(|revision| !revision.is_empty()).unwrap_or_else(|| "default".to_owned()),
        name: text("/metadata/name"),
        // The mesh's own, whatever the file is said to be in: objects are labelled with that.
        namespace: None,
    })
}

/// The first document of the file.
fn operator(name: &str) -> Result<Value> {
    let names = [name.to_owned()];
    match inputs::read(&names, &Options::KUBERNETES).next() {
        Some(Input::Source(source)) => {
            let document = yaml::load_first(&source, &Options::KUBERNETES)
                .map_err(|diagnostic| Refused(vec![*diagnostic]))?;
            Ok(document.unwrap_or_default())
        }
        Some(Input::Unreadable(diagnostic)) => bail!(Refused(vec![*diagnostic])),
        None => bail!("{name} is empty"),
    }
}

/// Those that would be left without their control plane, as far as anybody says; not the gateways that go with it.
async fn proxies(cluster: &Arc<Cluster>, facts: &Facts, which: &Which, removal: &Removal) -> Vec<String> {
    let revision = match which {
        Which::Revision { revision, .. } => Some(revision.as_str()),
        Which::Everything => None,
    };
    let mut all = BTreeSet::new();
    for namespace in facts.namespaces() {
        if let Ok(running) = Running::read(cluster, namespace, revision).await {
            all.extend(running.proxies.into_iter().flatten().map(|proxy| proxy.id));
        }
    }
    let goes = |proxy: &String| {
        removal.gateways().any(|gateway| {
            proxy.starts_with(&format!("{}-", gateway.name))
                && proxy.ends_with(&format!(".{}", gateway.namespace))
        })
    };
    all.into_iter().filter(|proxy| !goes(proxy)).collect()
}

fn shown(removal: &Removal, proxies: &[String], whole: bool) -> String {
    /// More would hide what else is said.
    const NAMED: usize = 30;
    let mut text = String::new();
    if !proxies.is_empty() {
        let more = if proxies.len() > NAMED { ", …" } else { "" };
        let named = proxies[..proxies.len().min(NAMED)].join(", ");
        text.push_str(&format!("proxies that lose their control plane: {} ({named}{more})\n", proxies.len()));
    }
    let gateways: Vec<String> =
        removal.gateways().map(|id| format!("{}/{}", id.namespace, id.name)).collect();
    if !gateways.is_empty() {
        text.push_str(&format!("gateways that will go: {}\n", gateways.join(", ")));
    }
    text.push_str(&format!("{} objects will go\n", removal.objects.len()));
    if whole {
        text.extend(removal.objects.iter().map(|id| format!("  - {id}\n")));
    }
    text
}
