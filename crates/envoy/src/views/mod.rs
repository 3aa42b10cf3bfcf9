//! What proxies see, shared by those that see the same.
//!
//! In: snapshots, one after the other, and clients that ask. Out: [`Generation`]s, which answer with resource sets. A view is
//! kept with the answers that its proxy gave while it was built (another proxy that gives the same shares
//! it) and with the parts of the snapshot that were looked at (it goes on into the next generation while those are the
//! same).

mod build;
mod generation;
mod view;

pub use generation::{Client, Factory, Generation};
