//! `urlParse` and `urlJoin`: addresses as Go takes them apart and puts them together.

use super::{TableEntry, args::Arguments, print::quoted};
use crate::{Failure, Map, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("urlParse", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        call.host.spend(text.len().saturating_mul(4))?;
        let url = Url::parse(&text)
            .map_err(|why| Failure::new(format!("unable to parse url {}: {why}", quoted(&text))))?;
        let entries = [
            ("scheme", url.scheme.clone()),
            ("host", url.host.clone()),
            ("hostname", url.hostname().to_owned()),
            ("path", url.path.clone()),
            ("query", url.query.clone()),
            ("opaque", url.opaque.clone()),
            ("fragment", url.fragment.clone()),
            ("userinfo", url.user.as_ref().map(User::to_text).unwrap_or_default()),
        ];
        Ok(entries.into_iter().map(|(key, text)| (key, Value::from(text))).collect::<Map>().into())
    }),
    ("urlJoin", |call| {
        call.exactly(1)?;
        let map = call.dict(0)?;
        let part = |key: &str| match map.get(key) {
            None => Ok(String::new()),
            Some(Value::Text(text)) => Ok(text.as_ref().to_owned()),
            Some(other) => Err(Failure::new(format!(
                "unable to parse {key} key, must be of type string, but {} found",
                super::args::kind(&other)
            ))),
        };
        let user = part("userinfo")?;
        let user = if user.is_empty() {
            None
        } else {
            let url = Url::parse(&format!("proto://{user}@host"));
            url.map_err(|why| Failure::new(format!("unable to parse userinfo in dict: {why}")))?.user
        };
        let url = Url {
            scheme: part("scheme")?,
            host: part("host")?,
            path: part("path")?,
            query: part("query")?,
            opaque: part("opaque")?,
            fragment: part("fragment")?,
            user,
        };
        let text = url.to_text();
        call.host.spend(text.len())?;
        Ok(text.into())
    }),
];

#[derive(Default)]
struct Url {
    scheme: String,
    user: Option<User>,
    host: String,
    path: String,
    query: String,
    opaque: String,
    fragment: String,
}

struct User {
    name: String,
    password: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Host,
    User,
    Path,
    Fragment,
}

impl Url {
    fn parse(text: &str) -> Result<Self, String> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = Self { fragment: unescape(fragment, Part::Fragment)?, ..Self::default() };
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("invalid control character in URL".into());
        }
        if text == "*" {
            url.path = text.into();
            return Ok(url);
        }
        let (scheme, rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        url.query = query.into();
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                url.opaque = rest.into();
                return Ok(url);
            }
            if rest.split('/').next().is_some_and(|first| first.contains(':')) {
                return Err("first path segment in URL cannot contain colon".into());
            }
        }
        let has_authority = rest.starts_with("//") && (!url.scheme.is_empty() || !rest.starts_with("///"));
        if has_authority {
            let after = &rest[2..];
            let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            (url.user, url.host) = authority_of(authority)?;
            rest = path;
        }
        url.path = unescape(rest, Part::Path)?;
        Ok(url)
    }

    fn hostname(&self) -> &str {
        let port = self.host.rfind(':').filter(|at| is_port(&self.host[*at..]));
        let host = port.map_or(self.host.as_str(), |at| &self.host[..at]);
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    fn to_text(&self) -> String {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            self.push_hierarchy(&mut out);
        } else {
            out.push_str(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push('?');
            out.push_str(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            escape(&mut out, &self.fragment, Part::Fragment);
        }
        out
    }

    fn push_hierarchy(&self, out: &mut String) {
        let somewhere = !self.host.is_empty() || self.user.is_some();
        if somewhere || (!self.scheme.is_empty() && !self.path.is_empty()) {
            out.push_str("//");
        }
        if let Some(user) = &self.user {
            out.push_str(&user.to_text());
            out.push('@');
        }
        escape(out, &self.host, Part::Host);
        if !self.path.is_empty() && !self.path.starts_with('/') && !self.host.is_empty() {
            out.push('/');
        }
        if out.is_empty() && self.path.split('/').next().is_some_and(|first| first.contains(':')) {
            out.push_str("./");
        }
        if self.path == "*" {
            out.push('*');
        } else {
            escape(out, &self.path, Part::Path);
        }
    }
}

impl User {
    fn to_text(&self) -> String {
        let mut out = String::new();
        escape(&mut out, &self.name, Part::User);
        if let Some(password) = &self.password {
            out.push(':');
            escape(&mut out, password, Part::User);
        }
        out
    }
}

/// The scheme in front of the first colon, and what follows; none where another character comes first.
fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn authority_of(authority: &str) -> Result<(Option<User>, String), String> {
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    let port = match (host.starts_with('['), host.rfind(']'), host.rfind(':')) {
        (true, None, _) => return Err("missing ']' in host".into()),
        (true, Some(end), _) => &host[end + 1..],
        (false, _, Some(colon)) => &host[colon..],
        (false, _, None) => "",
    };
    if !is_port(port) {
        return Err(format!("invalid port {} after host", quoted(port)));
    }
    let host = unescape(host, Part::Host)?;
    let Some(user) = user else { return Ok((None, host)) };
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte)) {
        return Err("net/url: invalid userinfo".into());
    }
    let (name, password) =
        user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let password = password.map(|password| unescape(password, Part::User)).transpose()?;
    Ok((Some(User { name: unescape(name, Part::User)?, password }), host))
}

/// A colon and digits, or nothing.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn unescape(text: &str, part: Part) -> Result<String, String> {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte != b'%' {
            if part == Part::Host && byte < 0x80 && escapes(byte, part) {
                return Err(format!(
                    "invalid character {} in host name",
                    quoted(&char::from(byte).to_string())
                ));
            }
            out.push(byte);
            at += 1;
            continue;
        }
        let digits =
            text.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if part != Part::Host || code >= 0x80 || code == b'%' => out.push(code),
            _ => {
                let shown: String = text[at..].chars().take(3).collect();
                return Err(format!("invalid URL escape {}", quoted(&shown)));
            }
        }
        at += 3;
    }
    String::from_utf8(out).map_err(|_| "what is escaped is no UTF-8 text".into())
}

fn escape(out: &mut String, text: &str, part: Part) {
    for character in text.chars() {
        if character.is_ascii() && !escapes(character as u8, part) {
            out.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
}

fn escapes(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
        return false;
    }
    match part {
        Part::Host => !b"!$&'()*+,;=:[]<>\"".contains(&byte),
        Part::User => !b"$&+,;=".contains(&byte),
        Part::Path => !b"$&+,/:;=@".contains(&byte),
        Part::Fragment => !b"$&+,/:;=?@!()*".contains(&byte),
    }
}
