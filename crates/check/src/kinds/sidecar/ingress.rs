//! Where the proxy listens for traffic to its workload.

use crate::{
    Findings,
    parts::{connection_pool, server_tls},
    value::{Verdict, host, number, protocol, unix_socket},
};
use mizzen_api::proto::istio::networking::v1alpha3::{
    IstioIngressListener, ServerTlsSettings, SidecarPort, server_tls_settings::TlSmode,
};
use mizzen_text::At;
use std::collections::BTreeSet;

/// The workload is behind the proxy, on the same machine.
const LOCAL: &[&str] = &["", "127.0.0.1", "0.0.0.0", "::1", "::"];

pub(super) fn check(listeners: &[IstioIngressListener], at: &At<'_>, found: &mut Findings) {
    let mut ports = BTreeSet::new();
    for (index, listener) in listeners.iter().enumerate() {
        let at = at.index(index);
        let Some(port) = &listener.port else {
            found.error(&at.field("port"), "sidecar: port is required for ingress listeners");
            continue;
        };
        let port_at = at.field("port");
        super::port(port, &port_at, found);
        found.verdict(&port_at.field("number"), number::port(port.number));
        if !ports.insert(port.number) {
            found.error(&port_at.field("number"), super::NOT_UNIQUE);
        }
        if !listener.bind.is_empty() {
            found.verdict(&at.field("bind"), host::ip(&listener.bind));
        }
        if !listener.default_endpoint.is_empty() {
            found.verdict(&at.field("defaultEndpoint"), default_endpoint(&listener.default_endpoint));
        }
        if let Some(settings) = &listener.tls {
            tls(settings, port, &at.field("tls"), found);
        }
        if let Some(pool) = &listener.connection_pool {
            let at = at.field("connectionPool");
            connection_pool::check(pool, &at, found);
            if pool.http.is_some() && !protocol::is_http(&port.protocol) {
                found.warning(
                    &at.field("http"),
                    format!(
                        "sidecar: HTTP connection pool settings are configured for port {} ({:?}) but its protocol is \
                         not HTTP ({}); only TCP settings will apply",
                        port.number, port.name, port.protocol
                    ),
                );
            }
        }
    }
}

fn tls(tls: &ServerTlsSettings, port: &SidecarPort, at: &At<'_>, found: &mut Findings) {
    for (field, set) in [
        ("subjectAltNames", !tls.subject_alt_names.is_empty()),
        ("httpsRedirect", tls.https_redirect),
        ("credentialName", !tls.credential_name.is_empty()),
        ("credentialNames", !tls.credential_names.is_empty()),
        ("tlsCertificates", !tls.tls_certificates.is_empty()),
    ] {
        if set {
            found.error(&at.field(field), format!("sidecar: {field} is not supported in ingress tls"));
        }
    }
    if matches!(tls.mode(), TlSmode::IstioMutual | TlSmode::AutoPassthrough) {
        let mode = tls.mode().as_str_name();
        found.error(
            &at.field("mode"),
            format!("configuration is invalid: cannot set mode to {mode} in sidecar ingress tls"),
        );
    }
    if !protocol::is_tls(&port.protocol) {
        found.error(at, "server cannot have TLS settings for non HTTPS/TLS ports");
    }
    server_tls::check(tls, at, found);
}

fn default_endpoint(endpoint: &str) -> Verdict {
    if unix_socket::is_one(endpoint) {
        return unix_socket::address(endpoint);
    }
    let (host, port) = split_host_port(endpoint).ok_or_else(|| form(endpoint))?;
    if !LOCAL.contains(&host) {
        return Err(form(endpoint));
    }
    // Signs are read, as Go does; what is out of range of the type is out of range of ports, too.
    match port.parse::<i64>() {
        Ok(number) => number::port(u32::try_from(number).unwrap_or_default()),
        Err(_) => Err(format!("sidecar: defaultEndpoint port ({port}) is not a number")),
    }
}

fn form(endpoint: &str) -> String {
    format!(
        "sidecar: defaultEndpoint must be of form 127.0.0.1:<port>, 0.0.0.0:<port>, [::1]:<port>, [::]:<port>, \
         unix://<path> or unset, not {endpoint:?}"
    )
}

/// `host:port` or `[address]:port`.
fn split_host_port(text: &str) -> Option<(&str, &str)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    let plain = |part: &str| !part.contains(['[', ']']);
    (plain(host) && plain(port)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::default_endpoint;

    #[test]
    fn the_workload_is_on_the_same_machine() {
        for good in ["127.0.0.1:80", ":80", "[::1]:1", "[::]:65535", "0.0.0.0:+80", "unix:///a", "unix://@a"]
        {
            assert_eq!(default_endpoint(good), Ok(()), "{good}");
        }
        for bad in [
            "1.2.3.4:80",
            "127.0.0.1",
            "127.0.0.1:",
            "127.0.0.1:x",
            ":0",
            ":65536",
            ":-1",
            ":99999999999999999999",
            "::1:80",
            "[::1]",
            "[::1]80",
            "[[::1]]:80",
            "]:80",
            "localhost:80",
            "unix://a",
        ] {
            assert!(default_endpoint(bad).is_err(), "{bad}");
        }
    }
}
