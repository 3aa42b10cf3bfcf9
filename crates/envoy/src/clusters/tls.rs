//! Encryption to a cluster's hosts: as a DestinationRule orders it, else mutual TLS with those hosts that have a
//! sidecar (auto mTLS).

use super::{Client, draft::Draft};
use crate::{
    message::{DEFAULT_SECRET, ROOT_SECRET, agent_secret, from_ads, raw_buffer, transport_socket},
    policy::Policy,
};
use mizzen_mesh::{ProxyKind, Registry, Service, config::MtlsMode};
use mizzen_proto::{
    envoy::{
        config::{
            cluster::v3::cluster::TransportSocketMatch,
            core::v3::{DataSource, ProxyProtocolConfig, TransportSocket, data_source::Specifier},
        },
        extensions::transport_sockets::{
            proxy_protocol::v3::ProxyProtocolUpstreamTransport,
            tls::v3::{
                CertificateValidationContext, CommonTlsContext, SdsSecretConfig, TlsParameters,
                UpstreamTlsContext,
                common_tls_context::{CombinedCertificateValidationContext, ValidationContextType},
                tls_parameters::TlsProtocol,
            },
        },
        r#type::matcher::v3::{StringMatcher, string_matcher::MatchPattern},
    },
    google::protobuf::{Struct, Value, value::Kind},
    istio::networking::v1alpha3::{
        ClientTlsSettings, client_tls_settings::TlSmode, traffic_policy::ProxyProtocol,
    },
};
use std::borrow::Cow;

/// A cluster's side of the question.
pub(super) struct Server<'a> {
    pub service: &'a Service,
    /// What its workloads want, as far as it is known of the whole service. Nothing is known of services outside of the
    /// mesh.
    pub wants: Option<MtlsMode>,
    /// The names that its certificates may have.
    pub accounts: &'a [String],
    /// Of the cluster.
    pub sni: &'a str,
    /// The rule is for chosen workloads.
    pub rule_has_selector: bool,
}

pub(super) fn apply(draft: &mut Draft, client: &Client, server: &Server<'_>, policy: &Policy<'_>) {
    let Some((settings, by_itself)) = settings(client, server, policy) else { return };
    let Some(context) = context(draft, client, server, &settings) else { return };
    let socket = transport_socket("envoy.transport_sockets.tls", &context);
    // Hosts cannot be told apart where the client says which one it wants.
    if by_itself && !draft.is_original_destination() {
        draft.cluster.transport_socket_matches = vec![
            TransportSocketMatch {
                name: "tlsMode-istio".to_owned(),
                r#match: Some(tls_mode("istio")),
                transport_socket: Some(socket),
            },
            TransportSocketMatch {
                name: "tlsMode-disabled".to_owned(),
                r#match: Some(Struct::default()),
                transport_socket: Some(raw_buffer()),
            },
        ];
    } else {
        draft.cluster.transport_socket = Some(socket);
    }
}

fn tls_mode(mode: &str) -> Struct {
    let value = Value { kind: Some(Kind::StringValue(mode.to_owned())) };
    Struct { fields: [("tlsMode".to_owned(), value)].into() }
}

/// The settings that hold, and whether they are of auto mTLS.
fn settings<'a>(
    client: &Client,
    server: &Server<'_>,
    policy: &Policy<'a>,
) -> Option<(Cow<'a, ClientTlsSettings>, bool)> {
    let Some(said) = policy.tls else {
        let auto = client.mesh.enable_auto_mtls.unwrap_or_default();
        if server.service.external || !auto || server.wants.is_none_or(|wants| wants == MtlsMode::Disable) {
            return None;
        }
        let settings = ClientTlsSettings {
            mode: TlSmode::IstioMutual.into(),
            sni: server.sni.to_owned(),
            subject_alt_names: server.accounts.to_vec(),
            ..ClientTlsSettings::default()
        };
        return Some((Cow::Owned(from_disk(client, settings)), true));
    };
    let mode = policy.tls_mode();
    if matches!(mode, TlSmode::Disable | TlSmode::Simple) {
        return Some((Cow::Borrowed(said), false));
    }
    if client.certificates.is_some() {
        // What is outside of the mesh may trust somebody else.
        let settings = if server.service.external {
            Cow::Borrowed(said)
        } else {
            Cow::Owned(from_disk(
                client,
                ClientTlsSettings {
                    sni: said.sni.clone(),
                    subject_alt_names: said.subject_alt_names.clone(),
                    insecure_skip_verify: said.insecure_skip_verify,
                    ..ClientTlsSettings::default()
                },
            ))
        };
        return Some((settings, false));
    }
    if mode == TlSmode::Mutual {
        return Some((Cow::Borrowed(said), false));
    }
    let pick = |said: &str, own: &str| if said.is_empty() { own.to_owned() } else { said.to_owned() };
    let names = if said.subject_alt_names.is_empty() { server.accounts } else { &said.subject_alt_names };
    let settings = ClientTlsSettings {
        mode: mode.into(),
        sni: pick(&said.sni, server.sni),
        subject_alt_names: names.to_vec(),
        insecure_skip_verify: said.insecure_skip_verify,
        ..ClientTlsSettings::default()
    };
    Some((Cow::Owned(settings), false))
}

/// With the certificates of the proxy's disk, if it has such.
fn from_disk(client: &Client, settings: ClientTlsSettings) -> ClientTlsSettings {
    match &client.certificates {
        None => settings,
        Some(own) => ClientTlsSettings {
            mode: TlSmode::Mutual.into(),
            client_certificate: own.chain.to_string(),
            private_key: own.key.to_string(),
            ca_certificates: own.root.to_string(),
            ..settings
        },
    }
}

fn context(
    draft: &mut Draft,
    client: &Client,
    server: &Server<'_>,
    settings: &ClientTlsSettings,
) -> Option<UpstreamTlsContext> {
    let common = match TlSmode::try_from(settings.mode).ok()? {
        TlSmode::Disable => return None,
        TlSmode::IstioMutual => of_mesh(draft, client, settings),
        mode => {
            // A secret of the control plane is not for every sidecar that a rule happens to reach.
            let secret =
                !settings.credential_name.is_empty() && !settings.credential_name.starts_with("configmap://");
            if secret && client.kind == ProxyKind::Sidecar && !server.rule_has_selector {
                return None;
            }
            of_user(draft, client, server, settings, mode == TlSmode::Mutual)?
        }
    };
    Some(UpstreamTlsContext {
        common_tls_context: Some(common),
        sni: settings.sni.clone(),
        ..UpstreamTlsContext::default()
    })
}

fn parameters() -> TlsParameters {
    TlsParameters {
        tls_minimum_protocol_version: TlsProtocol::TlSv12.into(),
        tls_maximum_protocol_version: TlsProtocol::TlSv13.into(),
        ..TlsParameters::default()
    }
}

fn of_mesh(draft: &mut Draft, client: &Client, settings: &ClientTlsSettings) -> CommonTlsContext {
    // `istio` tells the other sidecar that its own kind is calling.
    let exchange = client.exchange.then_some("istio-peer-exchange");
    let http2 = draft.http2().is_some().then_some("h2");
    let offers = exchange.into_iter().chain(["istio"]).chain(http2);
    CommonTlsContext {
        tls_params: Some(parameters()),
        alpn_protocols: offers.map(str::to_owned).collect(),
        tls_certificate_sds_secret_configs: vec![agent_secret(DEFAULT_SECRET)],
        validation_context_type: Some(combined(settings, agent_secret(ROOT_SECRET), None)),
        ..CommonTlsContext::default()
    }
}

fn of_user(
    draft: &mut Draft,
    client: &Client,
    server: &Server<'_>,
    settings: &ClientTlsSettings,
    mutual: bool,
) -> Option<CommonTlsContext> {
    let unchecked = settings.insecure_skip_verify == Some(true);
    // A rule without names is about the service that it is for: its entry may name them.
    let with_names;
    let named = if server.service.registry == Registry::External && settings.subject_alt_names.is_empty() {
        with_names = ClientTlsSettings { subject_alt_names: server.accounts.to_vec(), ..settings.clone() };
        &with_names
    } else {
        settings
    };
    let (certificate, validation) = if settings.credential_name.is_empty() {
        from_files(named, mutual, unchecked)?
    } else {
        let credential = &settings.credential_name;
        let certificate = mutual.then(|| control_plane_secret(credential, ""));
        let validation =
            (!unchecked).then(|| combined(named, control_plane_secret(credential, "-cacert"), None));
        (certificate, validation)
    };
    if settings.sni.is_empty() {
        let options = draft.http().upstream_http_protocol_options.get_or_insert_default();
        options.auto_sni = true;
        options.auto_san_validation = settings.subject_alt_names.is_empty() && !unchecked;
    }
    let mut params = parameters();
    if let Some(defaults) = &client.mesh.tls_defaults {
        params.ecdh_curves.clone_from(&defaults.ecdh_curves);
        params.cipher_suites.clone_from(&defaults.cipher_suites);
    }
    Some(CommonTlsContext {
        tls_params: Some(params),
        alpn_protocols: draft.http2().map(|_| "h2".to_owned()).into_iter().collect(),
        tls_certificate_sds_secret_configs: certificate.into_iter().collect(),
        validation_context_type: validation,
        ..CommonTlsContext::default()
    })
}

/// Files of the proxy's pod, which its agent reads and watches. Mutual TLS without both of its files cannot be.
fn from_files(
    settings: &ClientTlsSettings,
    mutual: bool,
    unchecked: bool,
) -> Option<(Option<SdsSecretConfig>, Option<ValidationContextType>)> {
    let certificate = if mutual {
        let ClientTlsSettings { client_certificate, private_key, .. } = settings;
        if client_certificate.is_empty() || private_key.is_empty() {
            tracing::debug!("mutual TLS without a client certificate and its key is left out");
            return None;
        }
        Some(agent_secret(&format!("file-cert:{client_certificate}~{private_key}")))
    } else {
        None
    };
    let validation = if unchecked {
        ValidationContextType::ValidationContext(CertificateValidationContext::default())
    } else {
        let root = if settings.ca_certificates.is_empty() { "system" } else { &settings.ca_certificates };
        let revoked = (!settings.ca_crl.is_empty()).then(|| settings.ca_crl.clone());
        combined(settings, agent_secret(&format!("file-root:{root}")), revoked)
    };
    Some((certificate, Some(validation)))
}

fn combined(
    settings: &ClientTlsSettings,
    root: SdsSecretConfig,
    revoked: Option<String>,
) -> ValidationContextType {
    let exact = |name: &String| StringMatcher {
        match_pattern: Some(MatchPattern::Exact(name.clone())),
        ..StringMatcher::default()
    };
    #[allow(deprecated, reason = "Istio sets these names without their kind")]
    let names = CertificateValidationContext {
        match_subject_alt_names: settings.subject_alt_names.iter().map(exact).collect(),
        crl: revoked
            .map(|path| DataSource { specifier: Some(Specifier::Filename(path)), ..DataSource::default() }),
        ..CertificateValidationContext::default()
    };
    ValidationContextType::CombinedValidationContext(CombinedCertificateValidationContext {
        default_validation_context: Some(names),
        validation_context_sds_secret_config: Some(root),
        ..CombinedCertificateValidationContext::default()
    })
}

/// A secret that comes from the control plane. Nothing waits for it: it may never come.
fn control_plane_secret(credential: &str, suffix: &str) -> SdsSecretConfig {
    const BUILTIN: &str = "builtin://";
    const KINDS: [&str; 3] = ["kubernetes://", "kubernetes-gateway://", "configmap://"];
    if credential == BUILTIN {
        return agent_secret(if suffix.is_empty() { DEFAULT_SECRET } else { ROOT_SECRET });
    }
    let credential = credential.strip_prefix("sds://").unwrap_or(credential);
    let kind = if KINDS.iter().any(|kind| credential.starts_with(kind)) { "" } else { "kubernetes://" };
    SdsSecretConfig { name: format!("{kind}{credential}{suffix}"), sds_config: Some(from_ads()) }
}

/// The client's address goes ahead of everything else.
pub(super) fn announce(draft: &mut Draft, protocol: ProxyProtocol) {
    let wrap = |inner: TransportSocket| {
        let config = ProxyProtocolConfig { version: protocol.version, ..ProxyProtocolConfig::default() };
        let transport = ProxyProtocolUpstreamTransport {
            config: Some(config),
            transport_socket: Some(inner),
            ..ProxyProtocolUpstreamTransport::default()
        };
        transport_socket("envoy.transport_sockets.upstream_proxy_protocol", &transport)
    };
    let cluster = &mut draft.cluster;
    if cluster.transport_socket_matches.is_empty() {
        let inner = cluster.transport_socket.take().unwrap_or_else(raw_buffer);
        cluster.transport_socket = Some(wrap(inner));
    }
    for matched in &mut cluster.transport_socket_matches {
        matched.transport_socket = matched.transport_socket.take().map(wrap);
    }
}
