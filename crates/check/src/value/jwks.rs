//! JSON Web Keys (RFC 7517) as the library that Istio uses (jwx) reads them: a set of keys or a single one. The keys
//! themselves are not looked into: any bytes are a modulus.

use super::Verdict;
use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::{Map, Value};
use x509_parser::prelude::{FromDer as _, X509Certificate};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Public,
    /// With what must stay secret; a symmetric key is nothing else.
    Private,
}

pub(crate) fn parse(text: &str) -> Result<Vec<Key>, String> {
    // Whatever follows the first value is not looked at.
    let first = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
    let document = first.ok_or("it is empty")?.map_err(|error| error.to_string())?;
    let object = document.as_object().ok_or("it is not a JSON object")?;
    match object.get("keys") {
        None => Ok(vec![key(object)?]),
        Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(keys)) => {
            let read = |(index, json): (usize, &Value)| {
                let object = json.as_object().ok_or_else(|| "it is not a JSON object".to_owned());
                object.and_then(key).map_err(|wrong| format!("key #{index} in \"keys\": {wrong}"))
            };
            keys.iter().enumerate().map(read).collect()
        }
        Some(_) => Err("\"keys\" is not a list".to_owned()),
    }
}

/// The members of a key that are bytes: those that it must have, those of a private one, and those that it may have.
struct Members {
    kty: &'static str,
    public: &'static [&'static str],
    private: &'static [&'static str],
    optional: &'static [&'static str],
}

const KINDS: &[Members] = &[
    Members { kty: "RSA", public: &["e", "n"], private: &["d"], optional: &["dp", "dq", "p", "q", "qi"] },
    Members { kty: "EC", public: &["x", "y"], private: &["d"], optional: &[] },
    Members { kty: "OKP", public: &["x"], private: &["d"], optional: &[] },
    Members { kty: "oct", public: &["k"], private: &[], optional: &[] },
];

fn key(object: &Map<String, Value>) -> Result<Key, String> {
    // Go finds these two in whatever case.
    let hint =
        |name: &str| object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    let kty = hint("kty").and_then(Value::as_str).unwrap_or_default();
    let members = KINDS
        .iter()
        .find(|members| members.kty == kty)
        .ok_or_else(|| format!("invalid key type {kty:?}: RSA, EC, OKP or oct"))?;
    let private = !members.private.is_empty() && hint("d").is_some();
    if object.get("kty").is_some_and(|kty| kty.as_str() != Some(members.kty)) {
        return Err("invalid kty".to_owned());
    }
    for name in ["alg", "kid", "use", "x5t", "x5t#S256", "x5u"] {
        text(object, name)?;
    }
    if matches!(kty, "EC" | "OKP") {
        text(object, "crv")?.ok_or("required field crv is missing")?;
    }
    strings(object, "key_ops")?;
    for certificate in strings(object, "x5c")? {
        let der = decode(certificate).ok_or("a certificate in x5c is not base64")?;
        X509Certificate::from_der(&der).map_err(|_| "cannot read a certificate in x5c")?;
    }
    for name in members.public {
        bytes(object, name)?.ok_or_else(|| format!("required field {name} is missing"))?;
    }
    if private {
        for name in members.private {
            bytes(object, name)?.ok_or_else(|| format!("required field {name} is missing"))?;
        }
        members.optional.iter().try_for_each(|name| bytes(object, name).map(drop))?;
    }
    Ok(if private || kty == "oct" { Key::Private } else { Key::Public })
}

/// A member that is text; `null` is as good as an empty one.
fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match object.get(name) {
        None => Ok(None),
        Some(Value::Null) => Ok(Some("")),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{name} is not a string")),
    }
}

fn bytes(object: &Map<String, Value>, name: &str) -> Result<Option<()>, String> {
    match text(object, name)? {
        None => Ok(None),
        Some(text) => is_base64(text).map_err(|wrong| format!("{name}: {wrong}")).map(Some),
    }
}

fn strings<'a>(object: &'a Map<String, Value>, name: &str) -> Result<Vec<&'a str>, String> {
    let wrong = || format!("{name} is not a list of strings");
    match object.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let string = |item: &'a Value| if item.is_null() { Some("") } else { item.as_str() };
            items.iter().map(|item| string(item).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn is_base64(text: &str) -> Verdict {
    decode(text).map(drop).ok_or_else(|| "not base64".to_owned())
}

/// In either alphabet, with padding or without; line breaks and spare bits do not matter.
fn decode(text: &str) -> Option<Vec<u8>> {
    let padding = if text.ends_with('=') {
        DecodePaddingMode::RequireCanonical
    } else {
        DecodePaddingMode::RequireNone
    };
    let alphabet = if text.contains(['+', '/']) { &alphabet::STANDARD } else { &alphabet::URL_SAFE };
    let config =
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true).with_decode_padding_mode(padding);
    let plain: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    GeneralPurpose::new(alphabet, config).decode(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_single_keys_are_read() {
        for (text, expected) in [
            (r#"{"keys":[]}"#, vec![]),
            (r#"{"keys":null}"#, vec![]),
            (r#"{"keys":[]} and more"#, vec![]),
            (r#"{"kty":"RSA","e":"AQAB","n":"xA==","foo":{"a":1}}"#, vec![Key::Public]),
            (r#"{"keys":[{"kty":"EC","crv":"?","x":"","y":null}]}"#, vec![Key::Public]),
            (r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"a-_w"}]}"#, vec![Key::Public]),
            (r#"{"kty":"RSA","e":"AQAB","n":"xA","d":"xA"}"#, vec![Key::Private]),
            (r#"{"KTY":"oct","k":"a+/w"}"#, vec![Key::Private]),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_key_is_told() {
        for text in [
            "",
            " ",
            "[]",
            "null",
            "{",
            r#"{"keys":{}}"#,
            r#"{"keys":[1]}"#,
            r#"{"a":1}"#,
            r#"{"kty":"rsa","e":"AQAB","n":"xA"}"#,
            r#"{"kty":"RSA","n":"xA"}"#,
            r#"{"kty":"RSA","e":"AQAB"}"#,
            r#"{"kty":"RSA","e":"AQAB","n":"*"}"#,
            r#"{"kty":"RSA","e":"AQAB","n":1}"#,
            r#"{"kty":"RSA","e":"AQAB","n":"xA","kid":1}"#,
            r#"{"kty":"RSA","e":"AQAB","n":"xA","key_ops":[1]}"#,
            r#"{"kty":"RSA","e":"AQAB","n":"xA","x5c":["xA"]}"#,
            r#"{"kty":"RSA","e":"AQAB","n":"xA","D":"xA"}"#,
            r#"{"kty":"EC","x":"xA","y":"xA"}"#,
            r#"{"kty":"oct"}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
