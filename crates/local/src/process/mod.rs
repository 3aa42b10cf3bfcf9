//! Processes that belong to a mesh: started, watched, started again when they end, and ended with it, whatever happens to us.
//!
//! Three nets, because `kill -9` leaves nobody time to tidy up. A child asks the kernel to be ended with its parent
//! ([`become_child`]); a keeper ([`keep`]) waits for our end and then ends everything that carries the mesh's mark, grandchildren
//! included; and the next `up` does the same before it starts ([`end_marked`]).

mod keeper;
mod log;
mod marked;
mod supervise;

pub(crate) use keeper::guard;
pub use keeper::{become_child, keep};
pub(crate) use log::Log;
pub use marked::end_marked;
pub(crate) use supervise::{Status, Supervised, supervise};

use std::{collections::BTreeMap, path::PathBuf};

/// What to start.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) place: Place,
}

/// What a child has for itself.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The file of a network namespace.
    pub network: Option<PathBuf>,
    /// A folder whose files take the places of those in `/etc`.
    pub etc: Option<PathBuf>,
    pub group: Option<u32>,
}
