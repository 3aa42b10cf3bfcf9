//! The operator: `install`, run in a loop inside the cluster.
//!
//! ```text
//! IstioOperator changed ─┐
//! owned object changed  ─┼─▶ Queue ─▶ pass: observe ─▶ decide ─▶ bring or remove (through `install::deploy`) ─▶ status
//! five minutes later    ─┘              (one at a time; cut off when its resource changes, and run again)
//! ```
//!
//! In: IstioOperator resources. Out: the mesh of each, kept as it should be, and what became of it in `status`. Whatever cuts a pass
//! off, the next one goes on from what the cluster has: nothing is remembered here.

mod bring;
mod bucket;
mod carried;
mod decide;
mod definition;
mod finalizers;
mod follow;
pub mod istio;
mod objects;
mod pages;
mod pass;
mod process;
mod proxies;
mod queue;
mod remove;
mod rights;
mod status;
mod work;
mod written;

pub use decide::{FINALIZER, GROUP, KIND, VERSION};
pub use definition::definition;
pub use objects::{Deployed, objects};
pub use process::{Failed, IstioOperators, Istios, Options, run};
pub use queue::Pace;
pub use rights::granted;

/// The lock of one operator; of a revision's.
pub fn lock(revision: &str) -> String {
    named("istio-operator-lock", revision)
}

/// A name, with the revision behind it if there is one.
pub fn named(name: &str, revision: &str) -> String {
    match revision {
        "" => name.to_owned(),
        revision => format!("{name}-{revision}"),
    }
}
