//! Names in Kubernetes' and DNS' sense.

use super::Verdict;

/// The longest label of a domain name, and the longest name of a Kubernetes label.
const LABEL: usize = 63;
/// The longest prefix of a Kubernetes label's key.
const PREFIX: usize = 253;

/// One part of a domain name (RFC 1123), in either case.
pub(crate) fn is_dns_label(text: &str) -> bool {
    text.len() <= LABEL && is_dns_word(text)
}

/// A label, or a wildcard in front of one: `*`, `*a`, `*-a`.
pub(crate) fn is_wildcard_dns_label(text: &str) -> bool {
    let rest = text.strip_prefix("*-").or_else(|| text.strip_prefix('*'));
    text.len() <= LABEL && (text == "*" || is_dns_word(rest.unwrap_or(text)))
}

/// Letters, digits and inner dashes, of any length.
fn is_dns_word(text: &str) -> bool {
    between_alphanumerics(text, |byte| byte == b'-')
}

/// The name part of a label's key, or a label's value that is not empty.
fn is_qualified_name(text: &str) -> bool {
    between_alphanumerics(text, |byte| matches!(byte, b'-' | b'_' | b'.'))
}

fn between_alphanumerics(text: &str, also: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || also(*byte))
}

/// A label's key as Istio takes it: a name, with or without a domain before it.
pub(crate) fn key(text: &str) -> Verdict {
    let (prefix, name) = match text.rsplit_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if prefix.is_some_and(|prefix| !prefix.split('.').all(is_dns_word)) || !is_qualified_name(name) {
        return Err(format!("{text:?} is not a valid label key"));
    }
    if prefix.is_some_and(|prefix| prefix.len() > PREFIX) {
        return Err(format!("label key {text:?} has a prefix of more than {PREFIX} characters"));
    }
    if name.len() > LABEL {
        return Err(format!("label key {text:?} has a name of more than {LABEL} characters"));
    }
    Ok(())
}

/// A label's value as Istio takes it, which does not mind its length.
pub(crate) fn value(text: &str) -> Verdict {
    if text.is_empty() || is_qualified_name(text) {
        Ok(())
    } else {
        Err(format!("{text:?} is not a valid label value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dns_label_begins_and_ends_with_a_letter_or_digit() {
        for good in ["a", "A-1", "0"] {
            assert!(is_dns_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a.b", "a_b", "ä", &"a".repeat(64)] {
            assert!(!is_dns_label(bad), "{bad}");
        }
    }

    #[test]
    fn a_wildcard_stands_only_in_front() {
        for good in ["*", "*a", "*-a", "a"] {
            assert!(is_wildcard_dns_label(good), "{good}");
        }
        for bad in ["**", "a*", "*-", "*.a", ""] {
            assert!(!is_wildcard_dns_label(bad), "{bad}");
        }
    }

    #[test]
    fn a_label_key_may_have_a_domain() {
        for good in ["app", "istio.io/rev", "a_b.c"] {
            assert!(key(good).is_ok(), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a b", &format!("{}/a", "a".repeat(254)), &"a".repeat(64)]
        {
            assert!(key(bad).is_err(), "{bad}");
        }
    }
}
