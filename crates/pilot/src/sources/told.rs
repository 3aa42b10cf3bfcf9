//! What sources tell the builder.

use mizzen_mesh::{Event, Settings};

/// One of the sources, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Source(pub(crate) usize);

#[derive(Debug)]
pub(crate) enum Told {
    Event(Event),
    /// The mesh's configuration, which also says that this source is in step.
    Settings(Source, Box<Settings>),
    /// The source has something that cannot be used; it has been logged.
    Refused(Source),
    /// Everything that was there has been told.
    Synced(Source),
}
