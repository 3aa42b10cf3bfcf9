//! What a value is, by Go's names.

use super::{TableEntry, args::kind};

pub(super) const TABLE: &[TableEntry] = &[
    ("typeOf", |call| {
        call.exactly(1)?;
        Ok(call.any(0).type_name().into())
    }),
    ("typeIs", |call| {
        call.exactly(2)?;
        Ok((call.any(1).type_name() == *call.text(0)?).into())
    }),
    ("typeIsLike", |call| {
        call.exactly(2)?;
        let (target, name) = (call.text(0)?, call.any(1).type_name());
        Ok((name == *target || name.strip_prefix('*') == Some(&*target)).into())
    }),
    ("kindOf", |call| {
        call.exactly(1)?;
        Ok(kind(&call.any(0)).into())
    }),
    ("kindIs", |call| {
        call.exactly(2)?;
        Ok((kind(&call.any(1)) == &*call.text(0)?).into())
    }),
];
