//! `app releases`: which releases there were, and who is at work.

use super::{
    go::{self, unreleased},
    person, show, which,
};
use crate::{
    args::{connection, format},
    exit::Exit,
    output::{Format, Output},
};
use anyhow::Result;
use clap::Args;
use mizzen_app::release::{self, Found, Ledger, Owner, Person, Presence, Release};
use serde_json::{Value, json};
use std::fmt::{self, Write};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    which: which::Typed,

    /// Every application of the cluster, or with -n of one namespace, with its newest release
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    format: format::Typed,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let format: Format = typed.format.into();
    if typed.all {
        let connection = typed.connection.connect()?;
        let namespace = typed.which.namespace.unwrap_or_default();
        let found = connection.run(release::ledgers(&connection.cluster, &namespace));
        let found = found.map_err(connection::refused)?;
        let known: Vec<Owner> = found.iter().map(|(owner, _)| owner.clone()).collect();
        let orphans = connection.run(release::orphans(&connection.cluster, &namespace, &known));
        let gone = |owner: &Owner| {
            let Owner { app, stack, namespace } = owner;
            format!(
                "the record of {} in namespace {namespace} is gone; `mizzen app releases --app {app} --stack {stack} -n {namespace}` reads it from the Specs of its releases",
                owner.name()
            )
        };
        go::warn(&orphans.map_err(connection::refused)?.iter().map(gone).collect::<Vec<_>>());
        let (mut all, me) = (Vec::new(), person::here());
        for (owner, found) in found {
            match found {
                Ok(found) => all.push(One::of(owner, found, &me)),
                // One that somebody has broken is no reason not to see the others.
                Err(broken) => go::warn(&[broken.to_string()]),
            }
        }
        all.sort_by_key(|one| (one.owner.namespace.clone(), one.owner.name()));
        return shown(format, &All(all), output);
    }
    let owner = typed.which.owner()?;
    let connection = typed.connection.connect_as(&owner.manager())?;
    let found = connection.run(release::read(&connection.cluster, &owner)).map_err(unreleased)?;
    if found.as_ref().is_some_and(Found::is_recovered) {
        go::warn(&[format!(
            "the record of {} is gone; this is read from the Specs of its releases",
            owner.name()
        )]);
    }
    let one = match found {
        Some(found) => One::of(owner, found, &person::here()),
        None => One { owner, ledger: Ledger::default(), presence: None },
    };
    shown(format, &one, output)
}

fn shown(format: Format, what: &(impl Told + fmt::Display), output: &mut Output) -> Result<Exit> {
    match format {
        Format::Text => output.text(&what.to_string())?,
        Format::Json | Format::Yaml => output.show(format, &what.value())?,
    }
    Ok(Exit::Done)
}

trait Told {
    fn value(&self) -> Value;
}

struct One {
    owner: Owner,
    ledger: Ledger,
    presence: Option<Presence>,
}

impl One {
    /// A release at which nobody is any more is shown as what it is.
    fn of(owner: Owner, found: Found, me: &Person) -> Self {
        let presence = Presence::of(&found, me);
        let ledger = match presence {
            Some(Presence::Gone | Presence::Silent) => found.ledger.cut_off(),
            _ => found.ledger,
        };
        Self { owner, ledger, presence }
    }
}

struct All(Vec<One>);

impl Told for One {
    fn value(&self) -> Value {
        let Self { owner, ledger, presence } = self;
        json!({
            "application": owner.app, "stack": owner.stack, "namespace": owner.namespace,
            "inForce": ledger.current().map(|release| release.number), "lock": ledger.lock, "presence": presence,
            "releases": ledger.releases, "objects": ledger.objects,
        })
    }
}

impl Told for All {
    fn value(&self) -> Value {
        let one = |One { owner, ledger, presence }: &One| {
            json!({
                "application": owner.app, "stack": owner.stack, "namespace": owner.namespace,
                "inForce": ledger.current().map(|release| release.number), "lock": ledger.lock, "presence": presence,
                "newest": ledger.newest(), "objects": ledger.objects.len(),
            })
        };
        self.0.iter().map(one).collect()
    }
}

impl fmt::Display for One {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, ledger, presence } = self;
        if ledger.releases.is_empty() {
            return writeln!(
                out,
                "nothing of {} has been applied in namespace {}",
                owner.name(),
                owner.namespace
            );
        }
        let current = ledger.current().map(|release| release.number);
        let rows = ledger.releases.iter().rev().map(|release| {
            let mark = if Some(release.number) == current { "*" } else { "" };
            let mut row = vec![format!("{}{mark}", release.number)];
            row.extend(columns(release));
            row.push(release.message.clone().unwrap_or_default());
            row
        });
        let head = ["RELEASE", "STATE", "WHAT", "BY", "BEGAN", "OBJECTS", ""];
        out.write_str(&table(&head, rows.collect()))?;
        match (&ledger.lock, presence) {
            (Some(lock), Some(presence)) => {
                writeln!(out, "{}", show::presence(*presence, lock, ledger.newest()))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for All {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return writeln!(out, "no application is recorded here");
        }
        let rows = self.0.iter().map(|One { owner, ledger, .. }| {
            let mut row = vec![owner.namespace.clone(), owner.app.clone(), owner.stack.clone()];
            row.push(ledger.newest().map(|newest| newest.number.to_string()).unwrap_or_default());
            row.extend(ledger.newest().map(columns).unwrap_or_default());
            row
        });
        let head =
            ["NAMESPACE", "APPLICATION", "STACK", "RELEASE", "STATE", "WHAT", "BY", "BEGAN", "OBJECTS"];
        out.write_str(&table(&head, rows.collect()))
    }
}

fn columns(release: &Release) -> [String; 5] {
    [
        release.phase.word().to_owned(),
        release.what.to_string(),
        release.by.clone(),
        release.began.clone(),
        format!("{}/{}", release.done, release.objects),
    ]
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut rows = rows;
    rows.insert(0, head.iter().map(|&cell| cell.to_owned()).collect());
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
