//! `toYamlPretty`: YAML with lists indented under their key and no line folded, as go-yaml's third version prints it. It
//! gets the values themselves and not their JSON, so that a float of a million is `1e+06`.

use mizzen_text::yaml;

use crate::{
    Failure, Host, Value,
    sprig::{TableEntry, budget, json, print::float_text},
};

pub(super) const TABLE: &[TableEntry] = &[("toYamlPretty", |call| {
    call.exactly(1)?;
    json::quiet(print(&call.any(0), call.host), "".into())
})];

fn print(value: &Value, host: &mut dyn Host) -> Result<Value, Failure> {
    budget::pay_for(value, host)?;
    let mut out = String::new();
    push(&mut out, value, 0, false, host.depth())?;
    out.pop();
    Ok(out.into())
}

/// At `column`; the first line has got there already where `inline` says so.
fn push(out: &mut String, value: &Value, column: usize, inline: bool, depth: usize) -> Result<(), Failure> {
    let below = budget::below(depth)?;
    let margin = |out: &mut String, index: usize| {
        if index > 0 || !inline {
            out.extend(std::iter::repeat_n(' ', column));
        }
    };
    match value {
        Value::Map(map) if !map.is_empty() => {
            let entries = map.entries();
            let mut entries: Vec<_> = entries.iter().map(|(key, value)| (key.as_ref(), value)).collect();
            yaml::sort_keys(&mut entries);
            for (index, (key, value)) in entries.into_iter().enumerate() {
                margin(out, index);
                yaml::print_key(out, key);
                out.push(':');
                let nested = match value {
                    Value::Map(map) => !map.is_empty(),
                    Value::List(list) => !list.is_empty(),
                    _ => false,
                };
                out.push(if nested { '\n' } else { ' ' });
                push(out, value, column + 2, !nested, below)?;
            }
        }
        Value::List(list) if !list.is_empty() => {
            for (index, item) in list.iter().enumerate() {
                margin(out, index);
                out.push_str("- ");
                push(out, item, column + 2, true, below)?;
            }
        }
        Value::Text(text) => yaml::print_string(out, text, column.max(2)),
        Value::Object(object) => push(out, &object.plain(), column, inline, below)?,
        other => {
            out.push_str(&scalar(other));
            out.push('\n');
        }
    }
    Ok(())
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Bool(bool) => bool.to_string(),
        Value::Int(int) | Value::Int64(int) => int.to_string(),
        Value::Float(float) if float.is_nan() => ".nan".into(),
        Value::Float(float) if float.is_infinite() => if *float > 0.0 { ".inf" } else { "-.inf" }.into(),
        Value::Float(float) => float_text(*float),
        Value::List(_) => "[]".into(),
        Value::Map(_) => "{}".into(),
        Value::Nil | Value::Text(_) | Value::Object(_) => "null".into(),
    }
}
