//! Access logs as the mesh configuration asks for them: a file as text or JSON, and Envoy's log service.

use super::{message::any, sorted};
use mizzen_proto::{
    envoy::{
        config::{
            accesslog::v3::{
                AccessLog, AccessLogFilter, ResponseFlagFilter, access_log,
                access_log_filter::FilterSpecifier,
            },
            core::v3::{
                ApiVersion, DataSource, GrpcService, JsonFormatOptions, SubstitutionFormatString,
                TypedExtensionConfig, data_source, grpc_service, substitution_format_string::Format,
            },
        },
        extensions::{
            access_loggers::{
                file::v3::{FileAccessLog, file_access_log::AccessLogFormat},
                grpc::v3::{CommonGrpcAccessLogConfig, HttpGrpcAccessLogConfig, TcpGrpcAccessLogConfig},
            },
            formatter::req_without_query::v3::ReqWithoutQuery,
        },
    },
    google::protobuf::Any,
    istio::mesh::v1alpha1::{MeshConfig, mesh_config::AccessLogEncoding},
};
use prost::Name;
use serde_json::{Map, Value};

/// The log entries of one proxy's filters, ready to be put in.
#[derive(Clone, Debug, Default)]
pub(super) struct AccessLogs {
    pub(super) http: Vec<AccessLog>,
    pub(super) tcp: Vec<AccessLog>,
    /// Of listeners: only connections that no filter chain took.
    pub(super) listener: Vec<AccessLog>,
}

impl AccessLogs {
    pub(super) fn new(mesh: &MeshConfig) -> Self {
        let mut logs = Self::default();
        if !mesh.access_log_file.is_empty() {
            let file = file(mesh);
            logs.http.push(file.clone());
            logs.tcp.push(file.clone());
            logs.listener.push(AccessLog { filter: Some(no_chain()), ..file });
        }
        if mesh.enable_envoy_access_log_service {
            let http = HttpGrpcAccessLogConfig {
                common_config: Some(service("http_envoy_accesslog")),
                ..HttpGrpcAccessLogConfig::default()
            };
            logs.http.push(entry("envoy.access_loggers.http_grpc", any(&http)));
            logs.tcp.push(entry("envoy.tcp_grpc_access_log", any(&tcp("tcp_envoy_accesslog"))));
            logs.listener.push(AccessLog {
                filter: Some(no_chain()),
                ..entry("envoy.tcp_grpc_access_log", any(&tcp("listener_envoy_accesslog")))
            });
        }
        if mesh.disable_envoy_listener_log {
            logs.listener.clear();
        }
        logs
    }
}

fn entry(name: &str, config: Any) -> AccessLog {
    AccessLog {
        name: name.to_owned(),
        filter: None,
        config_type: Some(access_log::ConfigType::TypedConfig(config)),
    }
}

fn no_chain() -> AccessLogFilter {
    let flags = ResponseFlagFilter { flags: vec!["NR".to_owned()] };
    AccessLogFilter { filter_specifier: Some(FilterSpecifier::ResponseFlagFilter(flags)) }
}

/// The peers as metadata exchange writes them down, under their new names and their old ones.
const PEERS: [&str; 6] = [
    "upstream_peer",
    "downstream_peer",
    "wasm.upstream_peer",
    "wasm.upstream_peer_id",
    "wasm.downstream_peer",
    "wasm.downstream_peer_id",
];

fn service(log: &str) -> CommonGrpcAccessLogConfig {
    let target = grpc_service::EnvoyGrpc {
        cluster_name: "envoy_accesslog_service".to_owned(),
        ..grpc_service::EnvoyGrpc::default()
    };
    CommonGrpcAccessLogConfig {
        log_name: log.to_owned(),
        grpc_service: Some(GrpcService {
            target_specifier: Some(grpc_service::TargetSpecifier::EnvoyGrpc(target)),
            ..GrpcService::default()
        }),
        transport_api_version: ApiVersion::V3.into(),
        filter_state_objects_to_log: PEERS.map(str::to_owned).into(),
        ..CommonGrpcAccessLogConfig::default()
    }
}

fn tcp(log: &str) -> TcpGrpcAccessLogConfig {
    TcpGrpcAccessLogConfig { common_config: Some(service(log)) }
}

const TEXT: &str = "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" %RESPONSE_CODE% \
    %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% \"%UPSTREAM_TRANSPORT_FAILURE_REASON%\" \
    %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \
    \"%REQ(USER-AGENT)%\" \"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\" %UPSTREAM_CLUSTER_RAW% \
    %UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REQUESTED_SERVER_NAME% \
    %ROUTE_NAME%\n";

const FIELDS: [(&str, &str); 24] = [
    ("authority", "%REQ(:AUTHORITY)%"),
    ("bytes_received", "%BYTES_RECEIVED%"),
    ("bytes_sent", "%BYTES_SENT%"),
    ("connection_termination_details", "%CONNECTION_TERMINATION_DETAILS%"),
    ("downstream_local_address", "%DOWNSTREAM_LOCAL_ADDRESS%"),
    ("downstream_remote_address", "%DOWNSTREAM_REMOTE_ADDRESS%"),
    ("duration", "%DURATION%"),
    ("method", "%REQ(:METHOD)%"),
    ("path", "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%"),
    ("protocol", "%PROTOCOL%"),
    ("request_id", "%REQ(X-REQUEST-ID)%"),
    ("requested_server_name", "%REQUESTED_SERVER_NAME%"),
    ("response_code", "%RESPONSE_CODE%"),
    ("response_code_details", "%RESPONSE_CODE_DETAILS%"),
    ("response_flags", "%RESPONSE_FLAGS%"),
    ("route_name", "%ROUTE_NAME%"),
    ("start_time", "%START_TIME%"),
    ("upstream_cluster", "%UPSTREAM_CLUSTER_RAW%"),
    ("upstream_host", "%UPSTREAM_HOST%"),
    ("upstream_local_address", "%UPSTREAM_LOCAL_ADDRESS%"),
    ("upstream_service_time", "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%"),
    ("upstream_transport_failure_reason", "%UPSTREAM_TRANSPORT_FAILURE_REASON%"),
    ("user_agent", "%REQ(USER-AGENT)%"),
    ("x_forwarded_for", "%REQ(X-FORWARDED-FOR)%"),
];

fn file(mesh: &MeshConfig) -> AccessLog {
    let path = mesh.access_log_file.clone();
    let config = match AccessLogEncoding::try_from(mesh.access_log_encoding) {
        Ok(AccessLogEncoding::Json) => {
            any(&JsonFile { path, log_format: Some(json_format(&mesh.access_log_format)) })
        }
        _ => any(&FileAccessLog {
            path,
            access_log_format: Some(AccessLogFormat::LogFormat(text_format(&mesh.access_log_format))),
        }),
    };
    entry("envoy.access_loggers.file", config)
}

/// One line for each request: a format that does not end its line gets an end.
fn text_format(format: &str) -> SubstitutionFormatString {
    let text = match format {
        "" => TEXT.to_owned(),
        format if format.ends_with('\n') => format.to_owned(),
        format => format!("{format}\n"),
    };
    SubstitutionFormatString {
        formatters: formatters(&text),
        format: Some(Format::TextFormatSource(DataSource {
            specifier: Some(data_source::Specifier::InlineString(text)),
            ..DataSource::default()
        })),
        ..SubstitutionFormatString::default()
    }
}

/// [`FileAccessLog`] with a map that is written in order.
#[derive(Clone, PartialEq, prost::Message)]
struct JsonFile {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(message, optional, tag = "5")]
    log_format: Option<JsonFormat>,
}

impl Name for JsonFile {
    const NAME: &'static str = FileAccessLog::NAME;
    const PACKAGE: &'static str = FileAccessLog::PACKAGE;

    fn type_url() -> String {
        FileAccessLog::type_url()
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct JsonFormat {
    #[prost(message, optional, tag = "2")]
    json_format: Option<sorted::Struct>,
    #[prost(message, repeated, tag = "6")]
    formatters: Vec<TypedExtensionConfig>,
    #[prost(message, optional, tag = "7")]
    json_format_options: Option<JsonFormatOptions>,
}

fn json_format(format: &str) -> JsonFormat {
    let asked = if format.is_empty() { None } else { read_object(format) };
    let fields = asked.unwrap_or_else(|| {
        FIELDS.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value.to_owned()))).collect()
    });
    // Only what stands at the top is looked at.
    let texts = fields.values().filter_map(Value::as_str);
    JsonFormat {
        formatters: texts.map(formatters).find(|formatters| !formatters.is_empty()).unwrap_or_default(),
        json_format: Some(sorted::Struct::new(&fields)),
        json_format_options: Some(JsonFormatOptions::default()),
    }
}

fn read_object(format: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(format)
        .inspect_err(|error| tracing::warn!("accessLogFormat is no JSON object, the default holds: {error}"))
        .ok()
}

const WITHOUT_QUERY: &str = "%REQ_WITHOUT_QUERY";

/// The commands of a format that Envoy has as extensions.
fn formatters(format: &str) -> Vec<TypedExtensionConfig> {
    if !format.contains(WITHOUT_QUERY) {
        return Vec::new();
    }
    vec![TypedExtensionConfig {
        name: "envoy.formatter.req_without_query".to_owned(),
        typed_config: Some(any(&ReqWithoutQuery::default())),
    }]
}
