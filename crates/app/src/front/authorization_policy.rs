//! AuthorizationPolicy: who may do what.

use super::{
    conventions::ATTACH_TO,
    decode::{Decode, has},
    shape::{Block, Fields, NOWHERE, Rule, Shape, attribute, list},
    syntax,
};
use crate::problem::{On, Problem};
use mizzen_text::{At, Code};
use serde_json::{Value, json};

const TEXTS: Shape = list(&Shape::Text(syntax::not_empty));
const ACCOUNTS: Shape = Shape::List { of: &Shape::Text(syntax::not_empty), least: 0, most: 16 };
const PORTS: Shape = list(&Shape::WholeText { least: 1, most: 65_535 });

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "action",
        "action",
        Shape::Word(&["ALLOW", "DENY", "AUDIT", "CUSTOM"]),
        "What is done with requests that match a rule. Default: ALLOW",
    ),
    attribute("provider", "provider.name", Shape::Text(syntax::not_empty), "Who decides; only with CUSTOM"),
    attribute(
        "workloadSelector",
        "selector.matchLabels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
    attribute("attachTo", "targetRefs", ATTACH_TO, "The same by Kind/name, for waypoints"),
    attribute(
        "rules",
        "rules",
        Shape::List { of: &Shape::Block(&RULE), least: 0, most: 512 },
        "Which requests; one of several is enough",
    ),
    attribute("denyAll", NOWHERE, Shape::Said, "Nothing may be done: a policy without rules"),
    attribute(
        "allowAll",
        NOWHERE,
        Shape::Said,
        "Everything may be done: a policy with one rule that matches all",
    ),
])
.rules(&[Rule::AtMostOne(&["workloadSelector", "attachTo"]), Rule::AtMostOne(&["denyAll", "allowAll"])])
.finish(finish);

fn finish(written: &Fields, rendered: &mut Fields, decode: &mut Decode<'_>, at: &At<'_>) {
    let says = |name: &str| written.get(name).and_then(Value::as_bool).unwrap_or_default();
    for short in ["denyAll", "allowAll"].into_iter().filter(|short| says(short)) {
        for name in ["action", "provider", "rules"].into_iter().filter(|name| has(written, name)) {
            decode.together(&at.field(name), &format!("`{name}` cannot be given with `{short}`"));
        }
    }
    if says("allowAll") {
        rendered.insert("rules".to_owned(), json!([{}]));
    }
    let action = rendered.get("action").and_then(Value::as_str).unwrap_or("ALLOW");
    let rules = written.get("rules").and_then(Value::as_array).is_some_and(|rules| !rules.is_empty());
    // Of a wrong `rules` it is told already what is wrong, and what `override` sets is somebody's own word.
    let said = ["denyAll", "allowAll"].into_iter().any(|short| has(written, short))
        || written.get("rules").is_some_and(|rules| !rules.is_null() && !rules.is_array())
        || written.get("override").is_some_and(|over| !over["rules"].is_null());
    if action == "ALLOW" && !rules && !said {
        let place = if has(written, "rules") { at.field("rules") } else { *at };
        let message = "a policy without `rules` denies everything";
        let problem = Problem::new(Code::AppMissing, place.path(), On::Key, message);
        decode.problems.push(problem.hint("`denyAll: true` says so; `rules` say what is allowed"));
    }
    if matches!(action, "DENY" | "CUSTOM") && !rules {
        decode.together(&at.field("action"), &format!("`action: {action}` needs `rules` beside it"));
    }
    match (action, has(written, "provider")) {
        ("CUSTOM", false) => {
            decode.together(&at.field("action"), "`action: CUSTOM` needs `provider` beside it");
        }
        ("CUSTOM", true) | (_, false) => {}
        (_, true) => {
            decode.together(&at.field("provider"), "`provider` can only be given with `action: CUSTOM`");
        }
    }
}

static RULE: Block = Block::new(&[
    attribute("from", "from", list(&Shape::Block(&SOURCE)), "Who asks. Default: anybody"),
    attribute("to", "to", list(&Shape::Block(&OPERATION)), "What is asked for. Default: anything"),
    attribute("conditions", "when", list(&Shape::Block(&CONDITION)), "What else must hold"),
]);

static SOURCE: Block = Block::new(&[
    attribute("principals", "source.principals", TEXTS, "Identities of pods"),
    attribute("notPrincipals", "source.notPrincipals", TEXTS, "All but these"),
    attribute(
        "requestPrincipals",
        "source.requestPrincipals",
        TEXTS,
        "Issuer and subject of a token: issuer/subject",
    ),
    attribute("notRequestPrincipals", "source.notRequestPrincipals", TEXTS, "All but these"),
    attribute("namespaces", "source.namespaces", TEXTS, "Namespaces of pods"),
    attribute("notNamespaces", "source.notNamespaces", TEXTS, "All but these"),
    attribute(
        "serviceAccounts",
        "source.serviceAccounts",
        ACCOUNTS,
        "Accounts of pods, each with or without a namespace and / before it",
    ),
    attribute("notServiceAccounts", "source.notServiceAccounts", ACCOUNTS, "All but these"),
    attribute("ipBlocks", "source.ipBlocks", TEXTS, "Addresses of who is connected"),
    attribute("notIpBlocks", "source.notIpBlocks", TEXTS, "All but these"),
    attribute(
        "remoteIpBlocks",
        "source.remoteIpBlocks",
        TEXTS,
        "Addresses of who asked first, by X-Forwarded-For",
    ),
    attribute("notRemoteIpBlocks", "source.notRemoteIpBlocks", TEXTS, "All but these"),
    attribute("trustDomains", "source.trustDomains", TEXTS, "Trust domains of pods"),
    attribute("notTrustDomains", "source.notTrustDomains", TEXTS, "All but these"),
])
.finish(not_empty);

static OPERATION: Block = Block::new(&[
    attribute("hosts", "operation.hosts", TEXTS, "Hosts"),
    attribute("notHosts", "operation.notHosts", TEXTS, "All but these"),
    attribute("ports", "operation.ports", PORTS, "Ports"),
    attribute("notPorts", "operation.notPorts", PORTS, "All but these"),
    attribute("methods", "operation.methods", TEXTS, "Methods"),
    attribute("notMethods", "operation.notMethods", TEXTS, "All but these"),
    attribute("paths", "operation.paths", TEXTS, "Paths; `*` at one end, or {*} and {**} for parts"),
    attribute("notPaths", "operation.notPaths", TEXTS, "All but these"),
])
.finish(not_empty);

static CONDITION: Block = Block::new(&[
    attribute(
        "key",
        "key",
        Shape::Text(syntax::not_empty),
        "What is looked at, such as request.headers[version]",
    )
    .required(),
    attribute("values", "values", TEXTS, "What it must be"),
    attribute("notValues", "notValues", TEXTS, "What it must not be"),
])
.rules(&[Rule::AtLeastOne(&["values", "notValues"])]);

/// An item that says nothing would match everything.
fn not_empty(written: &Fields, _: &mut Fields, decode: &mut Decode<'_>, at: &At<'_>) {
    if written.values().all(Value::is_null) {
        decode.refuse(Code::AppMissing, at, On::Value, "must not be empty");
    }
}
