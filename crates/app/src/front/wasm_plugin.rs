//! WasmPlugin: a filter of one's own, as WebAssembly.

use super::{
    conventions::ATTACH_TO,
    decode::Decode,
    shape::{Block, INT32, Own, PORT, Rule, Shape, attribute, list, whole},
    syntax,
};
use mizzen_text::{At, Code};
use serde_json::{Value, json};

use crate::problem::On;

pub(super) static BLOCK: Block = Block::new(&[
    attribute(
        "url",
        "url",
        Shape::Text(syntax::not_empty),
        "Where it is: oci://, http://, https:// or file://; without one of these, an image",
    )
    .required(),
    attribute("sha256", "sha256", Shape::Text(sha256), "Its checksum, in 64 hexadecimal digits"),
    attribute(
        "pullPolicy",
        "imagePullPolicy",
        Shape::Word(&["IfNotPresent", "Always"]),
        "When the image is fetched again",
    ),
    attribute("pullSecret", "imagePullSecret", Shape::Text(at_most::<253>), "The Secret for fetching it"),
    attribute(
        "pluginName",
        "pluginName",
        Shape::Text(at_most::<256>),
        "Which of several plugins of the file",
    ),
    attribute("config", "pluginConfig", Shape::Free, "Settings of the plugin"),
    attribute(
        "phase",
        "phase",
        Shape::Word(&["AUTHN", "AUTHZ", "STATS"]),
        "Before which of Istio's filters it stands",
    ),
    attribute(
        "priority",
        "priority",
        whole(-INT32 - 1, INT32),
        "Among plugins of one phase, higher numbers are first",
    ),
    attribute(
        "onFailure",
        "failStrategy",
        Shape::WordTo(&[("CLOSE", "FAIL_CLOSE"), ("OPEN", "FAIL_OPEN"), ("RELOAD", "FAIL_RELOAD")]),
        "What happens to requests when it fails. Default: CLOSE",
    ),
    attribute("type", "type", Shape::Word(&["HTTP", "NETWORK"]), "What it filters. Default: HTTP"),
    attribute(
        "traffic",
        "match",
        list(&Shape::Block(&TRAFFIC)),
        "Which requests; one of several is enough. Default: all",
    ),
    attribute(
        "environmentVariables",
        "vmConfig.env",
        Shape::Own(&Own { decode: variables, schema: variables_schema }),
        "Its environment variables: text, or `{fromHost: true}` for the proxy's own",
    ),
    attribute(
        "workloadSelector",
        "selector.matchLabels",
        Shape::Selector,
        "The pods, or `self`. Default: all of the namespace",
    ),
    attribute("attachTo", "targetRefs", ATTACH_TO, "The same by Kind/name, for waypoints"),
])
.rules(&[Rule::AtMostOne(&["workloadSelector", "attachTo"])]);

static TRAFFIC: Block = Block::new(&[
    attribute(
        "mode",
        "mode",
        Shape::Word(&["CLIENT", "SERVER", "CLIENT_AND_SERVER"]),
        "Requests that are sent, received, or both",
    ),
    attribute("ports", "ports", list(&Shape::Within("number", &PORT)), "Only these ports"),
]);

static FROM_HOST: Block = Block::new(&[attribute(
    "fromHost",
    "fromHost",
    Shape::Truth,
    "It is the proxy's own variable of that name",
)
.required()]);

fn sha256(text: &str) -> syntax::Verdict {
    let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if text.len() == 64 && digits {
        Ok(())
    } else {
        Err("must be 64 hexadecimal digits in lower case".to_owned())
    }
}

fn at_most<const MOST: usize>(text: &str) -> syntax::Verdict {
    syntax::not_empty(text)?;
    if text.len() > MOST { Err(format!("must have at most {MOST} characters")) } else { Ok(()) }
}

fn variables(value: &Value, decode: &mut Decode<'_>, at: &At<'_>) -> Option<Value> {
    let entries = decode.entries(value, at)?;
    if entries.len() > 256 {
        decode.refuse(Code::AppValue, at, On::Key, "must have at most 256 entries");
    }
    let mut rendered = Vec::new();
    for (name, value) in entries {
        let at = at.field(name);
        if let Err(predicate) = at_most::<256>(name) {
            decode.refuse(Code::AppValue, &at, On::Key, &predicate);
            continue;
        }
        let variable = decode.below(&rendered.len().to_string(), |decode| match value {
            Value::Object(fields) => {
                let from_host = decode.fields(&FROM_HOST, fields, &at, &[]);
                (from_host.get("fromHost") == Some(&Value::Bool(true)))
                    .then(|| json!({"name": name, "valueFrom": "HOST"}))
            }
            value => decode
                .value(&Shape::Text(syntax::any), value, &at)
                .map(|text| json!({"name": name, "value": text})),
        });
        rendered.extend(variable);
    }
    Some(rendered.into())
}

fn variables_schema() -> Value {
    let from_host = json!({
        "type": "object",
        "properties": {"fromHost": {"const": true}},
        "required": ["fromHost"],
        "additionalProperties": false,
    });
    json!({"type": "object", "additionalProperties": {"oneOf": [{"type": "string"}, from_host]}})
}
