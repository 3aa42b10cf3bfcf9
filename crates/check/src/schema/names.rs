//! The names that Kubernetes takes: of objects, namespaces, labels. Each function says what is wrong, if anything.

const SUBDOMAIN: usize = 253;
const LABEL: usize = 63;

/// The name of an object: lower-case letters, digits, `-` and `.`, and every part between dots begins and ends well.
pub fn subdomain(name: &str) -> Result<(), String> {
    if name.len() > SUBDOMAIN {
        return Err(format!("must have at most {SUBDOMAIN} characters"));
    }
    let good = name.split('.').all(is_dns_label);
    good.then_some(()).ok_or_else(|| {
        "must be lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part".to_owned()
    })
}

/// The name of a namespace: a subdomain without dots.
pub fn dns_label(name: &str) -> Result<(), String> {
    if name.len() > LABEL {
        return Err(format!("must have at most {LABEL} characters"));
    }
    is_dns_label(name).then_some(()).ok_or_else(|| {
        "must be lower-case letters, digits and '-', with a letter or digit at both ends".to_owned()
    })
}

/// The key of a label or an annotation: a name, with or without a subdomain and a slash before it.
pub fn qualified(key: &str) -> Result<(), String> {
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => return Err("must not have more than one '/'".to_owned()),
        Some((prefix, name)) => {
            subdomain(prefix).map_err(|message| format!("before the '/' it {message}"))?;
            name
        }
    };
    if name.is_empty() {
        return Err("must have a name".to_owned());
    }
    label_value(name)
}

/// The value of a label: nothing, or the like of a name.
pub fn label_value(value: &str) -> Result<(), String> {
    if value.len() > LABEL {
        return Err(format!("must have at most {LABEL} characters"));
    }
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let bytes = value.as_bytes();
    let good = value.is_empty() || at_both_ends(bytes, u8::is_ascii_alphanumeric) && bytes.iter().all(inside);
    good.then_some(()).ok_or_else(|| {
        "must be letters, digits, '-', '_' and '.', with a letter or digit at both ends".to_owned()
    })
}

fn is_dns_label(name: &str) -> bool {
    let edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    at_both_ends(bytes, edge) && bytes.iter().all(|byte| edge(byte) || *byte == b'-')
}

fn at_both_ends(bytes: &[u8], is_good: impl Fn(&u8) -> bool) -> bool {
    bytes.first().is_some_and(&is_good) && bytes.last().is_some_and(&is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_kubernetes() {
        type Check = fn(&str) -> Result<(), String>;
        let long = "a".repeat(64);
        let cases: &[(Check, &[&str], &[&str])] = &[
            (
                subdomain,
                &["a", "a.b-c.9", &long],
                &["", "A", "a.", ".a", "a..b", "-a", "a-", "a_b", "é", "a\n"],
            ),
            (dns_label, &["a", "9-a"], &["", "a.b", &long, "A"]),
            (
                qualified,
                &["a", "A_b.c", "x.io/a"],
                &["", "/a", "x.io/", "a/b/c", "X.io/a", "a b", "-a", &long],
            ),
            (label_value, &["", "A", "a.b_c-d", "1"], &[".a", "a-", "a b", "é", &long]),
        ];
        for (number, (check, good, bad)) in cases.iter().enumerate() {
            for name in *good {
                assert_eq!(check(name), Ok(()), "{number}: {name}");
            }
            for name in *bad {
                assert!(check(name).is_err(), "{number}: {name}");
            }
        }
    }
}
