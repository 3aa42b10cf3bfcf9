//! `stringData` of a Secret → its `data`. A server does that, too, but only ever adds: a key that is taken out of `stringData` would
//! stay, and what somebody else has changed would not be seen, because `stringData` is nowhere to be read again.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

/// What cannot be turned stays: the server says what is wrong with it.
pub(crate) fn encode(object: &mut Value) {
    if object["apiVersion"] != "v1" || object["kind"] != "Secret" {
        return;
    }
    let Some(Value::Object(texts)) = object.get("stringData") else { return };
    let encoded: Option<Map<String, Value>> = texts
        .iter()
        .filter(|(_, text)| !text.is_null())
        .map(|(key, text)| Some((key.clone(), STANDARD.encode(text.as_str()?).into())))
        .collect();
    let (Some(encoded), Some(secret)) = (encoded, object.as_object_mut()) else { return };
    match secret.get_mut("data") {
        Some(Value::Object(data)) => data.extend(encoded),
        None | Some(Value::Null) if encoded.is_empty() => {}
        None | Some(Value::Null) => drop(secret.insert("data".to_owned(), encoded.into())),
        Some(_) => return,
    }
    secret.remove("stringData");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_become_data_and_win_over_it() {
        let secret = |parts: Value| {
            let mut object = json!({ "apiVersion": "v1", "kind": "Secret" });
            object.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
            object
        };
        for (given, made) in [
            (json!({ "stringData": { "a": "x" } }), json!({ "data": { "a": "eA==" } })),
            (
                json!({ "data": { "a": "eQ==", "b": "eQ==" }, "stringData": { "a": "x" } }),
                json!({ "data": { "a": "eA==", "b": "eQ==" } }),
            ),
            (json!({ "data": null, "stringData": { "a": "" } }), json!({ "data": { "a": "" } })),
            (json!({ "stringData": {} }), json!({})),
            (json!({ "stringData": { "a": null } }), json!({})),
            (json!({ "stringData": { "a": 1 } }), json!({ "stringData": { "a": 1 } })),
        ] {
            let mut object = secret(given);
            encode(&mut object);
            assert_eq!(object, secret(made));
        }
        let mut other = json!({ "apiVersion": "v1", "kind": "ConfigMap", "stringData": { "a": "x" } });
        encode(&mut other);
        assert_eq!(other["stringData"]["a"], "x");
    }
}
