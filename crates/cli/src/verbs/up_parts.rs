//! What `up` starts itself as: a service of the sample, a child that ends with its parent, and the keeper of a mesh. Nobody types
//! these.

use super::{Group, Verb};
use crate::{exit::Exit, output::Output, program::Program};
use anyhow::{Context, Result, anyhow};
use mizzen_local::{
    process::{self, Place},
    sample,
};
use std::{ffi::OsString, path::PathBuf};
use tokio::runtime;

#[derive(clap::Args)]
pub(crate) struct SampleTyped {
    /// One of the services
    name: String,
    /// Which version of it
    #[arg(default_value = "v1")]
    version: String,
}

pub(crate) struct Sample(SampleTyped);

impl Verb for Sample {
    const NAME: &'static str = "sample";
    const ABOUT: &'static str = "Serve a part of the sample";
    const GROUP: Group = Group::Local;
    const HIDDEN: bool = true;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] =
        &[("sample reviews v2", "On the port that PORT says")];
    type Typed = SampleTyped;

    fn meant(typed: SampleTyped, _: Program) -> Result<Self> {
        Ok(Self(typed))
    }

    fn run(self, _: &mut Output) -> Result<Exit> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        runtime.block_on(sample::serve(&self.0.name, &self.0.version))?;
        Ok(Exit::Done)
    }
}

#[derive(clap::Args)]
pub(crate) struct ChildTyped {
    /// The process that must be the parent
    parent: u32,
    /// The file of a network namespace to be in
    #[arg(long)]
    network: Option<PathBuf>,
    /// A folder whose files take the places of those in /etc
    #[arg(long)]
    etc: Option<PathBuf>,
    /// A group to belong to
    #[arg(long)]
    group: Option<u32>,
    /// A program and its arguments
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

pub(crate) struct Child(ChildTyped);

impl Verb for Child {
    const NAME: &'static str = "child-of-up";
    const ABOUT: &'static str = "Become a program that ends with its parent";
    const GROUP: Group = Group::Local;
    const HIDDEN: bool = true;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[("child-of-up 1 -- sleep 5", "")];
    type Typed = ChildTyped;

    fn meant(typed: ChildTyped, _: Program) -> Result<Self> {
        Ok(Self(typed))
    }

    fn run(self, _: &mut Output) -> Result<Exit> {
        let ChildTyped { parent, network, etc, group, command } = self.0;
        let place = Place { network, etc, group };
        let (program, arguments) = command.split_first().context("no program")?;
        let error = process::become_child(parent, &place, program, arguments);
        // In one line: the last is what is told.
        Err(anyhow!("{} cannot be started: {error}", program.display()))
    }
}

#[derive(clap::Args)]
pub(crate) struct KeeperTyped {
    /// The folder of the mesh
    mark: PathBuf,
}

pub(crate) struct Keeper(KeeperTyped);

impl Verb for Keeper {
    const NAME: &'static str = "keeper-of-up";
    const ABOUT: &'static str = "Wait for the end of a mesh, then end what is left of it";
    const GROUP: Group = Group::Local;
    const HIDDEN: bool = true;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[("keeper-of-up .mizzen", "")];
    type Typed = KeeperTyped;

    fn meant(typed: KeeperTyped, _: Program) -> Result<Self> {
        Ok(Self(typed))
    }

    fn run(self, _: &mut Output) -> Result<Exit> {
        process::keep(&self.0.mark);
        Ok(Exit::Done)
    }
}
