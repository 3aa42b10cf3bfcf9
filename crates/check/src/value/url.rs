//! Addresses of things on the net, taken apart as Go's `net/url` does: it is far more lenient than the URL standard,
//! and what it accepts is what Istio accepts.

use std::net::IpAddr;

/// The parts of a URL that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    /// In lower case; empty if there is none.
    pub scheme: String,
    /// The digits after the host's colon; empty if there are none.
    pub port: String,
}

/// A URL with or without a scheme, perhaps with a fragment.
pub(crate) fn parse(text: &str) -> Result<Url, String> {
    let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
    let url = split(url, false)?;
    escapes(fragment)?;
    Ok(url)
}

/// What may stand in a request's first line: an absolute URL or an absolute path.
pub(crate) fn parse_request(text: &str) -> Result<Url, String> {
    split(text, true)
}

fn split(text: &str, in_request: bool) -> Result<Url, String> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("invalid control character in URL".to_owned());
    }
    if text.is_empty() && in_request {
        return Err("empty url".to_owned());
    }
    let nothing = |scheme: &str| Url { scheme: scheme.to_ascii_lowercase(), port: String::new() };
    if text == "*" {
        return Ok(nothing(""));
    }
    let (scheme, rest) = scheme(text)?;
    let path = rest.split_once('?').map_or(rest, |(path, _)| path);
    let mut url = nothing(scheme);
    if !path.starts_with('/') {
        if !scheme.is_empty() {
            // `mailto:a` and the like: Go looks no further.
            return Ok(url);
        }
        if in_request {
            return Err("it begins neither with a scheme nor with a slash".to_owned());
        }
        if path.split('/').next().is_some_and(|first| first.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let may_have_host = !scheme.is_empty() || (!in_request && !path.starts_with("///"));
    let path = match path.strip_prefix("//") {
        Some(rest) if may_have_host => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            url.port = authority_port(&url.scheme, authority)?;
            path
        }
        _ => path,
    };
    escapes(path)?;
    Ok(url)
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

/// Checks user, host and port, and returns the port.
fn authority_port(scheme: &str, authority: &str) -> Result<String, String> {
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let port = host_port(scheme, host)?;
    if let Some(user) = user {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
        if !user.bytes().all(plain) {
            return Err("invalid userinfo".to_owned());
        }
        user.splitn(2, ':').try_for_each(escapes)?;
    }
    Ok(port)
}

fn host_port(scheme: &str, host: &str) -> Result<String, String> {
    let port = match host.rfind('[') {
        Some(0) => {
            let close = host.rfind(']').ok_or("missing ']' in host")?;
            ip_literal(&host[1..close])?;
            &host[close + 1..]
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {
            host_bytes(host)?;
            // Several colons are allowed only where databases use them.
            let colon = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
            colon.map_or("", |colon| &host[colon..])
        }
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    if digits.len() == port.len() && !port.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("invalid port {port:?} after host"));
    }
    Ok(digits.to_owned())
}

/// What stands between brackets: an IPv6 address, perhaps with a zone after `%25`.
fn ip_literal(text: &str) -> Result<(), String> {
    let (address, zone) =
        text.split_once("%25").map_or((text, None), |(address, zone)| (address, Some(zone)));
    host_bytes(address)?;
    if let Some(zone) = zone {
        escaped(zone, |byte| byte == b'%' || byte == b' ' || is_host_byte(byte))?;
        zone_bytes(zone)?;
    }
    let is_address = address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6());
    if is_address && zone.is_none_or(|zone| !zone.is_empty()) {
        Ok(())
    } else {
        Err(format!("invalid host: {text:?} is not an IPv6 address"))
    }
}

/// In a host only what is not ASCII may be escaped, and the percent sign itself.
fn host_bytes(host: &str) -> Result<(), String> {
    escaped(host, |byte| byte >= 0x80 || byte == b'%')?;
    zone_bytes(host)
}

fn zone_bytes(text: &str) -> Result<(), String> {
    match text
        .chars()
        .find(|c| u8::try_from(*c).is_ok_and(|byte| byte < 0x80 && byte != b'%' && !is_host_byte(byte)))
    {
        Some(bad) => Err(format!("invalid character {bad:?} in host name")),
        None => Ok(()),
    }
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// Every percent sign begins an escape.
fn escapes(text: &str) -> Result<(), String> {
    escaped(text, |_| true)
}

fn escaped(text: &str, allowed: impl Fn(u8) -> bool) -> Result<(), String> {
    let mut parts = text.split('%');
    parts.next();
    for part in parts {
        let byte = part.get(..2).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let byte = byte.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if !byte.is_some_and(&allowed) {
            let shown: String = part.chars().take(2).collect();
            return Err(format!("invalid URL escape \"%{shown}\""));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_takes_for_a_url_is_one() {
        for (text, scheme, port) in [
            ("https://a.b/c?d#e", "https", ""),
            ("HTTP://a:80", "http", "80"),
            ("http://a:/", "http", ""),
            ("https://u:p%40@a:1/", "https", "1"),
            ("http://[::1]:8080/x", "http", "8080"),
            ("http://[fe80::1%25en0]/", "http", ""),
            ("mailto:a%zz", "mailto", ""),
            ("oci://r.io/x:v1@sha256:ab", "oci", ""),
            ("db://a:1,b:2", "db", "2"),
            ("a/b", "", ""),
            ("*", "", ""),
            ("", "", ""),
            ("http://%e4.b/", "http", ""),
        ] {
            assert_eq!(parse(text), Ok(Url { scheme: scheme.into(), port: port.into() }), "{text}");
        }
    }

    #[test]
    fn what_go_refuses_is_none() {
        for text in [
            ":a",
            "http://a b/",
            "http://a\n",
            "http://a/%zz",
            "http://a/#%1",
            "http://a:b",
            "http://a:1:2",
            "http://[::1",
            "http://[1.2.3.4]/",
            "http://a[::1]/",
            "http://[::1]x/",
            "http://u ser@a/",
            "1a:b",
            "http://%41/",
            "http://[::1%25]/",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_names_a_scheme_or_an_absolute_path() {
        for good in ["//", "/a", "http://a", "a:b"] {
            assert!(parse_request(good).is_ok(), "{good}");
        }
        for bad in ["", "a.b/c", "?"] {
            assert!(parse_request(bad).is_err(), "{bad}");
        }
    }
}
