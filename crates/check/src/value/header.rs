//! Names and values of HTTP headers: which may be matched, which may be changed, and what Envoy takes for a value.

use super::Verdict;

/// What stands before a JWT's claim where a header's name is expected.
const CLAIMS: &str = "@request.auth.claims";
const PSEUDO: &[&str] = &[":method", ":scheme", ":authority", ":path", ":status"];

/// A header, a pseudo header or a JWT's claim that a request is matched by.
pub(crate) fn matched_name(name: &str) -> Verdict {
    if is_claim(name) || PSEUDO.contains(&name) { Ok(()) } else { token(name) }
}

/// A header that a CORS policy names; `*` is all of them.
pub(crate) fn cors_name(name: &str) -> Verdict {
    // `*` is a token as well.
    token(name)
}

/// A header that is added to or set in a request: the authority may be, no other pseudo header.
pub(crate) fn request_name(name: &str) -> Verdict {
    if name.is_empty() {
        Err("header name cannot be empty".to_owned())
    } else if name.starts_with(':') && !is_authority(name) {
        Err(no_pseudo(name))
    } else {
        Ok(())
    }
}

/// A header that is removed, or changed in a response.
pub(crate) fn operation_name(name: &str) -> Verdict {
    if name.is_empty() {
        Err("header name cannot be empty".to_owned())
    } else if is_host(name) {
        Err(format!("invalid header {name:?}: cannot set Host header"))
    } else if name.starts_with(':') {
        Err(no_pseudo(name))
    } else {
        Ok(())
    }
}

fn no_pseudo(name: &str) -> String {
    format!("invalid header {name:?}: header cannot have \":\" prefix")
}

/// A token in HTTP's sense.
fn token(name: &str) -> Verdict {
    if name.is_empty() {
        return Err("header name cannot be empty".to_owned());
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.bytes().all(plain) {
        Ok(())
    } else {
        Err(format!(
            "header name {name:?} is not a valid header name: letters, digits and !#$%&'*+-.^_`|~ are allowed"
        ))
    }
}

/// `@request.auth.claims.sub` or `@request.auth.claims[sub]`.
pub(crate) fn is_claim(name: &str) -> bool {
    let Some((prefix, claim)) = name.split_at_checked(CLAIMS.len()) else { return false };
    prefix.eq_ignore_ascii_case(CLAIMS)
        && (claim.len() > 1 && claim.starts_with('.')
            || claim.len() > 2 && claim.starts_with('[') && claim.ends_with(']'))
}

/// The header that says to which host a request goes, by either name.
pub(crate) fn is_authority(name: &str) -> bool {
    name.eq_ignore_ascii_case(":authority") || is_host(name)
}

fn is_host(name: &str) -> bool {
    // Go folds the long s, too.
    name.replace('ſ', "s").eq_ignore_ascii_case("host")
}

/// What Envoy fills in for `%NAME%` is not looked at, only that the percent signs and what is between them have the form
/// that Envoy reads: `%NAME%`, `%NAME(argument)%`, `%NAME(["a", "b"])%`, `%%` for the sign itself.
pub(crate) fn value(text: &str) -> Verdict {
    if text.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
        return Err(format!("header value configuration {text:?} is invalid: it has a control character"));
    }
    format(text).map_err(|why| format!("header value configuration {text:?}: {why}"))
}

/// Where a reader of a value stands.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Text,
    Name,
    /// Behind `(`: a list, or one argument.
    Arguments,
    /// Before an entry of a list.
    Entry,
    Argument,
    /// Behind an entry of a list.
    BehindEntry,
    BehindList,
    BehindArguments,
}

fn format(text: &str) -> Result<(), &'static str> {
    let mut inside = Inside::Text;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        inside = match (inside, byte) {
            (Inside::Text, b'%') => match bytes.peek() {
                None => return Err("un-escaped % at the end; write %% for the sign itself"),
                Some(b'%') => {
                    bytes.next();
                    Inside::Text
                }
                Some(_) => Inside::Name,
            },
            (Inside::Name | Inside::BehindArguments, b'%') => Inside::Text,
            (Inside::Name, b'(') => Inside::Arguments,
            (Inside::Arguments, b'[') => Inside::Entry,
            (
                Inside::Arguments
                | Inside::Entry
                | Inside::BehindEntry
                | Inside::BehindList
                | Inside::BehindArguments,
                b' ',
            ) => inside,
            (Inside::Arguments, _) | (Inside::Entry, b'"') => Inside::Argument,
            (Inside::Argument, b'\\') => {
                bytes.next().ok_or("un-terminated backslash in an argument")?;
                Inside::Argument
            }
            (Inside::Argument | Inside::BehindList, b')') => Inside::BehindArguments,
            (Inside::Argument, b'"') => Inside::BehindEntry,
            (Inside::BehindEntry, b',') => Inside::Entry,
            (Inside::BehindEntry, b']') => Inside::BehindList,
            (Inside::Text | Inside::Name | Inside::Argument, _) => inside,
            (Inside::Entry, _) => return Err("expecting '\"' before an entry of the list"),
            (Inside::BehindEntry, _) => return Err("expecting ',' or ']' behind an entry of the list"),
            (Inside::BehindList, _) => return Err("expecting ')' behind the list"),
            (Inside::BehindArguments, _) => return Err("expecting '%' behind ')'"),
        };
    }
    if inside == Inside::Text { Ok(()) } else { Err("un-terminated variable expression: a % is missing") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_matched_by_headers_pseudo_headers_and_claims() {
        for good in ["x-a", "A_b.c", ":path", "@request.auth.claims.sub", "@Request.auth.claims[a][b]"] {
            assert!(matched_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a b",
            ":host",
            "@request.auth.claims",
            "@request.auth.claims.",
            "@request.auth.claims[]",
            "ä",
        ] {
            assert!(matched_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_request_s_authority_may_be_changed() {
        for (name, in_request, elsewhere) in [
            ("x-a", true, true),
            ("", false, false),
            ("Host", true, false),
            (":authority", true, false),
            (":path", false, false),
        ] {
            assert_eq!(request_name(name).is_ok(), in_request, "{name}");
            assert_eq!(operation_name(name).is_ok(), elsewhere, "{name}");
        }
    }

    #[test]
    fn percent_signs_in_a_value_stand_in_pairs() {
        for good in [
            "",
            "a",
            "a\tb",
            "100%%",
            "a %HOSTNAME% b",
            "%REQ(x-a)%",
            "%REQ(x) %",
            "%A([\"b\" , \"c\"] )%",
            "%A( b)%",
            "ä",
        ] {
            assert!(value(good).is_ok(), "{good}");
        }
        for bad in [
            "%",
            "a%b",
            "%A%%",
            "%A()%",
            "%A(b",
            "%A(b)c%",
            "%A([b])%",
            "%A([\"b\" c])%",
            "%A([\"b\"] x)%",
            "%A(\\",
            "a\nb",
            "\u{7f}",
        ] {
            assert!(value(bad).is_err(), "{bad}");
        }
    }
}
