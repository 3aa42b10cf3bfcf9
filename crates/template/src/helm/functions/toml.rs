//! TOML.

use crate::sprig::TableEntry;

pub(super) const TABLE: &[TableEntry] = &[];
