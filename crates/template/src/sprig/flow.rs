//! Giving up.

use super::TableEntry;
use crate::Failure;

pub(super) const TABLE: &[TableEntry] = &[("fail", |call| {
    call.exactly(1)?;
    Err(Failure::new(&*call.text(0)?))
})];
