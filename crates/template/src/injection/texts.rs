//! Strings, maps of strings, JSON and YAML.

use crate::{
    Call, Elements, Failure, Map, Value,
    helm::functions::documents::yaml_text,
    sprig::{
        TableEntry,
        args::Arguments,
        json::{self, read::read, write::Style, write::write},
        letters,
    },
};

pub(super) const TABLE: &[TableEntry] = &[
    ("isset", |call| {
        call.exactly(2)?;
        Ok(call.string_map(0)?.contains_key(&call.text(1)?).into())
    }),
    ("valueOrDefault", |call| {
        call.exactly(2)?;
        let value = call.any(0);
        let missing = match &value {
            Value::Nil => true,
            Value::Text(text) => text.is_empty(),
            _ => false,
        };
        Ok(if missing { call.any(1) } else { value })
    }),
    ("toJSON", |call| {
        call.exactly(1)?;
        let map = call.string_map(0)?;
        if map.is_nil() { Ok("{}".into()) } else { Ok(write(&map.into(), Style::COMPACT, call.host)?.into()) }
    }),
    ("fromJSON", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        json::quiet(read(&text, call.host), "{}".into())
    }),
    ("structToJSON", |call| {
        call.exactly(1)?;
        match call.any(0) {
            Value::Nil => Ok("{}".into()),
            value => json::quiet(write(&value, Style::COMPACT, call.host).map(Value::from), "{}".into()),
        }
    }),
    // With the end of the last line.
    ("toYaml", |call| {
        call.exactly(1)?;
        json::quiet(yaml_text(&call.any(0), call.host).map(Value::from), "".into())
    }),
    ("indent", indent),
    ("directory", |call| {
        call.exactly(1)?;
        let path = call.text(0)?;
        Ok(path.rfind('/').map_or("", |at| &path[..=at]).into())
    }),
    ("contains", |call| {
        call.exactly(2)?;
        Ok(call.text(1)?.contains(&*call.text(0)?).into())
    }),
    ("toLower", |call| {
        call.exactly(1)?;
        Ok(call.text(0)?.chars().map(letters::lower).collect::<String>().into())
    }),
    // No process has an environment that the objects may depend on: the default it is.
    ("env", |call| {
        call.exactly(2)?;
        call.text(0)?;
        Ok(Value::Text(call.text(1)?))
    }),
    ("expandenv", |call| {
        call.exactly(1)?;
        Err(Failure::new(
            "`expandenv` is not supported: rendering must be repeatable, and it reads the environment",
        ))
    }),
    ("omit", |call| {
        call.at_least(1)?;
        let (map, keys) = (call.string_map(0)?, call.texts_from(1)?);
        let kept = Map::texts();
        for (key, value) in map.entries().into_iter().filter(|(key, _)| !keys.contains(key)) {
            kept.insert(key, value);
        }
        Ok(kept.into())
    }),
    ("strdict", |call| {
        let texts = call.texts_from(0)?;
        let map = Map::texts();
        for pair in texts.chunks(2) {
            map.insert(
                pair[0].as_ref(),
                pair.get(1).map_or_else(|| "".into(), |text| Value::Text(text.clone())),
            );
        }
        Ok(map.into())
    }),
    ("mergeMaps", |call| Ok(merged(call)?.into())),
    ("toJsonMap", |call| {
        let map = merged(call)?;
        Ok(write(&map.into(), Style::COMPACT, call.host)?.into())
    }),
];

/// All lines but the first.
fn indent(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (width, text) = (call.int(0)?, call.text(1)?);
    let width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
    let lines = text.matches('\n').count();
    call.host.spend(text.len().saturating_add(lines.saturating_mul(width)))?;
    Ok(if lines == 0 {
        Value::Text(text)
    } else {
        text.replace('\n', &format!("\n{}", " ".repeat(width))).into()
    })
}

fn merged(call: &mut Call<'_>) -> Result<Map, Failure> {
    if call.args.is_empty() {
        return Ok(Map::nil(Elements::Text));
    }
    let all = Map::texts();
    for index in 0..call.args.len() {
        let map = call.string_map(index)?;
        call.host.spend(32 * map.len())?;
        for (key, value) in map.entries() {
            all.insert(key, value);
        }
    }
    Ok(all)
}
