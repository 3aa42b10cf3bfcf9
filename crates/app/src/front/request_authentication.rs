//! RequestAuthentication: whose tokens are good. By itself it lets requests without a token through, which surprises
//! nearly everybody; `required` makes the policy that does not.

use super::{
    Beside,
    conventions::ATTACH_TO,
    decode::Decode,
    shape::{Block, Fields, NOWHERE, Rule, Shape, attribute, list},
    syntax,
};
use crate::problem::{On, Problem};
use mizzen_api::Kind;
use mizzen_text::{At, Code};
use serde_json::{Value, json};

const TEXTS: Shape = list(&Shape::Text(syntax::not_empty));

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "workloadSelector",
        "selector.matchLabels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
    attribute("attachTo", "targetRefs", ATTACH_TO, "The same by Kind/name, for waypoints"),
    attribute("jwt", "jwtRules", list(&Shape::Block(&JWT)), "Whose tokens are good"),
    attribute(
        "required",
        NOWHERE,
        Shape::Truth,
        "Refuse requests without a token, and with them all that is no HTTP, by an AuthorizationPolicy beside it. Default: false",
    ),
])
.rules(&[Rule::AtMostOne(&["workloadSelector", "attachTo"])])
.finish(finish);

/// Where no token is good, a policy that asks for one refuses everything.
fn finish(written: &Fields, rendered: &mut Fields, decode: &mut Decode<'_>, at: &At<'_>) {
    let tokens = |rules: Option<&Value>| match rules {
        Some(Value::Array(rules)) => !rules.is_empty(),
        Some(rules) => !rules.is_null(),
        None => false,
    };
    let any = tokens(written.get("jwt")) || tokens(written.get("override").map(|over| &over["jwtRules"]));
    if !any && required(written, &Value::Object(rendered.clone())).is_some() {
        let message = "`required` without `jwt` refuses every request: no token is good";
        let problem = Problem::new(Code::AppMissing, at.field("required").path(), On::Key, message);
        decode.problems.push(problem.hint("`jwt` says whose tokens are good"));
    }
}

static JWT: Block = Block::new(&[
    attribute("issuer", "issuer", Shape::Text(syntax::not_empty), "Who issues the tokens"),
    attribute("audiences", "audiences", TEXTS, "For whom they must be"),
    attribute("jwksUri", "jwksUri", Shape::Text(syntax::not_empty), "Where the issuer's public keys are"),
    attribute("jwks", "jwks", Shape::Text(syntax::not_empty), "The public keys themselves"),
    attribute(
        "fromHeaders",
        "fromHeaders",
        list(&Shape::Block(&HEADER)),
        "The headers that hold the token. Default: Authorization, behind Bearer",
    ),
    attribute("fromParameters", "fromParams", TEXTS, "The query parameters that hold it"),
    attribute("fromCookies", "fromCookies", TEXTS, "The cookies that hold it"),
    attribute(
        "payloadHeader",
        "outputPayloadToHeader",
        Shape::Text(syntax::not_empty),
        "The header that gets the token's content",
    ),
    attribute(
        "claimsToHeaders",
        "outputClaimToHeaders",
        Shape::Pairs { key: "header", value: "claim", of: &Shape::Text(syntax::not_empty) },
        "Headers, and the claims that they get",
    ),
    attribute(
        "forwardToken",
        "forwardOriginalToken",
        Shape::Truth,
        "Whether the service sees the token. Default: false",
    ),
    attribute("timeout", "timeout", Shape::Duration, "How long the issuer's keys may take. Default: 5s"),
    attribute(
        "spaceDelimitedClaims",
        "spaceDelimitedClaims",
        Shape::List { of: &Shape::Text(syntax::not_empty), least: 0, most: 64 },
        "Claims that hold several words",
    ),
])
.rules(&[Rule::AtLeastOne(&["issuer", "jwksUri"]), Rule::AtMostOne(&["jwksUri", "jwks"])]);

static HEADER: Block = Block::new(&[
    attribute("name", "name", Shape::Text(syntax::not_empty), "The header").required(),
    attribute("prefix", "prefix", Shape::Text(syntax::any), "What stands before the token"),
]);

/// Whoever has no good token is nobody, and nobody is refused.
pub(super) fn required(written: &Fields, spec: &Value) -> Option<Beside> {
    if !written.get("required").and_then(Value::as_bool).unwrap_or_default() {
        return None;
    }
    let mut policy = json!({
        "action": "DENY",
        "rules": [{"from": [{"source": {"notRequestPrincipals": ["*"]}}]}],
    });
    for field in ["selector", "targetRefs"] {
        if let Some(who) = spec.get(field) {
            policy[field] = who.clone();
        }
    }
    Some(Beside { kind: Kind::AuthorizationPolicy, suffix: "-required", asked_by: "required", spec: policy })
}
