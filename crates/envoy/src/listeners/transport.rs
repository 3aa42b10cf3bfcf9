//! The server's side of mutual TLS: certificates from the proxy's own secret server, clients of the mesh only.

use super::message::{any, flag, seconds};
use mizzen_mesh::config::MtlsMode;
use mizzen_proto::{
    envoy::{
        config::core::v3::{
            ApiConfigSource, ApiVersion, ConfigSource, GrpcService, TransportSocket,
            api_config_source::ApiType, config_source::ConfigSourceSpecifier, grpc_service, transport_socket,
        },
        extensions::transport_sockets::tls::v3::{
            CertificateValidationContext, CommonTlsContext, DownstreamTlsContext, SdsSecretConfig,
            TlsParameters,
            common_tls_context::{CombinedCertificateValidationContext, ValidationContextType},
            tls_parameters::TlsProtocol,
        },
        r#type::matcher::v3::{StringMatcher, string_matcher::MatchPattern},
    },
    istio::mesh::v1alpha1::{MeshConfig, mesh_config::tls_config},
};
use std::sync::Arc;

/// Certificates that the workload brings as files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Files {
    pub(super) certificate: Option<Arc<str>>,
    pub(super) key: Option<Arc<str>>,
    pub(super) root: Option<Arc<str>>,
}

const DEFAULT: &str = "default";
const ROOT: &str = "ROOTCA";

const CIPHERS: [&str; 6] = [
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-GCM-SHA256",
];

#[allow(deprecated, reason = "of the two forms of the clients' names it is the one that Istio sends")]
/// What a chain that terminates mutual TLS has as its transport; nothing where none is spoken. `peers`: metadata is
/// exchanged with the client ahead of what it sends.
pub(super) fn server(
    mesh: &MeshConfig,
    mode: MtlsMode,
    files: &Files,
    peers: bool,
) -> Option<TransportSocket> {
    if mode == MtlsMode::Disable {
        return None;
    }
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let asked = mesh.mesh_m_tls.as_ref();
    let newest_only =
        asked.is_some_and(|tls| tls.min_protocol_version == i32::from(tls_config::TlsProtocol::Tlsv13));
    let common = CommonTlsContext {
        alpn_protocols: owned(if peers {
            &["istio-peer-exchange", "h2", "http/1.1"]
        } else {
            &["h2", "http/1.1"]
        }),
        tls_params: Some(TlsParameters {
            cipher_suites: match asked {
                Some(tls) if !tls.cipher_suites.is_empty() => tls.cipher_suites.clone(),
                _ => owned(&CIPHERS),
            },
            tls_minimum_protocol_version: if newest_only { TlsProtocol::TlSv13 } else { TlsProtocol::TlSv12 }
                .into(),
            tls_maximum_protocol_version: TlsProtocol::TlSv13.into(),
            ..TlsParameters::default()
        }),
        tls_certificate_sds_secret_configs: vec![secret(match (&files.certificate, &files.key) {
            (Some(certificate), Some(key)) => format!("file-cert:{certificate}~{key}"),
            _ => DEFAULT.to_owned(),
        })],
        validation_context_type: Some(ValidationContextType::CombinedValidationContext(
            CombinedCertificateValidationContext {
                default_validation_context: Some(CertificateValidationContext {
                    match_subject_alt_names: trusted(mesh),
                    ..CertificateValidationContext::default()
                }),
                validation_context_sds_secret_config: Some(secret(match &files.root {
                    Some(root) => format!("file-root:{root}"),
                    None => ROOT.to_owned(),
                })),
                ..CombinedCertificateValidationContext::default()
            },
        )),
        ..CommonTlsContext::default()
    };
    let context = DownstreamTlsContext {
        common_tls_context: Some(common),
        require_client_certificate: flag(true),
        ..DownstreamTlsContext::default()
    };
    Some(TransportSocket {
        name: "envoy.transport_sockets.tls".to_owned(),
        config_type: Some(transport_socket::ConfigType::TypedConfig(any(&context))),
    })
}

/// Any identity of the mesh's trust domains.
fn trusted(mesh: &MeshConfig) -> Vec<StringMatcher> {
    let others = mesh.ca_certificates.iter().flat_map(|certificate| &certificate.trust_domains);
    let domains = std::iter::once(&mesh.trust_domain).chain(&mesh.trust_domain_aliases).chain(others);
    let mut prefixes: Vec<String> = Vec::new();
    for domain in domains.filter(|domain| !domain.is_empty()) {
        let prefix = format!("spiffe://{domain}/");
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    let matcher = |prefix| StringMatcher {
        match_pattern: Some(MatchPattern::Prefix(prefix)),
        ..StringMatcher::default()
    };
    prefixes.into_iter().map(matcher).collect()
}

/// The agent's own are waited for as long as it takes.
fn secret(name: String) -> SdsSecretConfig {
    let of_agent = matches!(name.as_str(), DEFAULT | ROOT);
    let target =
        grpc_service::EnvoyGrpc { cluster_name: "sds-grpc".to_owned(), ..grpc_service::EnvoyGrpc::default() };
    let source = ApiConfigSource {
        api_type: ApiType::Grpc.into(),
        transport_api_version: ApiVersion::V3.into(),
        grpc_services: vec![GrpcService {
            target_specifier: Some(grpc_service::TargetSpecifier::EnvoyGrpc(target)),
            ..GrpcService::default()
        }],
        set_node_on_first_message_only: true,
        ..ApiConfigSource::default()
    };
    SdsSecretConfig {
        name,
        sds_config: Some(ConfigSource {
            initial_fetch_timeout: if of_agent { seconds(0) } else { None },
            resource_api_version: ApiVersion::V3.into(),
            config_source_specifier: Some(ConfigSourceSpecifier::ApiConfigSource(source)),
            ..ConfigSource::default()
        }),
    }
}
