//! Extension providers: whom policies may name. Istio does not refuse a mesh for a bad one, for nobody may use it; it
//! writes a line into its log. Here it is a warning.

use crate::{
    Findings,
    value::{
        Verdict, host, number,
        scoped_host::{HostOf, scoped_host},
        url,
    },
};
use mizzen_api::proto::{
    descriptors,
    istio::mesh::v1alpha1::mesh_config::{
        ExtensionProvider,
        extension_provider::{OpenTelemetryTracingProvider, Provider},
    },
};
use mizzen_text::{At, Code, Severity};
use std::collections::BTreeSet;

pub(super) fn check(providers: &[ExtensionProvider], at: &At<'_>, found: &mut Findings) {
    let mut wrong = Findings::default();
    let mut seen = BTreeSet::new();
    for (index, one) in providers.iter().enumerate() {
        let at = at.index(index);
        if one.name.is_empty() {
            wrong.error(&at.field("name"), "empty extension provider name");
        } else if !seen.insert(&one.name) {
            wrong.error(&at.field("name"), format!("duplicate extension provider name {}", one.name));
        }
        match &one.provider {
            Some(one) => provider(one, &at, &mut wrong),
            None => wrong.error(&at, "it does not say what the provider is"),
        }
    }
    for finding in wrong.iter() {
        let message = format!("{} (of no matter while nothing uses the provider)", finding.message);
        let mut finding = finding.clone();
        finding.severity = Severity::Warning;
        finding.code = Code::Doubtful;
        finding.message = message;
        found.push(finding);
    }
}

/// Where a provider is reached.
fn service(field: &str, service: &str, port: u32, at: &At<'_>, found: &mut Findings) {
    let at = at.field(field);
    found.verdict(&at.field("service"), service_name(service));
    found.verdict(&at.field("port"), number::port(port));
}

fn provider(provider: &Provider, at: &At<'_>, found: &mut Findings) {
    match provider {
        Provider::EnvoyExtAuthzHttp(http) => {
            let field = at.field("envoyExtAuthzHttp");
            service("envoyExtAuthzHttp", &http.service, http.port, at, found);
            found.verdict(&field.field("statusOnError"), status(&http.status_on_error));
            found.verdict(&field.field("pathPrefix"), path_prefix(&http.path_prefix));
        }
        Provider::EnvoyExtAuthzGrpc(grpc) => {
            service("envoyExtAuthzGrpc", &grpc.service, grpc.port, at, found);
            found.verdict(
                &at.field("envoyExtAuthzGrpc").field("statusOnError"),
                status(&grpc.status_on_error),
            );
        }
        Provider::Lightstep(lightstep) => {
            service("lightstep", &lightstep.service, lightstep.port, at, found);
            if lightstep.access_token.is_empty() {
                found.error(&at.field("lightstep").field("accessToken"), "access token is required");
            }
        }
        Provider::Opentelemetry(telemetry) => opentelemetry(telemetry, at, found),
        Provider::Zipkin(one) => service("zipkin", &one.service, one.port, at, found),
        Provider::Datadog(one) => service("datadog", &one.service, one.port, at, found),
        Provider::Opencensus(one) => service("opencensus", &one.service, one.port, at, found),
        Provider::Skywalking(one) => service("skywalking", &one.service, one.port, at, found),
        Provider::EnvoyHttpAls(one) => service("envoyHttpAls", &one.service, one.port, at, found),
        Provider::EnvoyTcpAls(one) => service("envoyTcpAls", &one.service, one.port, at, found),
        Provider::EnvoyOtelAls(one) => service("envoyOtelAls", &one.service, one.port, at, found),
        Provider::Prometheus(_) | Provider::Stackdriver(_) | Provider::EnvoyFileAccessLog(_) => {}
        Provider::Sds(_) => found.error(&at.field("sds"), "unsupported provider"),
    }
}

fn opentelemetry(telemetry: &OpenTelemetryTracingProvider, at: &At<'_>, found: &mut Findings) {
    service("opentelemetry", &telemetry.service, telemetry.port, at, found);
    if telemetry.grpc.is_some() && telemetry.http.is_some() {
        found.error(&at.field("opentelemetry"), "opentelemetry cannot specify both grpc and http");
    }
}

/// A host name, an address, or `namespace/dnsName`.
fn service_name(name: &str) -> Verdict {
    if name.is_empty() {
        Err("service must not be empty".to_owned())
    } else if name.contains('/') {
        scoped_host(HostOf::Sidecar, name)
    } else if host::is_ip(name) {
        Ok(())
    } else {
        host::fqdn(name)
    }
}

/// A status that Envoy knows.
fn status(text: &str) -> Verdict {
    if text.is_empty() {
        return Ok(());
    }
    let number: i32 =
        text.parse().map_err(|_| format!("invalid statusOnError value {text}: not a number"))?;
    let known = descriptors().get_enum_by_name("envoy.type.v3.StatusCode");
    if known.is_some_and(|codes| codes.get_value(number).is_some()) {
        Ok(())
    } else {
        Err(format!("unsupported statusOnError value {text}: it is no HTTP status that Envoy knows"))
    }
}

fn path_prefix(text: &str) -> Verdict {
    if text.is_empty() {
        return Ok(());
    }
    if !text.starts_with('/') {
        return Err(format!("pathPrefix should begin with `/` but found {text:?}"));
    }
    url::parse(text).map(drop).map_err(|wrong| format!("invalid pathPrefix {text}: {wrong}"))
}
