//! Named templates, texts as templates, and values that have to be there.

use crate::{Failure, Map, Value, sprig::TableEntry};

pub(super) const TABLE: &[TableEntry] = &[
    ("include", |call| {
        call.exactly(2)?;
        let name = call.text(0)?;
        Ok(call.host.include(&name, &call.args[1])?.into())
    }),
    ("tpl", |call| {
        call.exactly(2)?;
        let text = call.text(0)?;
        Ok(call.host.tpl(&text, &call.args[1])?.into())
    }),
    ("required", |call| {
        call.exactly(2)?;
        let (message, value) = (call.text(0)?, call.any(1));
        match &value {
            Value::Nil => Err(Failure::new(&*message)),
            Value::Text(text) if text.is_empty() => Err(Failure::new(&*message)),
            _ => Ok(value),
        }
    }),
    ("fail", |call| {
        call.exactly(1)?;
        Err(Failure::new(&*call.text(0)?))
    }),
    // There is no cluster to ask, as for `helm template`.
    ("lookup", |call| {
        call.exactly(4)?;
        (0..4).try_for_each(|index| call.text(index).map(drop))?;
        Ok(Map::new().into())
    }),
    // Helm asks nobody, either, unless it is told to.
    ("getHostByName", |call| {
        call.exactly(1)?;
        call.text(0)?;
        Ok("".into())
    }),
];
