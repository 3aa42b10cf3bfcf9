//! Addresses as the server's `url()` reads them, which is how Go does: only as much as decides whether it is one, and
//! under which scheme.

use std::net::Ipv6Addr;

/// `isURL`: absolute, or a path from the root.
pub(super) fn is_url(text: &str) -> bool {
    parse(text, Context::Request).is_some()
}

/// `url(…).getScheme()`, empty for a mere path. Read twice, since a fragment counts only the second time.
pub(super) fn scheme(text: &str) -> Option<String> {
    parse(text, Context::Request)?;
    let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
    let scheme = parse(address, Context::Any)?;
    escapes_are_good(fragment.as_bytes()).then_some(scheme)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// As in the first line of an HTTP request.
    Request,
    Any,
}

fn parse(text: &str, context: Context) -> Option<String> {
    if text.bytes().any(|byte| byte.is_ascii_control()) || text.is_empty() && context == Context::Request {
        return None;
    }
    if text == "*" {
        return Some(String::new());
    }
    let (scheme, rest) = split_scheme(text)?;
    let scheme = scheme.to_ascii_lowercase();
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Some(scheme); // such as `mailto:`, with no more to look at
        }
        let first = rest.split('/').next().unwrap_or_default();
        if context == Context::Request || first.contains(':') {
            return None;
        }
    }
    let has_authority =
        rest.starts_with("//") && (!scheme.is_empty() || context == Context::Any && !rest.starts_with("///"));
    let path = if has_authority {
        let (authority, path) = rest[2..].split_at(rest[2..].find('/').unwrap_or(rest.len() - 2));
        if !authority_is_good(&scheme, authority) {
            return None;
        }
        path
    } else {
        rest
    };
    escapes_are_good(path.as_bytes()).then_some(scheme)
}

/// What stands before the colon, if that can be a scheme; a colon with nothing before it is wrong.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let end =
        text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')));
    match end {
        Some(0) if text.starts_with(':') => None,
        Some(end) if text[end..].starts_with(':') && text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Some((&text[..end], &text[end + 1..]))
        }
        _ => Some(("", text)),
    }
}

fn authority_is_good(scheme: &str, authority: &str) -> bool {
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    host_is_good(scheme, host)
        && user.is_none_or(|user| user.bytes().all(is_good) && escapes_are_good(user.as_bytes()))
}

fn host_is_good(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => host[1..]
            .rsplit_once(']')
            .is_some_and(|(address, port)| port_is_good(port) && ip_is_good(address)),
        Some(_) => false,
        None => {
            // Several colons were always taken where many hosts may be listed, which HTTP does not have.
            let one_only = scheme == "http" || scheme == "https";
            let colon = if one_only { host.find(':') } else { host.rfind(':') };
            colon.is_none_or(|colon| port_is_good(&host[colon..]))
                && unescaped(host.as_bytes(), Zone::No).is_some()
        }
    }
}

fn port_is_good(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// IPv6 only, with or without a zone.
fn ip_is_good(address: &str) -> bool {
    let zone_at = address.find("%25").unwrap_or(address.len());
    let (address, zone) = address.split_at(zone_at);
    let Some(mut bytes) = unescaped(address.as_bytes(), Zone::No) else { return false };
    let Some(zone) = unescaped(zone.as_bytes(), Zone::Yes) else { return false };
    bytes.extend(zone);
    let (ip, zone) = match bytes.iter().position(|byte| *byte == b'%') {
        Some(percent) => (&bytes[..percent], Some(&bytes[percent + 1..])),
        None => (bytes.as_slice(), None),
    };
    std::str::from_utf8(ip).is_ok_and(|ip| ip.parse::<Ipv6Addr>().is_ok())
        && zone.is_none_or(|zone| !zone.is_empty())
}

fn escapes_are_good(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(place) = rest.iter().position(|byte| *byte == b'%') {
        if escape(&rest[place..]).is_none() {
            return false;
        }
        rest = &rest[place + 3..];
    }
    true
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Yes,
    No,
}

/// A host without its escapes. There only bytes beyond ASCII may be escaped; a zone is freer.
fn unescaped(host: &[u8], zone: Zone) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let byte = escape(rest)?;
            let good = byte == b'%' && rest.starts_with(b"%25")
                || match zone {
                    Zone::No => byte >= 0x80,
                    Zone::Yes => byte == b' ' || may_be_in_host(byte),
                };
            if !good {
                return None;
            }
            bytes.push(byte);
            rest = &rest[3..];
        } else {
            if *first < 0x80 && !may_be_in_host(*first) {
                return None;
            }
            bytes.push(*first);
            rest = after;
        }
    }
    Some(bytes)
}

fn may_be_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!\"$&'()*+,-.:;<=>[]_~".contains(&byte)
}

/// The byte that `%XX` stands for.
fn escape(bytes: &[u8]) -> Option<u8> {
    let digit = |place: usize| bytes.get(place).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(1)? * 16 + digit(2)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_scheme_that_go_finds() {
        let cases = [
            ("http://a.example", Some("http")),
            ("HTTPS://a.example:8443/x?y#z", Some("https")),
            ("oci://registry/x:1", Some("oci")),
            ("file:///a/b", Some("file")),
            ("mailto:x", Some("mailto")),
            ("/path", Some("")),
            ("//a/b", Some("")),
            ("*", Some("")),
            ("http://[::1]:80/", Some("http")),
            ("http://[fe80::1%25eth0]/", Some("http")),
            ("mongodb://a:1,b:2/", Some("mongodb")),
            ("", None),
            ("path", None),
            (":x", None),
            ("http://a:b", None),
            ("http://a:1:2", None),
            ("http://a b/", None),
            ("http://[1.2.3.4]/", None),
            ("http://[::1", None),
            ("http://x[::1]", None),
            ("http://a/%zz", None),
            ("http://%41/", None),
            ("http://a/#%zz", None),
            ("http://a\n/", None),
            ("http://us er@a/", None),
            ("//a:b", None),
        ];
        for (text, expected) in cases {
            assert_eq!(scheme(text).as_deref(), expected, "{text}");
        }
        assert!(is_url("//a:b"), "one at first sight, and then no host and port");
    }
}
