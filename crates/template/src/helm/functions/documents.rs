//! YAML and JSON documents out of values and back. What cannot be read is told in the value: a map with the key
//! `Error`, or a list with the message.

use mizzen_text::{
    Source,
    yaml::{self, Options},
};

use crate::{
    Call, Elements, Failure, Host, List, Map, Value,
    sprig::{
        TableEntry, budget,
        json::{self, write::Style},
    },
};

pub(super) const TABLE: &[TableEntry] = &[
    ("toYaml", |call| {
        call.exactly(1)?;
        json::quiet(to_yaml(call), "".into())
    }),
    ("mustToYaml", |call| {
        call.exactly(1)?;
        to_yaml(call)
    }),
    ("fromYaml", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        if let Some(value) = call.host.memory().again(&text) {
            return Ok(value);
        }
        let read = read_yaml(&text, call.host);
        // A document without a value leaves the map that it is read into empty; JSON's `null` makes it nil.
        let value = map_or_error(
            read.map(|value| if matches!(value, Value::Nil) { Map::new().into() } else { value }),
        )?;
        call.host.memory().has_read(&text, &value);
        Ok(value)
    }),
    ("fromYamlArray", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        let read = read_yaml(&text, call.host);
        list_or_error(
            read.map(|value| if matches!(value, Value::Nil) { List::new(Vec::new()).into() } else { value }),
        )
    }),
    ("toJson", |call| json::quietly(call, Style::COMPACT)),
    ("mustToJson", |call| json::aloud(call, Style::COMPACT)),
    ("fromJson", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        map_or_error(json::read::read(&text, call.host))
    }),
    ("fromJsonArray", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        list_or_error(json::read::read(&text, call.host))
    }),
];

fn to_yaml(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut page = std::mem::take(&mut call.host.memory().page);
    page.clear();
    let printed = print_yaml(&mut page, &call.any(0), call.host);
    page.pop();
    let memory = call.host.memory();
    memory.has_printed(&page);
    let text = Value::text(page.as_str());
    memory.page = page;
    printed.map(|()| text)
}

/// With the line's end behind it.
pub(crate) fn yaml_text(value: &Value, host: &mut dyn Host) -> Result<String, Failure> {
    let mut text = String::new();
    print_yaml(&mut text, value, host)?;
    Ok(text)
}

fn print_yaml(text: &mut String, value: &Value, host: &mut dyn Host) -> Result<(), Failure> {
    let depth = host.depth();
    let data =
        if budget::pay_for_document(value, host)? { Some(json::write::data(value, depth)?) } else { None };
    let value = data.as_ref().unwrap_or(value);
    yaml::print(text, value, depth)
        .map_err(|yaml::TooDeep| Failure::limit("the value is nested too deeply, or within itself"))
}

/// The first document; nothing where there is none.
pub(crate) fn read_yaml(text: &str, host: &mut dyn Host) -> Result<Value, Failure> {
    host.spend(text.len().saturating_mul(4))?;
    let source = Source::new("", text);
    let options = Options { max_depth: host.depth(), ..Options::KUBERNETES };
    match yaml::load_first(&source, &options) {
        Ok(value) => Ok(value.unwrap_or_default()),
        Err(diagnostic) => Err(Failure::new(format!("yaml: {}", diagnostic.message))),
    }
}

/// What Helm makes of a document that should be a map.
pub(super) fn map_or_error(read: Result<Value, Failure>) -> Result<Value, Failure> {
    let error = |message: String| Map::from_iter([("Error", Value::from(message))]).into();
    match read {
        Ok(Value::Nil) => Ok(Map::nil(Elements::Any).into()),
        Ok(map @ Value::Map(_)) => Ok(map),
        Ok(other) => Ok(error(mismatch(&other, "map[string]interface {}"))),
        Err(failure) if failure.limit => Err(failure),
        Err(failure) => Ok(error(failure.message)),
    }
}

fn list_or_error(read: Result<Value, Failure>) -> Result<Value, Failure> {
    let error = |message: String| List::new(vec![message.into()]).into();
    match read {
        Ok(Value::Nil) => Ok(List::nil(Elements::Any).into()),
        Ok(list @ Value::List(_)) => Ok(list),
        Ok(other) => Ok(error(mismatch(&other, "[]interface {}"))),
        Err(failure) if failure.limit => Err(failure),
        Err(failure) => Ok(error(failure.message)),
    }
}

fn mismatch(value: &Value, wanted: &str) -> String {
    let kind = match value {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Int64(_) | Value::Float(_) => "number",
        Value::Text(_) => "string",
        Value::List(_) => "array",
        Value::Nil | Value::Map(_) | Value::Object(_) => "object",
    };
    format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type {wanted}"
    )
}
