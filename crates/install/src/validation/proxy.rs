//! Lists in the proxies' values that are written as one text: address ranges and ports.

use std::net::{Ipv4Addr, Ipv6Addr};

use mizzen_text::At;
use serde_json::Value;

use super::{Findings, get};

const RANGES: &[&str] = &["includeIPRanges", "excludeIPRanges"];
const PORTS: &[&str] = &["includeInboundPorts", "excludeInboundPorts"];

pub(super) fn check(values: &Value, at: &At<'_>, found: &mut Findings) {
    let Some(proxy) = get(values, &["global", "proxy"]) else { return };
    let global = at.field("global");
    let at = global.field("proxy");
    let texts = |names: &[&'static str]| {
        names.iter().filter_map(|name| Some((*name, proxy.get(name)?.as_str()?))).collect::<Vec<_>>()
    };
    for (name, text) in texts(RANGES).into_iter().filter(|(_, text)| !matches!(*text, "" | "*")) {
        for range in text.split(',').filter(|range| !is_range(range)) {
            found.error(&at.field(name), format!("`{range}` is no range of addresses such as 10.0.0.0/8"));
        }
    }
    for (name, text) in texts(PORTS) {
        for port in text.split(',').filter(|port| !matches!(*port, "" | "*")) {
            match port.parse::<i32>() {
                Ok(0..=65535) => {}
                Ok(_) => {
                    found.error(&at.field(name), format!("`{port}` is no port: they go from 0 to 65535"));
                }
                Err(_) => found.error(&at.field(name), format!("`{port}` is no port")),
            }
        }
    }
}

fn is_range(text: &str) -> bool {
    let Some((address, bits)) = text.rsplit_once('/') else { return false };
    let longest = if address.parse::<Ipv4Addr>().is_ok() {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    let plain =
        bits.bytes().all(|digit| digit.is_ascii_digit()) && (bits.len() == 1 || !bits.starts_with('0'));
    plain && bits.parse::<u32>().is_ok_and(|bits| bits <= longest)
}

#[cfg(test)]
mod tests {
    use super::is_range;

    #[test]
    fn a_range_is_an_address_and_a_length() {
        for good in ["1.1.0.0/16", "0.0.0.0/0", "fd00::/8", "::/128"] {
            assert!(is_range(good), "{good}");
        }
        for bad in [
            "*",
            "",
            "1.1.0.0",
            "1.1.0.256/16",
            "1.2.3/16",
            "3.3.0.0/33",
            "1.1.1.1/08",
            "01.1.1.1/8",
            "::/129",
            " ::/1",
        ] {
            assert!(!is_range(bad), "{bad}");
        }
    }
}
