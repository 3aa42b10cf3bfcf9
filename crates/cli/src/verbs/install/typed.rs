//! How the verbs are typed: istioctl's options, and `--adopt`.

use crate::args::{connection, duration, format::TextOrJson, mesh};
use clap::Args;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct Typed {
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Do not ask
    #[arg(short = 'y', long = "skip-confirmation", alias = "yes")]
    pub(super) yes: bool,

    /// Go on where something speaks against it: what is wrong is a warning then
    #[arg(long)]
    pub(super) force: bool,

    /// For each component to become ready
    #[arg(long, value_name = "DURATION", default_value = "5m0s", value_parser = duration::read)]
    pub(super) readiness_timeout: Duration,

    // istioctl's: accepted there, too, without an effect.
    #[arg(long, hide = true)]
    pub(super) verify: bool,

    #[command(flatten)]
    pub(super) shown: Shown,

    #[command(flatten)]
    pub(super) connection: connection::Typed,

    #[command(flatten)]
    pub(super) mesh: mesh::Typed,
}

#[derive(Args)]
pub(crate) struct DiffTyped {
    /// Go on where the IstioOperator is not valid: what is wrong is a warning then
    #[arg(long)]
    pub(super) force: bool,

    #[command(flatten)]
    pub(super) shown: Shown,

    #[command(flatten)]
    pub(super) connection: connection::Typed,

    #[command(flatten)]
    pub(super) mesh: mesh::Typed,
}

#[derive(Args)]
#[group(skip)]
pub(crate) struct Shown {
    /// Take over objects that another installer has made: istioctl and Helm, or the field managers that are named
    #[arg(long, value_name = "MANAGERS", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    #[arg(default_missing_value = "istio-operator,istioctl,helm")]
    pub(super) adopt: Vec<String>,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(super) output: TextOrJson,
}
