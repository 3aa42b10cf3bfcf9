//! The only crate that speaks to Kubernetes, and its first piece: a client, and reflectors that keep nothing of an object
//! but what their caller has use for.
//!
//! In: which resource ([`Resource`]) and a type to read it into ([`Trimmed`]). Out: [`Change`]s, in order, on a bounded
//! channel: nothing lost, nothing twice, whatever happens to the connection. It knows no mesh.

mod adoption;
mod apply;
mod backoff;
mod body;
mod change;
mod client;
mod cluster;
mod difference;
mod evict;
mod failure;
mod follow;
mod inventory;
mod items;
mod lease;
mod lines;
mod list;
mod object;
pub mod order;
mod owners;
mod plan;
mod prune;
mod reclaim;
mod resource;
mod rights;
mod same;
mod served;
mod state;
mod text_change;
mod told;
pub mod wait;
mod watch;

pub use adoption::Adoption;
pub use apply::{Failed, Outcome};
pub use backoff::jitter;
pub use change::{Change, Identity, Key, Trimmed};
pub use client::{Access, NoClient, connect};
pub use cluster::{Cluster, Deletion, Mode, Refused};
pub use difference::{FieldChange, difference, short};
pub use evict::Eviction;
pub use follow::follow;
pub use inventory::{Claim, Inventory, LABEL as INVENTORY, NoInventory, Owner};
pub use k8s_openapi::jiff::{SignedDuration, Timestamp};
pub use kube::Client;
pub use lease::{Lease, Onlooker, Term, now};
pub use object::{Desired, NoObject, ObjectId};
pub use owners::{Left, Manager, Owners};
pub use plan::{Action, Going, NotPlanned, Planned, Step};
pub use prune::Pruned;
pub use reclaim::Reclaim;
pub use resource::Resource;
pub use rights::Rights;
pub use served::{Kind, Served};
pub use state::{Phase, State};
