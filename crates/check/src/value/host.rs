//! Host names: of services, in front of gateways, with and without wildcards; addresses and networks.

use super::{
    Verdict,
    label::{is_dns_label, is_wildcard_dns_label},
};
use std::net::IpAddr;

/// A fully qualified domain name.
pub(crate) fn fqdn(name: &str) -> Verdict {
    sized(name)?;
    dns_labels(name)
}

/// A domain name whose first label may be or begin with a wildcard.
pub(crate) fn wildcard_domain(name: &str) -> Verdict {
    sized(name)?;
    let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    if !is_wildcard_dns_label(first) {
        return Err(format!("domain name {name:?} invalid (label {first:?} invalid)"));
    }
    rest.map_or(Ok(()), |rest| dns_labels_of(rest, name))
}

fn sized(name: &str) -> Verdict {
    match name.len() {
        0 => Err("a domain name must not be empty".to_owned()),
        1..=255 => Ok(()),
        _ => Err(format!("domain name {name:?} is longer than 255 characters")),
    }
}

fn dns_labels(name: &str) -> Verdict {
    dns_labels_of(name, name)
}

/// The labels of a part of a name, which is the whole of it or what follows a wildcard.
fn dns_labels_of(part: &str, name: &str) -> Verdict {
    let last = part.rsplit('.').next().unwrap_or_default();
    if last.trim_start_matches(['+', '-']).parse::<i64>().is_ok() {
        return Err(format!(
            "domain name {name:?} invalid (top level domain {last:?} cannot be all-numeric)"
        ));
    }
    // A dot at the end makes a name absolute.
    let labels = part.strip_suffix('.').unwrap_or(part);
    if part.is_empty() {
        return Ok(());
    }
    match labels.split('.').find(|label| !is_dns_label(label)) {
        Some(label) => Err(format!("domain name {name:?} invalid (label {label:?} invalid)")),
        None => Ok(()),
    }
}

pub(crate) fn ip(text: &str) -> Verdict {
    if is_ip(text) { Ok(()) } else { Err(format!("{text} is not a valid IP")) }
}

/// An address as Go reads it: IPv6 may name a zone.
pub(crate) fn is_ip(text: &str) -> bool {
    match text.split_once('%') {
        Some((address, zone)) => {
            !zone.is_empty() && address.contains(':') && address.parse::<IpAddr>().is_ok()
        }
        None => text.parse::<IpAddr>().is_ok(),
    }
}

/// An address, or a block of them in CIDR notation.
pub(crate) fn subnet(text: &str) -> Verdict {
    if text.matches('/').count() != 1 {
        return ip(text);
    }
    if is_cidr(text) { Ok(()) } else { Err(format!("{text} is not a valid CIDR block")) }
}

pub(crate) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let plain =
        length == "0" || (!length.starts_with('0') && length.bytes().all(|byte| byte.is_ascii_digit()));
    plain && length.parse::<u8>().is_ok_and(|length| length <= most)
}

/// `*` must be alone or stand before a dot.
pub(crate) fn no_partial_wildcard(host: &str) -> Verdict {
    if host.contains('*') && host.len() != 1 && !host.starts_with("*.") {
        return Err(format!("partial wildcard {host:?} not allowed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names() {
        for good in ["a", "a.b.c", "a.b.", "x.1a"] {
            assert!(fqdn(good).is_ok(), "{good}");
        }
        for bad in ["", "*.a", "a..b", ".a", "a.1", "1.2.3.4", "a_b", &"a.".repeat(130)] {
            assert!(fqdn(bad).is_err(), "{bad}");
        }
        for good in ["*", "*.a.b", "*-x.a", "a.b"] {
            assert!(wildcard_domain(good).is_ok(), "{good}");
        }
        for bad in ["a.*", "*.*", "", "*.1"] {
            assert!(wildcard_domain(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses() {
        for good in ["1.2.3.4", "::1", "fe80::1%eth0", "10.0.0.0/8", "2001:1::1/64", "0.0.0.0/0"] {
            assert!(subnet(good).is_ok(), "{good}");
        }
        for bad in [
            "1.2.3",
            "01.2.3.4",
            "10.0.0.0/33",
            "10.0.0.0/08",
            "10.0.0.0/+8",
            "a/8",
            "1.2.3.4%x",
            "::1/129",
            "1/2/3",
        ] {
            assert!(subnet(bad).is_err(), "{bad}");
        }
    }
}
