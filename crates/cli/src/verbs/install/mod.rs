//! `install`, `upgrade`, `diff`: a mesh brought into a cluster, or what that would do.
//!
//! All three make the same plan. `diff` prints it, `--dry-run` too; the others ask, and carry it out.

mod run;
mod show;
mod typed;

pub(crate) use run::{attended, may, unlisted};
pub(crate) use show::line;

use super::{Group, Verb};
use crate::{exit::Exit, output::Output, program::Program};
use anyhow::Result;
use typed::{DiffTyped, Typed};

pub(crate) struct Install(Typed);

impl Verb for Install {
    const NAME: &'static str = "install";
    const ALIASES: &'static [&'static str] = &["apply"];
    const ABOUT: &'static str = "Install a mesh in a cluster, or bring it to what it should be";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("install", "The default profile, after showing what will be done and asking"),
        ("install --set profile=demo -y", "Another profile, without asking"),
        ("install -f mesh.yaml --dry-run", "Only what would be done"),
        ("install --revision canary -y", "A second control plane beside the first"),
        (
            "install -d istio-1.31.0/manifests --adopt",
            "Istio's own charts, over what istioctl or Helm installed",
        ),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self(typed))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        run::install(self.0, "install", output)
    }
}

pub(crate) struct Upgrade(Typed);

impl Verb for Upgrade {
    const NAME: &'static str = "upgrade";
    const ABOUT: &'static str = "Upgrade a mesh in place; the same as install";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("upgrade -f mesh.yaml", "To this version, after showing what will change and asking"),
        ("upgrade --dry-run", "Only what would change"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self(typed))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        run::install(self.0, "upgrade", output)
    }
}

pub(crate) struct Diff(DiffTyped);

impl Verb for Diff {
    const NAME: &'static str = "diff";
    const ABOUT: &'static str =
        "Compare a mesh as it should be with the cluster; ends with 1 if anything differs";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("diff -f mesh.yaml", "What `install -f mesh.yaml` would do"),
        ("diff --set profile=demo -o json", "For a script"),
    ];
    type Typed = DiffTyped;

    fn meant(typed: DiffTyped, _: Program) -> Result<Self> {
        Ok(Self(typed))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        run::diff(self.0, output)
    }
}
