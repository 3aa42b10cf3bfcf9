//! Limits of a value as lines of a `check`, in kcl-openapi's order and words.

use super::value::{number, raw};
use crate::schema::{Additional, Kind, Limits, Schema};

/// The lines about a value, and about those in it if it is a list or a map.
pub(super) fn lines(schema: &Schema, name: &str, required: bool, exact: bool) -> Vec<String> {
    let mut lines = own(schema, name, required, exact);
    lines.extend(within(schema, name, exact));
    for part in &schema.all_of {
        lines.extend(own(part, name, required, exact));
    }
    lines
}

/// Whether kcl-openapi looks at an attribute at all when it writes checks.
pub(super) fn looked_at(schema: &Schema) -> bool {
    schema.limits.any()
        || schema.items.is_some()
        || !matches!(schema.additional, Additional::None)
        || !schema.all_of.is_empty()
}

/// Whether there is a check because of the value.
pub(super) fn any(schema: &Schema) -> bool {
    schema.limits.any()
        || schema.all_of.iter().any(|part| part.limits.any())
        || schema.items.as_ref().is_some_and(|items| items.limits.any() || within_any(items))
        || matches!(&schema.additional, Additional::Like(value) if value.limits.any() || within_any(value))
}

fn within_any(schema: &Schema) -> bool {
    schema.items.as_ref().is_some_and(|items| items.limits.any())
        || matches!(&schema.additional, Additional::Like(value) if value.limits.any())
}

fn own(schema: &Schema, name: &str, required: bool, exact: bool) -> Vec<String> {
    let limits = effective(schema);
    let there = if required { String::new() } else { format!(" if {name} not in [None, Undefined]") };
    let filled = if required { String::new() } else { format!(" if {name}") };
    let mut lines = Vec::new();
    if let Some(most) = limits.maximum {
        let than = if limits.below { "<" } else { "<=" };
        lines.push(format!("{name} {than} {}{there}", number(most, exact)));
    }
    if let Some(least) = limits.minimum {
        let than = if limits.above { ">" } else { ">=" };
        lines.push(format!("{name} {than} {}{there}", number(least, exact)));
    }
    if let Some(most) = limits.max_length {
        lines.push(format!("len({name}) <= {most}{there}"));
    }
    if let Some(least) = limits.min_length {
        lines.push(format!("len({name}) >= {least}{there}"));
    }
    if let Some(pattern) = &limits.pattern {
        lines.push(format!("_regex_match(str({name}), {}){filled}", raw(pattern, exact)));
    }
    if limits.unique {
        lines.push(format!("isunique({name}){filled}"));
    }
    if let Some(least) = limits.min_items {
        lines.push(format!("len({name}) >= {least}{filled}"));
    }
    if let Some(most) = limits.max_items {
        lines.push(format!("len({name}) <= {most}{filled}"));
    }
    if let Some(of) = limits.multiple_of {
        lines.push(format!("multiplyof(int({name}), int({})){filled}", number(of, exact)));
    }
    if !exact {
        if let Some(least) = limits.min_properties {
            lines.push(format!("len({name}) >= {least}{there}"));
        }
        if let Some(most) = limits.max_properties {
            lines.push(format!("len({name}) <= {most}{there}"));
        }
    }
    lines
}

/// Lists and maps: for each of their values.
fn within(schema: &Schema, name: &str, exact: bool) -> Vec<String> {
    inner(schema, name, 1, 1, exact).into_iter().map(|(line, ends)| line + &ends).collect()
}

/// The line with its open braces, and what closes them, outermost last.
fn inner(schema: &Schema, name: &str, lists: usize, maps: usize, exact: bool) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut add = |each: String, variable: &str, value: &Schema, guarded: bool, lists: usize, maps: usize| {
        let end = if guarded { format!(" }} if {name}") } else { " }".to_owned() };
        let mut found: Vec<(String, String)> =
            own(value, variable, false, exact).into_iter().map(|line| (line, String::new())).collect();
        found.extend(inner(value, variable, lists, maps, exact));
        lines.extend(
            found.into_iter().map(|(line, inner)| (format!("{each}{line}"), format!("{inner}{end}"))),
        );
    };
    if let Some(items) = &schema.items {
        let variable = "i".repeat(lists);
        add(format!("all {variable} in {name} {{ "), &variable, items, true, lists + 1, maps);
    }
    if let Additional::Like(value) = &schema.additional {
        let variable = "k".repeat(maps);
        let guarded = !is_list_of_blocks(value);
        add(format!("all _, {variable} in {name} {{ "), &variable, value, guarded, lists, maps + 1);
    }
    lines
}

fn is_list_of_blocks(schema: &Schema) -> bool {
    schema.kind == Kind::Array && schema.items.as_ref().is_some_and(|items| items.is_block())
}

/// Formats that have a type of their own in go-swagger, which are not limited as texts.
fn effective(schema: &Schema) -> Limits {
    let mut limits = schema.limits.clone();
    if ["date", "datetime", "uuid", "bsonobjectid", "base64", "duration"].contains(&schema.format.as_str()) {
        limits.min_length = None;
        limits.max_length = None;
        limits.pattern = None;
    }
    limits
}

/// Whether any check in there asks for a pattern.
pub(super) fn has_pattern(schema: &Schema) -> bool {
    effective(schema).pattern.is_some()
        || schema.fields.iter().any(|field| has_pattern(&field.schema))
        || schema.items.as_ref().is_some_and(|items| has_pattern(items))
        || matches!(&schema.additional, Additional::Like(value) if has_pattern(value))
        || schema.all_of.iter().any(has_pattern)
}
