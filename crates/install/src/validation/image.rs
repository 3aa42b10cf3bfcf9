//! Where images come from: `hub` and `tag` must make a reference to an image.

use mizzen_text::At;
use serde_json::{Number, Value};

use super::Findings;

pub(super) fn hub(hub: &Value, at: &At<'_>, found: &mut Findings) {
    let Some(hub) = hub.as_str().filter(|hub| !hub.is_empty()) else { return };
    if let Some((scheme, rest)) = hub.split_once("://") {
        // Istioctl takes the scheme for a registry, and no image is ever found there.
        let hint = Some(format!("write `{rest}`"));
        found.warning(at, format!("`{scheme}://` is no part of a hub"), hint);
    }
    // A repository is only known with an image in it.
    let whole = format!("{hub}/pilot");
    let (registry, repository) = match whole.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) => (Some(first), rest),
        _ => (None, whole.as_str()),
    };
    let plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '_' | '-' | '.' | '/')
    };
    if !(2..=255).contains(&repository.chars().count()) || !repository.chars().all(plain) {
        let message = format!("`{hub}` cannot be the place of images");
        let hint = "below the registry it may have small letters, digits, `_`, `-`, `.` and `/`";
        found.error_with_hint(at, message, hint);
    } else if registry.is_some_and(|registry| !is_authority(registry)) {
        found.error(at, format!("`{hub}` does not begin with the name of a registry, or its name and port"));
    }
}

/// A host, with or without a port, as it stands in a URL.
fn is_authority(text: &str) -> bool {
    let host = |letter: char| {
        letter.is_ascii_alphanumeric() || !letter.is_ascii() || "-_.~!$&'()*+,;=<>\"".contains(letter)
    };
    let port = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if let Some(rest) = text.strip_prefix('[') {
        let Some((inner, rest)) = rest.rsplit_once(']') else { return false };
        let address = inner.parse::<std::net::Ipv6Addr>().is_ok();
        return address && (rest.is_empty() || rest.strip_prefix(':').is_some_and(port));
    }
    match text.split_once(':') {
        Some((name, number)) => name.chars().all(host) && port(number),
        None => text.chars().all(host),
    }
}

/// Any value counts as it is printed: people write `tag: 1.31`.
pub(super) fn tag(tag: &Value, at: &At<'_>, found: &mut Findings) {
    let text = match tag {
        Value::Null => return,
        Value::String(text) => text.clone(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => printed(number),
        Value::Array(_) | Value::Object(_) => {
            found.error(at, format!("must be a text, not {}", super::scalar::named(tag)));
            return;
        }
    };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if !(1..=128).contains(&text.chars().count()) || !text.chars().all(plain) {
        let message = format!("`{text}` cannot be the tag of an image");
        match tag {
            Value::Number(_) => {
                found.error_with_hint(at, message, "put it in quotes");
            }
            _ => found.error(at, message),
        }
    }
}

/// A number as Go prints it: from a million on with an exponent, which a tag cannot have.
fn printed(number: &Number) -> String {
    let float = number.as_f64().unwrap_or_default();
    if float.abs() >= 1e6 || (float != 0.0 && float.abs() < 1e-4) {
        format!("{float:e}").replace('e', "e+")
    } else {
        float.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_scheme_in_front_of_a_hub_is_a_warning() {
        let mut found = Findings::default();
        hub(&json!("https://docker.io/istio"), &At::TOP, &mut found);
        assert_eq!(found.errors, []);
        assert_eq!(found.warnings[0].hint.as_deref(), Some("write `docker.io/istio`"));
    }

    #[test]
    fn numbers_are_tags_as_go_prints_them() {
        for (number, text) in [(json!(1.31), "1.31"), (json!(2), "2"), (json!(1_500_000), "1.5e+6")] {
            assert_eq!(printed(number.as_number().unwrap()), text);
        }
    }
}
