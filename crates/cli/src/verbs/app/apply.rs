//! `app apply`: an application brought into a cluster, or to what it should be.

use super::{go, local, which};
use crate::{args::connection, exit::Exit, output::Output};
use anyhow::Result;
use clap::Args;
use mizzen_app::release::What;

#[derive(Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    which: which::Typed,

    #[command(flatten)]
    spec: which::SpecTyped,

    /// Into the mesh of `mizzen up` instead of a cluster
    #[arg(long, conflicts_with = "spec_file")]
    local: bool,

    #[command(flatten)]
    go: go::Typed,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    if typed.local {
        return local::apply(&typed.which, &typed.go, output);
    }
    let subject = typed.which.subject(&typed.spec)?;
    let connection = typed.connection.connect_as(&subject.owner.manager())?;
    go::go(&typed.go, &connection, &subject, What::Apply, output)
}
