//! Pieces that several kinds have in common.

pub(crate) mod export_to;
pub(crate) mod selector;
pub(crate) mod wasm;
