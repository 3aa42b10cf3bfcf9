//! `host:port`, where something listens.

use super::{Verdict, host, number};

/// A host name or an IP address (IPv6 in brackets) and a port.
pub(crate) fn host_and_port(text: &str) -> Verdict {
    let (name, port) = split(text).map_err(|wrong| format!("{text:?} is not host:port: {wrong}"))?;
    let port: i64 = port.parse().map_err(|_| format!("port ({port}) is not a number"))?;
    number::port(u32::try_from(port).unwrap_or(0))
        .map_err(|_| format!("port number {port} must be in the range 1..65535"))?;
    if host::fqdn(name).is_ok() || host::is_ip(name) {
        Ok(())
    } else {
        Err(format!("{name:?} is not a valid hostname or an IP address"))
    }
}

fn split(text: &str) -> Result<(&str, &str), &'static str> {
    let (before, port) = text.rsplit_once(':').ok_or("missing port")?;
    let name = match before.strip_prefix('[') {
        // `[::1]` alone has its last colon inside.
        Some(rest) => rest.strip_suffix(']').ok_or("missing port after the brackets")?,
        None if before.contains(':') => return Err("too many colons; an IPv6 address stands in brackets"),
        None => before,
    };
    if name.contains(['[', ']']) || port.contains(['[', ']']) {
        return Err("unexpected bracket");
    }
    Ok((name, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_a_port() {
        for good in
            ["a:1", "a.b.c:65535", "1.2.3.4:80", "[::1]:80", "a:+1", "[a]:1", "[fe80::1%eth0]:1", "a.:1"]
        {
            assert_eq!(host_and_port(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "a",
            "a:",
            ":1",
            "a:b",
            "a:0",
            "a:-1",
            "a:65536",
            "::1:80",
            "[::1]",
            "[::1",
            "[::1]x:80",
            "a_b:1",
            "a:99999999999999999999",
            "[[::1]]:80",
            "a:1:2",
            "1.2.3:80",
            "[]:1",
            "a]:1",
        ] {
            assert!(host_and_port(bad).is_err(), "{bad}");
        }
    }
}
