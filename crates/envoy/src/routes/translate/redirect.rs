//! Answers that the proxy gives by itself.

use mizzen_proto::{
    envoy::config::{
        core::v3::{DataSource, data_source},
        route::v3::{
            DirectResponseAction, RedirectAction,
            redirect_action::{PathRewriteSpecifier, RedirectResponseCode, SchemeRewriteSpecifier},
        },
    },
    istio::networking::v1alpha3::{
        HttpDirectResponse, HttpRedirect,
        http_body::Specifier,
        http_redirect::{RedirectPort, RedirectPortSelection},
    },
};

/// `port` is the one that the request came to, `tls` how. Nothing for a status that is no redirection.
pub(in crate::routes) fn redirect(redirect: &HttpRedirect, port: u32, tls: bool) -> Option<RedirectAction> {
    let code = match redirect.redirect_code {
        0 | 301 => RedirectResponseCode::MovedPermanently,
        302 => RedirectResponseCode::Found,
        303 => RedirectResponseCode::SeeOther,
        307 => RedirectResponseCode::TemporaryRedirect,
        308 => RedirectResponseCode::PermanentRedirect,
        _ => return None,
    };
    let path = if redirect.prefix_rewrite.is_empty() {
        PathRewriteSpecifier::PathRedirect(redirect.uri.clone())
    } else {
        PathRewriteSpecifier::PrefixRewrite(redirect.prefix_rewrite.clone())
    };
    let scheme = Some(&redirect.scheme).filter(|scheme| !scheme.is_empty());
    let to = match redirect.redirect_port {
        Some(RedirectPort::Port(to)) => to,
        // Envoy cannot tell, but these routes are for this port alone.
        Some(RedirectPort::DerivePort(from)) if from == RedirectPortSelection::FromRequestPort as i32 => port,
        Some(RedirectPort::DerivePort(_)) | None => 0,
    };
    let is_usual = match scheme.map_or(if tls { "https" } else { "http" }, String::as_str) {
        "http" => to == 80,
        "https" => to == 443,
        _ => false,
    };
    Some(RedirectAction {
        host_redirect: redirect.authority.clone(),
        port_redirect: if is_usual { 0 } else { to },
        response_code: code.into(),
        scheme_rewrite_specifier: scheme.cloned().map(SchemeRewriteSpecifier::SchemeRedirect),
        path_rewrite_specifier: Some(path),
        ..RedirectAction::default()
    })
}

pub(in crate::routes) fn direct_response(response: &HttpDirectResponse) -> DirectResponseAction {
    let body = match response.body.as_ref().and_then(|body| body.specifier.as_ref()) {
        Some(Specifier::String(text)) => Some(data_source::Specifier::InlineString(text.clone())),
        Some(Specifier::Bytes(bytes)) => Some(data_source::Specifier::InlineBytes(bytes.clone())),
        None => None,
    };
    DirectResponseAction {
        status: response.status,
        body: body.map(|body| DataSource { specifier: Some(body), ..DataSource::default() }),
        ..DirectResponseAction::default()
    }
}

#[cfg(test)]
mod tests {
    use super::redirect;
    use serde_json::json;

    #[test]
    fn the_usual_port_of_a_scheme_is_not_said() {
        for (value, tls, port) in [
            (json!({}), false, 0),
            (json!({"port": 80}), false, 0),
            (json!({"port": 80}), true, 80),
            (json!({"port": 443, "scheme": "https"}), false, 0),
            (json!({"port": 8443, "scheme": "https"}), false, 8443),
            (json!({"derivePort": "FROM_REQUEST_PORT"}), false, 9080),
            (json!({"derivePort": "FROM_PROTOCOL_DEFAULT"}), false, 0),
        ] {
            let out = redirect(&serde_json::from_value(value.clone()).unwrap(), 9080, tls).unwrap();
            assert_eq!(out.port_redirect, port, "{value}");
        }
    }

    #[test]
    fn other_statuses_are_no_redirections() {
        for (code, status) in [(0, Some(0)), (302, Some(1)), (308, Some(4)), (200, None), (999, None)] {
            let out = redirect(&serde_json::from_value(json!({"redirectCode": code})).unwrap(), 80, false);
            assert_eq!(out.map(|out| out.response_code), status, "{code}");
        }
    }
}
