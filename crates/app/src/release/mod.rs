//! The cluster half: a Spec in, an application in a cluster out, and out again.
//!
//! ```text
//! Spec ─▶ wanted (objects and their edges) ─┐
//! ledger (what may be there) ───────────────┼─▶ plan ─▶ begin (lock, list of all that may be there) ─▶ objects along the edges
//! cluster (what is there) ──────────────────┘           ─▶ wait ─▶ what nobody wants goes, along the old edges ─▶ ledger
//! ```
//!
//! The ledger is a Secret in the application's namespace, one for each application and stack: who is at work, which releases there
//! were, and every object that may be there. It is written before the first object and after each, so whoever comes after a crash
//! goes on from it, and deletes exactly what it names.

mod destroy;
mod field;
mod graph;
mod ledger;
mod lock;
mod owner;
mod pack;
mod plan;
mod record;
mod rehearse;
mod run;
mod strangers;
mod surroundings;
mod walk;
mod wanted;

pub use destroy::{Removal, Removed, destroy, plan_destroy};
pub use field::field_of;
pub use ledger::{Ledger, Lock, Phase, Recorded, Release, What};
pub use lock::{Person, Presence, Waits, until_free};
pub use owner::Owner;
pub use plan::{Cause, Leaving, Plan, PlannedStep, plan};
pub use record::{Found, NoRelease, ledgers, orphans, read, spec_of};
pub use run::{Event, Progress, Report, Settings, Started, carry_out, start};
pub use surroundings::warnings;
pub use walk::Stop;
pub use wanted::{Wanted, wanted};
