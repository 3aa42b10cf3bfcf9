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

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "json! is read more easily without a & before it")]
mod tests {
    use super::super::tests::{accepted, accepted_with, refused, refused_with, warned};
    use serde_json::{Value, json};

    fn server(change: Value) -> Value {
        let mut server = json!({"port": {"number": 80, "protocol": "HTTP", "name": "web"}, "hosts": ["*"]});
        for (field, value) in change.as_object().unwrap() {
            server[field] = value.clone();
        }
        json!({"servers": [server]})
    }

    /// A server with TLS that needs certificates.
    fn secure(tls: Value) -> Value {
        server(json!({"port": {"number": 443, "protocol": "HTTPS", "name": "web"}, "tls": tls}))
    }

    #[test]
    fn every_wrong_field_of_a_server_is_told() {
        refused("Gateway", json!({}), &["spec.servers"]);
        for (change, at) in [
            (json!({"hosts": []}), &["spec.servers[0].hosts"][..]),
            (
                json!({"hosts": ["a.b", "a", "*-a.b"]}),
                &["spec.servers[0].hosts[1]", "spec.servers[0].hosts[2]"],
            ),
            (json!({"port": null}), &["spec.servers[0].port"]),
            (
                json!({"port": {"number": 0, "protocol": "smoke", "targetPort": 1}}),
                &[
                    "spec.servers[0].port.protocol",
                    "spec.servers[0].port.number",
                    "spec.servers[0].port.targetPort",
                    "spec.servers[0].port.name",
                ],
            ),
            (json!({"bind": "here"}), &["spec.servers[0].bind"]),
            (json!({"bind": "unix://a"}), &["spec.servers[0].bind", "spec.servers[0].port.number"]),
        ] {
            refused("Gateway", server(change), at);
        }
        for change in [
            json!({"hosts": ["ns/a.b", "1.2.3.4"]}),
            json!({"bind": "::1"}),
            json!({"bind": "unix:///a", "port": {"protocol": "HTTP", "name": "web"}}),
        ] {
            accepted("Gateway", server(change));
        }
    }

    #[test]
    fn a_gateway_has_a_name_without_dots_but_for_those_that_istio_makes() {
        let named = json!({"name": "a.b"});
        refused_with("Gateway", &named, server(json!({})), &["metadata.name"]);
        let made = json!({"name": "a.b", "annotations": {super::SEMANTICS: "gateway"}});
        accepted_with("Gateway", &made, server(json!({"hosts": ["~/a.b"]})));
    }

    #[test]
    fn the_names_of_ports_are_unique() {
        let port = json!({"port": {"number": 80, "protocol": "HTTP", "name": "web"}, "hosts": ["*"]});
        refused("Gateway", json!({"servers": [port, port]}), &["spec.servers[1].port.name"]);
    }

    #[test]
    fn tls_settings_belong_to_ports_with_tls() {
        refused("Gateway", secure(json!(null)), &["spec.servers[0].tls"]);
        refused(
            "Gateway",
            server(json!({"tls": {"mode": "SIMPLE", "credentialName": "c"}})),
            &["spec.servers[0].tls"],
        );
        let tcp = json!({"number": 1, "protocol": "TCP", "name": "x"});
        refused("Gateway", server(json!({"port": tcp, "tls": {}})), &["spec.servers[0].tls"]);
        accepted("Gateway", server(json!({"tls": {"httpsRedirect": true}})));
        accepted("Gateway", secure(json!({"mode": "SIMPLE", "credentialName": "c"})));
    }

    #[test]
    fn certificates_come_from_one_place() {
        for (tls, at) in [
            (
                json!({"mode": "SIMPLE"}),
                &["spec.servers[0].tls.serverCertificate", "spec.servers[0].tls.privateKey"][..],
            ),
            (
                json!({"mode": "MUTUAL", "serverCertificate": "a", "privateKey": "b"}),
                &["spec.servers[0].tls.caCertificates"],
            ),
            (
                json!({"mode": "SIMPLE", "tlsCertificates": [{"serverCertificate": "a"}]}),
                &["spec.servers[0].tls.tlsCertificates[0].privateKey"],
            ),
            (
                json!({"mode": "SIMPLE", "credentialName": "a", "credentialNames": ["b"]}),
                &["spec.servers[0].tls"],
            ),
            (
                json!({"mode": "ISTIO_MUTUAL", "credentialName": "a", "privateKey": "b"}),
                &["spec.servers[0].tls.privateKey", "spec.servers[0].tls.credentialName"],
            ),
            (
                json!({"mode": "SIMPLE", "serverCertificate": "a", "privateKey": "b", "caCrl": "c"}),
                &["spec.servers[0].tls.caCrl"],
            ),
        ] {
            refused("Gateway", secure(tls), at);
        }
        accepted("Gateway", secure(json!({"mode": "SIMPLE", "credentialName": "a", "caCrl": "c"})));
        accepted("Gateway", secure(json!({"mode": "ISTIO_MUTUAL"})));
    }

    #[test]
    fn what_is_ignored_is_warned_of() {
        for (tls, at) in [
            (json!({"mode": "PASSTHROUGH", "credentialName": "a"}), &["spec.servers[0].tls"][..]),
            (
                json!({"mode": "ISTIO_MUTUAL", "minProtocolVersion": "TLSV1_0"}),
                &["spec.servers[0].tls.minProtocolVersion"],
            ),
            (
                json!({"mode": "ISTIO_MUTUAL", "cipherSuites": ["AES128-SHA", "AES128-SHA", "NONE", "-AES"]}),
                &["spec.servers[0].tls.cipherSuites", "spec.servers[0].tls.cipherSuites"],
            ),
            (json!({"mode": "ISTIO_MUTUAL", "httpsRedirect": true}), &["spec.servers[0].tls.httpsRedirect"]),
        ] {
            warned("Gateway", secure(tls), at);
        }
    }
}
