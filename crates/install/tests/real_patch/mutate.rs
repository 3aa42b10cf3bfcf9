//! Random patches that have something to do with the object they are for.

use serde_json::{Map, Value, json};

use super::random::Random;

pub(crate) fn patch(object: &Value, random: &mut Random) -> Value {
    let Value::Object(fields) = object else { return json!({}) };
    let mut patch = Map::new();
    for (name, value) in fields {
        if matches!(name.as_str(), "spec" | "metadata") || random.one_in(8) {
            patch.insert(name.clone(), changed(value, random));
        }
    }
    Value::Object(patch)
}

fn changed(value: &Value, random: &mut Random) -> Value {
    if random.one_in(25) {
        return Value::Null;
    }
    if random.one_in(60) {
        return fresh(random);
    }
    match value {
        Value::Object(fields) => map(fields, random),
        Value::Array(items) => list(items, random),
        _ if random.one_in(3) => fresh(random),
        other => other.clone(),
    }
}

/// A map with some of the fields changed and new ones, and sometimes a directive.
fn map(fields: &Map<String, Value>, random: &mut Random) -> Value {
    let mut patch = Map::new();
    for (name, value) in fields {
        if random.one_in(3) {
            let value = changed(value, random);
            add_directives(name, &fields[name], &value, &mut patch, random);
            patch.insert(name.clone(), value);
        }
    }
    if random.one_in(6) {
        let name =
            *random.choose(&["labels", "name", "args", "affinity", "Containers", "volumes", "new", "a/b"]);
        patch.insert(name.to_owned(), fresh(random));
    }
    if random.one_in(25) {
        patch.insert("$patch".to_owned(), json!(random.choose(&["replace", "delete", "merge", "other"])));
    }
    if random.one_in(20) {
        let mut kept: Vec<&String> = fields.keys().filter(|_| random.one_in(2)).collect();
        if !random.one_in(4) {
            kept.extend(patch.keys().filter(|name| !name.starts_with('$')));
        }
        let kept = json!(kept);
        patch.insert("$retainKeys".to_owned(), kept);
    }
    Value::Object(patch)
}

/// `$setElementOrder` and `$deleteFromPrimitiveList` beside a list, but never both kinds of change to a list of texts: Go
/// applies them in no particular order.
fn add_directives(
    name: &str,
    before: &Value,
    change: &Value,
    patch: &mut Map<String, Value>,
    random: &mut Random,
) {
    let Value::Array(items) = before else { return };
    if random.one_in(6) {
        let mut order: Vec<Value> =
            items.iter().chain(change.as_array().into_iter().flatten()).map(reduced).collect();
        if random.one_in(3) {
            random.shuffle(&mut order);
        }
        if random.one_in(3) {
            order.dedup();
        }
        if random.one_in(5) {
            order.pop();
        }
        patch.insert(format!("$setElementOrder/{name}"), json!(order));
    }
}

/// An item's key alone.
fn reduced(item: &Value) -> Value {
    for key in ["name", "mountPath", "containerPort", "port", "uid", "type", "topologyKey"] {
        if let Some(value) = item.get(key) {
            return json!({ key: value });
        }
    }
    item.clone()
}

fn list(items: &[Value], random: &mut Random) -> Value {
    let mut patch: Vec<Value> = Vec::new();
    for item in items {
        match random.below(6) {
            0 | 1 => patch.push(item.clone()),
            2 => patch.push(with_key(item, changed(item, random))),
            3 if random.one_in(2) && item.is_object() => {
                let mut gone = reduced(item);
                gone["$patch"] = json!(random.choose(&["delete", "delete", "delete", "replace", "merge"]));
                patch.push(gone);
            }
            _ => {}
        }
    }
    for number in 0..random.below(3) {
        let name = format!("new-{number}");
        patch.push(match items.first() {
            Some(Value::Object(fields)) => {
                let mut item = Map::new();
                for key in ["name", "mountPath"] {
                    if fields.contains_key(key) {
                        item.insert(key.to_owned(), json!(name));
                    }
                }
                for key in ["containerPort", "port"] {
                    if fields.contains_key(key) {
                        item.insert(key.to_owned(), json!(7_000 + number));
                    }
                }
                if random.one_in(3) {
                    item.insert("value".to_owned(), fresh(random));
                }
                Value::Object(item)
            }
            Some(Value::String(_)) | None => json!(name),
            Some(_) => fresh(random),
        });
    }
    if random.one_in(3) {
        random.shuffle(&mut patch);
    }
    if random.one_in(40) {
        patch.push(fresh(random));
    }
    Value::Array(patch)
}

/// The change of an item, which mostly keeps the key.
fn with_key(item: &Value, change: Value) -> Value {
    match (reduced(item), change) {
        (Value::Object(key), Value::Object(mut change)) => {
            change.extend(key);
            Value::Object(change)
        }
        (_, change) => change,
    }
}

pub(crate) fn fresh(random: &mut Random) -> Value {
    match random.below(9) {
        0 => json!(random.below(100_000)),
        1 => json!(true),
        2 => json!(random.below(1_000) as f64 / 8.0 + 0.01),
        3 => json!({ "a": 1, "b": null, "c": { "$patch": "delete" } }),
        4 => json!([]),
        5 => json!(["x", "y"]),
        6 => json!({}),
        7 => json!([{ "name": "x" }, { "name": "y", "value": null }]),
        _ => json!(format!("text-{}", random.below(5))),
    }
}
