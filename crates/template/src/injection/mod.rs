//! The functions of Istio's injection templates: Sprig, and over it a table of their own that changes some of its names
//! (`contains`, `indent`, `omit`, `toYaml`).
//!
//! Where the original wants a Go type, a value of that shape will do: a map with the type's fields by their Go or JSON
//! names, or an object that has them. Labels and annotations have to be `map[string]string`.

mod network;
mod nothing;
mod pods;
mod proxy;
mod texts;

use crate::{
    Functions,
    sprig::{self, TableEntry, count, join},
};

const PARTS: &[&[TableEntry]] = &[network::TABLE, nothing::TABLE, pods::TABLE, proxy::TABLE, texts::TABLE];

/// To be put over Sprig's.
pub const TABLE: &[TableEntry] = &join::<{ count(PARTS) }>(PARTS);

/// All that an injection template may call, the builtins of Go aside.
pub fn functions() -> Functions {
    Functions::default().with(sprig::TABLE).with(TABLE)
}
