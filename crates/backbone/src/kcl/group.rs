//! `oneOf`, `anyOf`, `allOf` and `not` of a block as lines of a `check`: they are about which fields are given.

use super::{
    rule::there,
    value::{escaped, identifier},
};
use crate::schema::{Additional, Kind, Schema};

pub(super) fn lines(schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    for part in &schema.all_of {
        lines.extend(self::lines(part));
        if !part.required.is_empty() {
            lines.extend(says(&Schema { required: part.required.clone(), ..Schema::default() }));
        }
    }
    if !schema.one_of.is_empty() {
        lines.push(match at_most_one(&schema.one_of) {
            Some(names) => {
                let told = format!("at most one of {} may be given", names.join(", "));
                format!("{} <= 1, {}", count(names.iter().filter_map(|name| given(name))), escaped(&told))
            }
            None => line(&Schema { one_of: schema.one_of.clone(), ..Schema::default() }, "oneOf"),
        });
    }
    if !schema.any_of.is_empty() && !says_types(&schema.any_of) {
        lines.push(line(&Schema { any_of: schema.any_of.clone(), ..Schema::default() }, "anyOf"));
    }
    if let Some(not) = &schema.not {
        lines.push(line(&Schema { not: Some(not.clone()), ..Schema::default() }, "not"));
    }
    lines
}

fn line(schema: &Schema, word: &str) -> String {
    match says(schema) {
        Some(said) => said,
        None => format!("# KCL cannot say: {word}"),
    }
}

/// `anyOf` that only repeats what a number or text may be.
fn says_types(parts: &[Schema]) -> bool {
    parts
        .iter()
        .all(|part| *part == Schema { kind: part.kind, ..Schema::default() } && part.kind != Kind::Any)
}

/// The fields of a group as protobuf's `oneof` becomes one: none of them, or one of them.
fn at_most_one(parts: &[Schema]) -> Option<Vec<&str>> {
    let (none, each) = parts.split_first()?;
    let names = |parts: &'_ [Schema]| -> Option<Vec<String>> {
        parts
            .iter()
            .map(|part| match part.required.as_slice() {
                [name] if *part == (Schema { required: vec![name.clone()], ..Schema::default() }) => {
                    Some(name.clone())
                }
                _ => None,
            })
            .collect()
    };
    let not = none.not.as_deref()?;
    (names(&not.any_of)? == names(each)?).then(|| each.iter().map(|part| part.required[0].as_str()).collect())
}

/// The whole schema as one expression; nothing where a word of it cannot be said.
fn says(schema: &Schema) -> Option<String> {
    let plain = schema.limits == crate::Limits::default()
        && schema.items.is_none()
        && schema.additional == Additional::None
        && schema.values.is_empty();
    if !plain || schema.fields.iter().any(|field| field.schema != Schema::default()) {
        return None;
    }
    let all = |parts: &[Schema]| parts.iter().map(says).collect::<Option<Vec<_>>>();
    let mut said: Vec<String> = schema.required.iter().map(|name| given(name)).collect::<Option<Vec<_>>>()?;
    said.extend(all(&schema.all_of)?);
    if !schema.any_of.is_empty() {
        said.push(format!("({})", all(&schema.any_of)?.join(" or ")));
    }
    if !schema.one_of.is_empty() {
        said.push(format!("{} == 1", count(all(&schema.one_of)?)));
    }
    if let Some(not) = &schema.not {
        said.push(format!("not {}", says(not)?));
    }
    match said.len() {
        0 => Some("True".to_owned()),
        _ => Some(format!("({})", said.join(" and "))),
    }
}

/// How many of them hold.
fn count(said: impl IntoIterator<Item = String>) -> String {
    format!("len([_is for _is in [{}] if _is])", said.into_iter().collect::<Vec<_>>().join(", "))
}

fn given(name: &str) -> Option<String> {
    let name = identifier(name, false);
    (!name.starts_with('"')).then(|| there(&name))
}
