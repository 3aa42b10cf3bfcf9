//! Refusals in the API server's own words.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Value, json};

use super::rule::Effect;

/// The answer of an effect that has one.
pub(super) fn answer(effect: &Effect, path: &str) -> Option<Response<Bytes>> {
    let (code, reason, message, details) = match effect {
        Effect::Delay(_) | Effect::LoseAnswer | Effect::BreakOff => return None,
        Effect::TooManyRequests { retry_after } => (
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later".to_owned(),
            json!({ "retryAfterSeconds": retry_after }),
        ),
        Effect::InternalError => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            "Internal error occurred: asked for by a test".to_owned(),
            json!({ "causes": [{ "message": "asked for by a test" }] }),
        ),
        Effect::Conflict => {
            let (resource, name) = object(path);
            (
                StatusCode::CONFLICT,
                "Conflict",
                format!(
                    "Operation cannot be fulfilled on {resource} {name:?}: the object has been modified; \
                     please apply your changes to the latest version and try again"
                ),
                json!({ "name": name, "kind": resource }),
            )
        }
    };
    let body: Value = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code.as_u16(),
    });
    let mut response = Response::new(Bytes::from(body.to_string()));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    if let Effect::TooManyRequests { retry_after } = effect {
        response.headers_mut().insert(header::RETRY_AFTER, (*retry_after).into());
    }
    Some(response)
}

/// The resource and the name in a path such as `/apis/apps/v1/namespaces/x/deployments/web/status`.
fn object(path: &str) -> (&str, &str) {
    let mut segments = path.split('/').filter(|segment| !segment.is_empty());
    // The group and its version; the core group has a version only.
    let skip = if segments.next() == Some("apis") { 2 } else { 1 };
    let rest: Vec<&str> = segments.skip(skip).collect();
    match rest[..] {
        ["namespaces", _, resource, name, ..] | [resource, name, ..] => (resource, name),
        [resource] => (resource, ""),
        [] => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::object;

    #[test]
    fn a_conflict_names_the_object_of_the_path() {
        for (path, expected) in [
            ("/apis/apps/v1/namespaces/x/deployments/web/status", ("deployments", "web")),
            ("/api/v1/namespaces/x/configmaps/a", ("configmaps", "a")),
            ("/api/v1/namespaces/x", ("namespaces", "x")),
            ("/api/v1/nodes", ("nodes", "")),
        ] {
            assert_eq!(object(path), expected, "{path}");
        }
    }
}
