//! `app destroy`: everything that releases of an application have made goes, by what is recorded, not by its files.

use super::{
    go::{self, LockTyped, unreleased},
    local, person, show, which,
};
use crate::{
    args::{
        connection::{self, refused},
        format::TextOrJson,
    },
    confirm::confirm,
    exit::Exit,
    failure::Hint,
    output::Output,
};
use anyhow::{Result, anyhow};
use clap::Args;
use mizzen_app::release::{self, Settings};
use mizzen_cluster::Adoption;
use serde_json::json;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    which: which::Typed,

    /// From the mesh of `mizzen up` instead of a cluster
    #[arg(long)]
    local: bool,

    /// Go on without being asked
    #[arg(short, long)]
    yes: bool,

    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,

    /// How long objects may take to be gone
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = crate::args::duration::read)]
    timeout: Duration,

    #[command(flatten)]
    lock: LockTyped,

    /// How to print what is done
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: TextOrJson,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let text = typed.output == TextOrJson::Text;
    if typed.yes && !typed.dry_run {
        output.go_on_unread();
    }
    let owner = typed.which.owner()?;
    if typed.local {
        return local::destroy(&owner, typed.dry_run, typed.yes, text, output);
    }
    let connection = typed.connection.connect_as(&owner.manager())?;
    let (cluster, me) = (&connection.cluster, person::here());
    let mut break_lock = typed.lock.break_lock;
    loop {
        let before = match typed.dry_run {
            true => connection.run(release::read(cluster, &owner)).map_err(unreleased)?,
            false => go::until_free(&connection, &owner, &me, break_lock, text, output)?,
        };
        let removal = connection.run(release::plan_destroy(cluster, &owner, before)).map_err(refused)?;
        if removal.is_empty() {
            let told = format!("nothing of {} is recorded in namespace {}\n", owner.name(), owner.namespace);
            output.text(if text { &told } else { "{}\n" })?;
            return Ok(Exit::Done);
        }
        if text {
            let ledger = removal.before.as_ref().map(|before| &before.ledger);
            output.text(&show::removal(&owner, ledger, &removal.leaving))?;
            output.flush()?;
        }
        let missing = connection.run(cluster.missing_rights(&removal.rights(&owner))).map_err(refused)?;
        go::may(&missing)?;
        if typed.dry_run {
            if !text {
                let leaving = removal.leaving.iter().filter(|leaving| leaving.kept.is_none());
                output.json(&json!({ "delete": leaving.map(|leaving| &leaving.id).collect::<Vec<_>>() }))?;
            }
            return Ok(Exit::Done);
        }
        let question = format!("Delete all of that, and the record of {}? (y/N)", owner.name());
        if !typed.yes && !confirm(&question, output)? {
            output.text("nothing was done\n")?;
            return Ok(Exit::Problem);
        }
        let settings = Settings { patience: typed.timeout, adoption: Adoption::default(), wait: true };
        let (owner_, me_, settings_) = (&owner, &me, &settings);
        let removed = connection.run(go::watched(text, output, |progress, mut stop| async move {
            release::destroy(cluster, owner_, removal, me_, settings_, &progress, &mut stop).await
        }))?;
        let Some(report) = removed.map_err(go::cut_short)? else {
            if text {
                output.text("somebody else has worked on it meanwhile; looking again\n")?;
            }
            break_lock = false;
            continue;
        };
        if !text {
            let (requests, writes) = cluster.requests();
            output.json(&show::report_json(&report, requests, writes))?;
        }
        if report.is_well() {
            if text {
                output.text(&format!("{} is gone\n", owner.name()))?;
            }
            return Ok(Exit::Done);
        }
        let again = "what was deleted is gone; run the same command again to go on";
        if report.failures.is_empty() {
            return Err(anyhow!("interrupted: not everything is deleted").hint(again));
        }
        let all: Vec<String> = report.failures.iter().map(|(_, reason)| reason.clone()).collect();
        return Err(anyhow!("{}", all.join("\n")).hint(again));
    }
}
