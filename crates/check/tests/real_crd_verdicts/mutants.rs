//! Good documents, each with one value of its spec replaced by something else.

use serde_json::{Value, json};

use crate::documents::Named;

pub(crate) fn of(documents: &[Named]) -> Vec<Named> {
    let odd = [
        json!(null),
        json!(""),
        json!("x"),
        json!("*"),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(80.0),
        json!(1e10),
        json!(70_000),
        json!(true),
        json!([]),
        json!({}),
        json!([null]),
        json!({ "": null }),
        json!("1s"),
        json!("a".repeat(300)),
        json!({ "a": "b" }),
        json!(["a", "a"]),
    ];
    let mut mutants = Vec::new();
    for document in documents {
        let mut places = Vec::new();
        collect(&document.object["spec"], "/spec".to_owned(), &mut places);
        for place in places {
            for value in &odd {
                let mut object = document.object.clone();
                *object.pointer_mut(&place).unwrap() = value.clone();
                mutants.push(Named {
                    name: format!("{} {place} = {value:.40}", document.name),
                    object,
                    expected: None,
                });
            }
        }
    }
    mutants
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(value, format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                collect(value, format!("{place}/{index}"), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    places.push(place);
}
