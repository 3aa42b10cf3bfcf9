//! What Helm adds to Sprig, and the names of Sprig that it changes.

pub(crate) mod documents;
mod flow;
mod pretty;
mod toml;

use crate::{
    Functions,
    sprig::{self, TableEntry, count, join},
};

const PARTS: &[&[TableEntry]] = &[documents::TABLE, flow::TABLE, pretty::TABLE, toml::TABLE];

/// To be put over Sprig's.
pub const TABLE: &[TableEntry] = &join::<{ count(PARTS) }>(PARTS);

/// All that a chart's templates may call, the builtins of Go aside.
pub fn functions() -> Functions {
    Functions::default().with(sprig::TABLE).with(TABLE)
}
