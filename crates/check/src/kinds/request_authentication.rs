//! RequestAuthentication: whose tokens are believed, and where they are found.

use crate::{
    Findings,
    parts::selector,
    value::{Verdict, jwks, number, url},
};
use mizzen_api::proto::istio::security::v1beta1::{ClaimToHeader, JwtRule, RequestAuthentication};
use mizzen_text::At;

pub(crate) fn check(spec: &RequestAuthentication, found: &mut Findings) {
    let at = At::TOP.field("spec");
    selector::policy(spec.selector.as_ref(), spec.target_ref.as_ref(), &spec.target_refs, &at, found);
    let rules = at.field("jwtRules");
    for (index, one) in spec.jwt_rules.iter().enumerate() {
        rule(one, &rules.index(index), found);
    }
}

fn rule(rule: &JwtRule, at: &At<'_>, found: &mut Findings) {
    if rule.issuer.is_empty() && rule.jwks_uri.is_empty() {
        found.error(&at.field("issuer"), "issuer or jwksUri must be non-empty string");
    }
    not_empty("audience", &rule.audiences, &at.field("audiences"), found);
    if !rule.jwks_uri.is_empty()
        && let Err(wrong) = jwks_uri(&rule.jwks_uri)
    {
        found.error(&at.field("jwksUri"), wrong);
    }
    if !rule.jwks.is_empty() {
        keys(&rule.jwks, &at.field("jwks"), found);
    }
    let headers = at.field("fromHeaders");
    for (index, _) in rule.from_headers.iter().enumerate().filter(|(_, header)| header.name.is_empty()) {
        found.error(&headers.index(index).field("name"), "location header name must be non-empty string");
    }
    not_empty("location query", &rule.from_params, &at.field("fromParams"), found);
    not_empty("cookie name", &rule.from_cookies, &at.field("fromCookies"), found);
    let claims = at.field("outputClaimToHeaders");
    for (index, one) in rule.output_claim_to_headers.iter().enumerate() {
        claim_to_header(one, &claims.index(index), found);
    }
    if let Some(Err(wrong)) = rule.timeout.as_ref().map(number::duration) {
        found.error(&at.field("timeout"), wrong);
    }
}

fn not_empty(what: &str, values: &[String], at: &At<'_>, found: &mut Findings) {
    for (index, _) in values.iter().enumerate().filter(|(_, value)| value.is_empty()) {
        found.error(&at.index(index), format!("{what} must be non-empty string"));
    }
}

fn jwks_uri(text: &str) -> Verdict {
    let url = url::parse(text).map_err(|wrong| format!("cannot read {text:?} as a URL: {wrong}"))?;
    if !matches!(url.scheme.as_str(), "http" | "https") {
        return Err(format!("URI scheme {:?} is not supported; use http or https", url.scheme));
    }
    // Nobody minds a port that does not exist, as long as it is a number.
    if !url.port.is_empty() && url.port.parse::<i64>().is_err() {
        return Err(format!("bad port {:?}", url.port));
    }
    Ok(())
}

fn keys(text: &str, at: &At<'_>, found: &mut Findings) {
    match jwks::parse(text) {
        Ok(keys) => {
            for (index, _) in keys.iter().enumerate().filter(|(_, key)| **key == jwks::Key::Private) {
                found.warning(
                    at,
                    format!(
                        "jwks key at index {index} contains private key material; \
                         only public keys are used for verification"
                    ),
                );
            }
        }
        Err(wrong) => found.error(at, format!("jwks parse error: {wrong}")),
    }
}

fn claim_to_header(pair: &ClaimToHeader, at: &At<'_>, found: &mut Findings) {
    if pair.claim.is_empty() {
        found.error(&at.field("claim"), "outputClaimToHeaders claim must be non-empty string");
    }
    let name = &pair.header;
    if name.is_empty() {
        found.error(&at.field("header"), "outputClaimToHeaders header must be non-empty string");
    } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        found.error(
            &at.field("header"),
            format!(
                "header name {name:?} is not a valid header name: only letters, digits, - and _ are allowed"
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{accepted, refused_at, warned_at};
    use serde_json::{Value, json};

    fn with_rule(rule: &Value) -> Value {
        json!({"apiVersion": "security.istio.io/v1", "kind": "RequestAuthentication",
               "metadata": {"name": "a", "namespace": "b"}, "spec": {"jwtRules": [rule]}})
    }

    #[test]
    fn an_ordinary_rule_is_accepted() {
        accepted(&with_rule(&json!({
            "issuer": "https://issuer",
            "audiences": ["a"],
            "jwksUri": "https://issuer:8443/keys",
            "fromHeaders": [{"name": "x-token", "prefix": "Bearer "}],
            "fromParams": ["token"],
            "fromCookies": ["token"],
            "outputClaimToHeaders": [{"header": "x_claim-1", "claim": "sub"}],
            "timeout": "5s",
        })));
        accepted(&with_rule(&json!({"jwksUri": "http://keys"})));
    }

    #[test]
    fn every_wrong_field_is_told() {
        refused_at(
            &with_rule(&json!({
                "audiences": ["a", ""],
                "jwks": "{",
                "fromHeaders": [{"name": "a"}, {"prefix": "b"}],
                "fromParams": [""],
                "fromCookies": [""],
                "outputClaimToHeaders": [{}, {"header": "a b", "claim": "c"}],
                "timeout": "1us",
            })),
            &[
                "spec.jwtRules[0].issuer",
                "spec.jwtRules[0].audiences[1]",
                "spec.jwtRules[0].jwks",
                "spec.jwtRules[0].fromHeaders[1].name",
                "spec.jwtRules[0].fromParams[0]",
                "spec.jwtRules[0].fromCookies[0]",
                "spec.jwtRules[0].outputClaimToHeaders[0].claim",
                "spec.jwtRules[0].outputClaimToHeaders[0].header",
                "spec.jwtRules[0].outputClaimToHeaders[1].header",
                "spec.jwtRules[0].timeout",
            ],
        );
    }

    #[test]
    fn keys_come_over_http() {
        for bad in ["ftp://a", "a/b", "http://a:b", "https://a:99999999999999999999", "file://a"] {
            refused_at(&with_rule(&json!({"jwksUri": bad})), &["spec.jwtRules[0].jwksUri"]);
        }
        accepted(&with_rule(&json!({"jwksUri": "https://a:99999"})));
    }

    #[test]
    fn a_private_key_is_a_warning() {
        let keys = r#"{"keys":[{"kty":"RSA","e":"AQAB","n":"xA"},{"kty":"oct","k":"xA"}]}"#;
        warned_at(&with_rule(&json!({"issuer": "a", "jwks": keys})), &["spec.jwtRules[0].jwks"]);
    }
}
