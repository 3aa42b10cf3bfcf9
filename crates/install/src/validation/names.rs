//! Names that objects will have: the revision, and gateways.

use mizzen_text::At;
use serde_json::Value;

use super::Findings;

/// The longest label of a domain name.
const LABEL: usize = 63;
/// The longest name of a gateway.
const NAME: usize = 254;

pub(super) fn revision(revision: &Value, at: &At<'_>, found: &mut Findings) {
    let Some(name) = revision.as_str().filter(|name| !name.is_empty()) else { return };
    let bytes = name.as_bytes();
    let edges = [bytes.first(), bytes.last()].into_iter().flatten().all(u8::is_ascii_alphanumeric);
    let inner = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if bytes.len() > LABEL || !edges || !inner {
        let message = format!("`{name}` cannot be the name of a revision");
        let hint = format!("use at most {LABEL} letters, digits and inner dashes, such as 1-31-0");
        found.error_with_hint(at, message, hint);
    }
}

pub(super) fn gateways(components: &Value, at: &At<'_>, found: &mut Findings) {
    for list in ["egressGateways", "ingressGateways"] {
        let at = at.field(list);
        let gateways = components.get(list).and_then(Value::as_array).into_iter().flatten();
        for (index, gateway) in gateways.enumerate() {
            let Some(name) = gateway.get("name").and_then(Value::as_str) else { continue };
            let plain =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
            if name.len() > NAME || !name.bytes().all(plain) {
                let message = format!("`{name}` cannot be the name of a gateway");
                let hint = format!("use at most {NAME} small letters, digits, dots and dashes");
                found.error_with_hint(&at.index(index).field("name"), message, hint);
            }
        }
    }
}
