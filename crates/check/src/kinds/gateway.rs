//! Gateway: servers on ports, with hosts and TLS.

use crate::{
    Findings,
    parts::server_tls,
    value::{
        host::ip,
        label::is_dns_label,
        number::port as port_number,
        protocol,
        scoped_host::{HostOf, scoped_host},
        unix_socket,
    },
};
use mizzen_api::{
    Metadata,
    proto::istio::networking::v1alpha3::{Gateway, Port, Server, server_tls_settings::TlSmode},
};
use mizzen_text::At;
use std::collections::BTreeSet;

/// Written by Istio on a Gateway that it makes from one of the Gateway API's.
const SEMANTICS: &str = "internal.istio.io/gateway-semantics";

pub(crate) fn check(metadata: &Metadata, spec: &Gateway, found: &mut Findings) {
    let hosts_of = if metadata.annotations.get(SEMANTICS).is_some_and(|value| value == "gateway") {
        HostOf::ConvertedGateway
    } else {
        HostOf::Gateway
    };
    if hosts_of == HostOf::Gateway && !is_dns_label(&metadata.name) {
        let at = At::TOP.field("metadata");
        found.error(
            &at.field("name"),
            format!("invalid gateway name: {:?} must be a DNS label, without dots", metadata.name),
        );
    }
    let at = At::TOP.field("spec");
    let at = at.field("servers");
    if spec.servers.is_empty() {
        found.error(&at, "gateway must have at least one server");
    }
    let mut names = BTreeSet::new();
    for (index, one) in spec.servers.iter().enumerate() {
        let at = at.index(index);
        server(one, hosts_of, &at, found);
        let Some(port) = &one.port else { continue };
        if !names.insert(&port.name) {
            let at = at.field("port");
            found.error(
                &at.field("name"),
                format!("port names in servers must be unique: duplicate name {}", port.name),
            );
        }
        if one.tls.as_ref().is_some_and(|tls| tls.https_redirect) && !protocol::is_http(&port.protocol) {
            let at = at.field("tls");
            found.warning(
                &at.field("httpsRedirect"),
                "tls.httpsRedirect should only be used with http servers",
            );
        }
    }
}

fn server(server: &Server, hosts_of: HostOf, at: &At<'_>, found: &mut Findings) {
    let hosts = at.field("hosts");
    if server.hosts.is_empty() {
        found.error(&hosts, "server config must contain at least one host");
    }
    for (index, host) in server.hosts.iter().enumerate() {
        found.verdict(&hosts.index(index), scoped_host(hosts_of, host));
    }
    let good_port = match &server.port {
        Some(port) => check_port(port, &server.bind, &at.field("port"), found),
        None => {
            found.error(&at.field("port"), "port is required");
            false
        }
    };
    bind(server, at, found);
    if let Some(tls) = &server.tls {
        server_tls::check(tls, &at.field("tls"), found);
    }
    if good_port {
        tls_fits_port(server, at, found);
    }
}

/// Whether it is one.
fn check_port(port: &Port, bind: &str, at: &At<'_>, found: &mut Findings) -> bool {
    let mut own = Findings::default();
    if !protocol::is_known(&port.protocol) {
        own.error(
            &at.field("protocol"),
            format!(
                "invalid protocol {:?}, supported protocols are HTTP, HTTPS, HTTP2, GRPC, GRPC-WEB, TLS, TCP, MONGO, REDIS, MYSQL",
                port.protocol
            ),
        );
    }
    if port.number > 0 || !unix_socket::is_one(bind) {
        own.verdict(&at.field("number"), port_number(port.number));
    }
    if port.target_port > 0 {
        own.error(&at.field("targetPort"), "targetPort has no impact on Gateways; remove it");
    }
    if port.name.is_empty() {
        own.error(&at.field("name"), "port name must be set");
    }
    let good = own.accepted();
    found.extend(own);
    good
}

fn bind(server: &Server, at: &At<'_>, found: &mut Findings) {
    let bind = at.field("bind");
    if unix_socket::is_one(&server.bind) {
        found.verdict(&bind, unix_socket::address(&server.bind));
        if server.port.as_ref().is_some_and(|port| port.number != 0) {
            found.error(&at.field("port").field("number"), "port number must be 0 for unix domain socket");
        }
    } else if !server.bind.is_empty() {
        found.verdict(&bind, ip(&server.bind));
    }
}

/// TLS settings belong to ports with TLS; on a port with plain HTTP they can only redirect.
fn tls_fits_port(server: &Server, at: &At<'_>, found: &mut Findings) {
    let name = server.port.as_ref().map_or("", |port| port.protocol.as_str());
    let at = at.field("tls");
    match &server.tls {
        None if protocol::is_tls(name) => {
            found.error(&at, "server must have TLS settings for HTTPS/TLS protocols");
        }
        Some(tls) if protocol::is_http(name) => {
            let terminates = !matches!(tls.mode(), TlSmode::Passthrough | TlSmode::AutoPassthrough);
            let files = [&tls.ca_certificates, &tls.private_key, &tls.server_certificate];
            if terminates || files.into_iter().any(|file| !file.is_empty()) {
                found.error(
                    &at,
                    "server cannot have TLS settings for plain text HTTP ports (other than httpsRedirect)",
                );
            }
        }
        Some(_) if !protocol::is_tls(name) => {
            found.error(&at, "server cannot have TLS settings for non HTTPS/TLS ports");
        }
        _ => {}
    }
}
