//! Paths with slashes. No file is looked at; the functions for the system's own paths are the same, on every system.

use super::TableEntry;
use crate::{Call, Failure, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("base", |call| of(call, base)),
    ("osBase", |call| of(call, base)),
    ("dir", |call| of(call, dir)),
    ("osDir", |call| of(call, dir)),
    ("clean", |call| of(call, clean)),
    ("osClean", |call| of(call, clean)),
    ("ext", |call| of(call, ext)),
    ("osExt", |call| of(call, ext)),
    ("isAbs", is_absolute),
    ("osIsAbs", is_absolute),
];

fn of(call: &mut Call<'_>, part: fn(&str) -> String) -> Result<Value, Failure> {
    call.exactly(1)?;
    let path = call.text(0)?;
    call.host.spend(path.len())?;
    Ok(part(&path).into())
}

fn is_absolute(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(call.text(0)?.starts_with('/').into())
}

fn base(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => ".".into(),
        (false, true) => "/".into(),
        (false, false) => trimmed.rsplit('/').next().unwrap_or_default().into(),
    }
}

fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| &path[..=at]))
}

fn ext(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rfind('.').map_or("", |at| &name[at..]).into()
}

/// Without what leads nowhere: double slashes, `.`, and `..` behind a name.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            ("..", _) if rooted => {}
            (part, _) => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    }
}
