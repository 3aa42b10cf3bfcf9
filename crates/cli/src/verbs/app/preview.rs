//! `app preview`: what `apply` would do. Nothing is written.

use super::{
    go::{self, Prepared},
    local, person, show, which,
};
use crate::{
    args::{connection, format::TextOrJson},
    exit::Exit,
    output::Output,
};
use anyhow::Result;
use clap::Args;
use mizzen_app::release::{self, Presence};
use mizzen_cluster::Adoption;

#[derive(Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    which: which::Typed,

    #[command(flatten)]
    spec: which::SpecTyped,

    /// Look at the mesh of `mizzen up` instead of a cluster
    #[arg(long, conflicts_with = "spec_file")]
    local: bool,

    /// Show what would be if objects that were made by these field managers were taken over
    #[arg(long, value_name = "MANAGER", value_delimiter = ',', conflicts_with = "local")]
    adopt: Vec<String>,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: TextOrJson,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let text = typed.output == TextOrJson::Text;
    if typed.local {
        return local::preview(&typed.which, text, output);
    }
    let subject = typed.which.subject(&typed.spec)?;
    let owner = &subject.owner;
    let connection = typed.connection.connect_as(&owner.manager())?;
    let before = connection.run(release::read(&connection.cluster, owner)).map_err(go::unreleased)?;
    if let Some(before) = before.as_ref().filter(|_| text)
        && let (Some(lock), Some(presence)) = (&before.ledger.lock, Presence::of(before, &person::here()))
    {
        output.text(&format!("{}\n", show::presence(presence, lock, before.ledger.newest())))?;
    }
    let adoption = Adoption { from: typed.adopt, ..Adoption::default() };
    let prepared = connection.run(go::prepare(&connection, &subject, before, &adoption))?;
    let Prepared { mut plan, warnings } = prepared;
    match text {
        true => output.text(&show::plan(owner, &plan))?,
        false => output.json(&show::plan_json(owner, &plan, &warnings))?,
    }
    output.flush()?;
    if text {
        go::warn(&warnings);
    }
    // That kinds are missing is one of the warnings.
    plan.unserved.clear();
    go::stopped(&plan, &subject)?;
    Ok(Exit::Done)
}
