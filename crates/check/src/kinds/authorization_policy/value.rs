//! The values in the lists of a rule: names with wildcards, accounts, addresses, ports, paths.

use crate::{
    Findings,
    value::{Verdict, host},
};
use mizzen_text::At;

/// Keeps what a proxy is sent within bounds; upstream's number.
const MOST_SERVICE_ACCOUNTS: usize = 16;
const LONGEST_SERVICE_ACCOUNT: usize = 320;

/// What the values of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Anything that is not empty.
    Name,
    /// A name with a wildcard at most at one end.
    Wildcard,
    TrustDomain,
    ServiceAccount,
    Address,
    Port,
    Path,
}

pub(super) fn list(sort: Sort, values: &[String], at: &At<'_>, found: &mut Findings) {
    if sort == Sort::ServiceAccount && values.len() > MOST_SERVICE_ACCOUNTS {
        found.error(
            at,
            format!("may not have more than {MOST_SERVICE_ACCOUNTS} values, and has {}", values.len()),
        );
    }
    for (index, value) in values.iter().enumerate() {
        if let Err(wrong) = one(sort, value) {
            found.error(&at.index(index), wrong);
        }
    }
}

fn one(sort: Sort, value: &str) -> Verdict {
    if value.is_empty() {
        return Err("empty value not allowed".to_owned());
    }
    match sort {
        Sort::Name => Ok(()),
        Sort::Wildcard => wildcard(value),
        Sort::TrustDomain => {
            wildcard(value)?;
            if value.contains('/') {
                Err(format!("trust domain must not contain '/': {value:?}"))
            } else {
                Ok(())
            }
        }
        Sort::ServiceAccount => service_account(value),
        Sort::Address => address(value),
        Sort::Port => port(value),
        Sort::Path => path(value),
    }
}

fn wildcard(value: &str) -> Verdict {
    match value.matches('*').count() {
        0 => Ok(()),
        1 if value.starts_with('*') || value.ends_with('*') => Ok(()),
        1 => Err(format!("wildcard is only allowed at the start or end: {value:?}")),
        _ => Err(format!("at most one wildcard is allowed: {value:?}")),
    }
}

fn service_account(value: &str) -> Verdict {
    if value.contains('*') {
        return Err(format!("wildcard not allowed in a service account: {value:?}"));
    }
    if value.len() > LONGEST_SERVICE_ACCOUNT {
        return Err(format!("value cannot exceed {LONGEST_SERVICE_ACCOUNT} characters"));
    }
    let mut parts = value.split('/');
    let well_formed = parts.clone().count() <= 2 && parts.all(|part| !part.is_empty());
    if well_formed {
        Ok(())
    } else {
        Err(format!("expected 'serviceAccount' or 'namespace/serviceAccount', found {value:?}"))
    }
}

fn address(value: &str) -> Verdict {
    if value.contains('/') {
        if host::is_cidr(value) { Ok(()) } else { Err(format!("bad CIDR range ({value})")) }
    } else if host::is_ip(value) {
        Ok(())
    } else {
        Err(format!("bad IP address ({value})"))
    }
}

fn port(value: &str) -> Verdict {
    let number = value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse::<u32>().ok()).flatten();
    if number.is_some_and(|number| number <= 65_535) {
        Ok(())
    } else {
        Err(format!("bad port ({value}): a port is a number up to 65535, without wildcard or range"))
    }
}

/// A path may have templates for segments: `{*}` for one, `{**}` for any number, as the last of them.
fn path(value: &str) -> Verdict {
    let template = value.contains("{*}") || value.contains("{**}");
    let mut any = false;
    for segment in value.trim_matches('/').split('/') {
        match segment {
            "{*}" | "{**}" if any => {
                return Err(format!("invalid or unsupported path {value}: {{**}} is not the last operator"));
            }
            "{*}" => {}
            "{**}" => any = true,
            _ if segment.contains(['{', '}']) => {
                return Err(format!(
                    "invalid or unsupported path {value}: contains '{{' or '}}' beyond a supported path template, \
                     which are {{*}} and {{**}} as a whole segment"
                ));
            }
            _ if template && !is_literal(segment) => {
                return Err(format!(
                    "invalid or unsupported path {value}: contains segment {segment:?} with invalid string literal; \
                     beside templates no wildcard and no empty segment is allowed"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Characters of a path's segment (RFC 3986 `pchar`) but the asterisk, at least one.
fn is_literal(segment: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()+,;:@=".contains(&byte);
    !segment.is_empty() && segment.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_of_value_has_its_rule() {
        let long = "a".repeat(321);
        let rows: &[(Sort, &[&str], &[&str])] = &[
            (Sort::Name, &["a", "*", "a*b"], &[""]),
            (Sort::Wildcard, &["a", "*", "a*", "*a", "a/b"], &["", "a*b", "*a*", "**"]),
            (Sort::TrustDomain, &["td", "*", "td*"], &["", "a/b", "a*b"]),
            (Sort::ServiceAccount, &["a", "ns/a"], &["", "/a", "a/", "a/b/c", "a*", "/", &long]),
            (Sort::Address, &["1.2.3.4", "10.0.0.0/8", "::1"], &["", "a", "1.2.3.4/33", "1.2.3"]),
            (
                Sort::Port,
                &["0", "80", "65535", "0080"],
                &["", "65536", "-1", "+1", "80*", "a", "99999999999"],
            ),
            (
                Sort::Path,
                &["*", "/a*", "/{*}", "/a/{**}/b", "{*}", "/a/{*}/b/{**}", "/"],
                &["", "/{**}/{*}", "/{**}/{**}", "/a{*}", "/{a}", "/{*}/b*", "/{*}//b", "/}"],
            ),
        ];
        for (sort, good, bad) in rows {
            for value in *good {
                assert_eq!(one(*sort, value), Ok(()), "{sort:?} {value}");
            }
            for value in *bad {
                assert!(one(*sort, value).is_err(), "{sort:?} {value}");
            }
        }
    }
}
