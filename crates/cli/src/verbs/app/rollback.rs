//! `app rollback`: an application brought back to what it was in an earlier release.

use super::{
    go::{self, unreleased},
    which::{self, Subject},
};
use crate::{
    args::{connection, format::TextOrJson},
    exit::Exit,
    failure::Hint,
    output::Output,
};
use anyhow::{Result, anyhow};
use clap::Args;
use mizzen_app::{
    Whereabouts,
    release::{self, Phase, What, wanted},
};
use mizzen_install::Refused;

#[derive(Args)]
pub(crate) struct Typed {
    /// The number of a release [default: the one before the one in force]
    #[arg(value_name = "RELEASE")]
    number: Option<u32>,

    #[command(flatten)]
    which: which::Typed,

    #[command(flatten)]
    go: go::Typed,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let owner = typed.which.owner()?;
    let connection = typed.connection.connect_as(&owner.manager())?;
    let cluster = &connection.cluster;
    let found = connection.run(release::read(cluster, &owner)).map_err(unreleased)?;
    let ledger = found.map(|found| found.ledger).unwrap_or_default();
    let meant = match typed.number {
        Some(number) => ledger.releases.iter().find(|release| release.number == number),
        None => ledger.previous(),
    };
    let Some(meant) = meant.filter(|release| release.phase == Phase::Succeeded) else {
        let which = match typed.number {
            Some(number) => format!("{} has no release {number} that succeeded", owner.name()),
            None => format!("{} has no release to go back to", owner.name()),
        };
        let there = ledger.releases.iter().filter(|release| release.phase == Phase::Succeeded);
        let there: Vec<String> = there.map(|release| release.number.to_string()).collect();
        return Err(anyhow!(which).hint(match there.as_slice() {
            [] if ledger.releases.is_empty() => "nothing has been applied in this cluster and namespace".to_owned(),
            [] => "none has succeeded yet: mend it and `mizzen app apply`, or `mizzen app destroy` takes away what was made".to_owned(),
            there => format!("there are {}", there.join(", ")),
        }));
    };
    let number = meant.number;
    let spec = connection.run(release::spec_of(cluster, &owner, number)).map_err(unreleased)?;
    let wanted = wanted(&spec).map_err(Refused)?;
    if typed.go.output == TextOrJson::Text {
        output.text(&format!("back to release {number} of {} by {}\n", meant.began, meant.by))?;
    }
    let subject = Subject { owner, spec, wanted, whereabouts: Whereabouts::default() };
    go::go(&typed.go, &connection, &subject, What::Rollback { to: number }, output)
}
