//! `platform.yaml`: what the platform team sets for all applications.

use crate::{
    front::{
        self, ANNOTATIONS, FrontEnd, LABELS,
        decode::{Decode, brief},
        shape::{Block, Fields, Own, Shape, attribute, list},
        syntax,
    },
    problem::{On, Problem},
    render,
    setting::Setting,
};
use mizzen_api::Kind;
use mizzen_text::{At, Code, Step, nearest};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const PLATFORM: &str = "platform.yaml";

/// Since when Istio serves `v1` of nearly everything.
const V1_SINCE: (u32, u32) = (1, 22);
/// The same for the two policies that were first.
const POLICIES_V1_SINCE: (u32, u32) = (1, 18);

#[derive(Clone, Debug, Default)]
pub(crate) struct Platform {
    pub(crate) name_template: Option<String>,
    pub(crate) labels: Value,
    pub(crate) annotations: Value,
    /// None: all.
    pub(crate) allowed: Option<Vec<String>>,
    pub(crate) gateway_selector: BTreeMap<String, String>,
    pub(crate) namespace_labels: Value,
    versions: BTreeMap<String, String>,
    istio: Option<(u32, u32)>,
}

pub(crate) static BLOCK: Block = Block::new(&[
    attribute(
        "istioVersion",
        "istioVersion",
        Shape::Text(version),
        "The Istio that the objects are for, such as 1.31",
    ),
    attribute(
        "nameTemplate",
        "nameTemplate",
        Shape::Text(template),
        "How objects are named, with {app}, {env}, {kind} and {key}; keys are taken as they are. Default: {app}-{key}, with _ as -",
    ),
    attribute("labels", "labels", LABELS, "Labels of all objects"),
    attribute("annotations", "annotations", ANNOTATIONS, "Annotations of all objects"),
    attribute(
        "allowedKinds",
        "allowedKinds",
        list(&Shape::Own(&Own { decode: kind, schema: kinds })),
        "The kinds that applications may write. Default: all",
    ),
    attribute(
        "apiVersions",
        "apiVersions",
        Shape::Own(&Own { decode: pinned, schema: pins }),
        "The API version of a kind, such as `DestinationRule: v1alpha3`",
    ),
    attribute(
        "gatewaySelector",
        "gatewaySelector",
        LABELS,
        "The pods of Gateways that select none. Default: istio: ingressgateway",
    ),
    attribute(
        "namespaceLabels",
        "namespaceLabels",
        LABELS,
        "Labels of namespaces that are made. Default: istio-injection: enabled",
    ),
    attribute(
        "defaults",
        "defaults",
        Shape::Own(&Own { decode: defaults, schema: default_blocks }),
        "What blocks of a kind say where they say nothing else",
    ),
]);

impl Platform {
    /// Of what the table has let through.
    pub(crate) fn of(read: &Fields) -> Self {
        let texts = |name: &str| -> BTreeMap<String, String> {
            let entries = read.get(name).and_then(Value::as_object).into_iter().flatten();
            entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
        };
        let text = |name: &str| read.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut gateway_selector = texts("gatewaySelector");
        if gateway_selector.is_empty() {
            gateway_selector.insert("istio".to_owned(), "ingressgateway".to_owned());
        }
        Self {
            name_template: text("nameTemplate"),
            labels: read.get("labels").cloned().unwrap_or_default(),
            annotations: read.get("annotations").cloned().unwrap_or_default(),
            allowed: read
                .get("allowedKinds")
                .and_then(Value::as_array)
                .map(|kinds| kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            gateway_selector,
            namespace_labels: read
                .get("namespaceLabels")
                .cloned()
                .unwrap_or_else(|| json!({"istio-injection": "enabled"})),
            versions: texts("apiVersions"),
            istio: text("istioVersion").as_deref().and_then(numbers),
        }
    }

    pub(crate) fn allows(&self, kind: Kind) -> bool {
        self.allows_named(kind.name())
    }

    /// The same of any of Istio's kinds.
    pub(crate) fn allows_named(&self, kind: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|name| name == kind))
    }

    /// The version in which objects of a kind are written: the pinned one, or the newest that the target serves.
    pub(crate) fn api_version(&self, kind: Kind) -> String {
        let newest = kind.versions().first().copied().unwrap_or("v1");
        let version = match self.versions.get(kind.name()) {
            Some(pinned) => pinned.as_str(),
            None if newest == "v1" && self.istio.is_some_and(|target| target < since(kind)) => {
                kind.versions().last().copied().unwrap_or(newest)
            }
            None => newest,
        };
        format!("{}/{version}", kind.group())
    }
}

fn since(kind: Kind) -> (u32, u32) {
    match kind {
        Kind::AuthorizationPolicy | Kind::RequestAuthentication => POLICIES_V1_SINCE,
        _ => V1_SINCE,
    }
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    let numbers = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.all(|part| part.parse::<u32>().is_ok()).then_some(numbers)
}

fn version(text: &str) -> Result<(), String> {
    numbers(text).map(drop).ok_or_else(|| "must be a version such as 1.31".to_owned())
}

fn template(text: &str) -> Result<(), String> {
    if !text.contains("{key}") {
        return Err("must have {key} in it, or all objects of a kind had one name".to_owned());
    }
    let rest = ["{app}", "{env}", "{kind}", "{key}"]
        .iter()
        .fold(text.to_owned(), |rest, word| rest.replace(word, ""));
    if rest.contains(['{', '}']) {
        return Err("must have nothing in braces but {app}, {env}, {kind} and {key}".to_owned());
    }
    Ok(())
}

fn kind(value: &Value, decode: &mut Decode<'_>, at: &At<'_>) -> Option<Value> {
    let text = decode.text(syntax::not_empty, value, at)?;
    known(text, decode, at, On::Value).map(|front| front.kind.name().into())
}

/// The front end of a kind's name.
fn known(text: &str, decode: &mut Decode<'_>, at: &At<'_>, on: On) -> Option<&'static FrontEnd> {
    let found = front::ALL.iter().find(|front| front.kind.name() == text);
    if found.is_none() {
        let names = front::ALL.iter().map(|front| front.kind.name());
        let hint = match nearest(text, names.clone()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        let predicate = format!("is no kind that an application can write: `{}`", brief(text));
        decode.refuse(Code::AppWord, at, on, &predicate).hint = Some(hint);
    }
    found
}

/// With or without the group in front of the version.
fn pinned(value: &Value, decode: &mut Decode<'_>, at: &At<'_>) -> Option<Value> {
    let mut pinned = Fields::new();
    for (name, value) in decode.entries(value, at)? {
        let at = at.field(name);
        let (Some(front), Some(text)) =
            (known(name, decode, &at, On::Key), decode.text(syntax::not_empty, value, &at))
        else {
            continue;
        };
        let group = format!("{}/", front.kind.group());
        match front.kind.version(text.strip_prefix(&group).unwrap_or(text)) {
            Some(version) => drop(pinned.insert(name.to_owned(), version.into())),
            None => {
                let predicate =
                    format!("must be one of {}, not `{}`", front.kind.versions().join(", "), brief(text));
                decode.refuse(Code::AppWord, &at, On::Value, &predicate);
            }
        }
    }
    Some(pinned.into())
}

/// Each block is read here, whether somebody uses it or not. What it lacks the blocks above it may have.
fn defaults(value: &Value, decode: &mut Decode<'_>, at: &At<'_>) -> Option<Value> {
    for (word, value) in decode.entries(value, at)? {
        let at = at.field(word);
        let Some(front) = front::called(word) else {
            let hint = nearest(word, front::ALL.iter().map(|front| front.word));
            let hint = hint.map(|meant| format!("did you mean `{meant}`?"));
            let predicate = "is no kind that an application can write";
            decode.refuse(Code::AppUnknown, &at, On::Key, predicate).hint = hint;
            continue;
        };
        let Some(fields) = value.as_object() else {
            decode.wrong_type::<()>("a map", value, &at);
            continue;
        };
        let before = decode.problems.len();
        render::split(front, fields, decode, &at);
        let found = decode.problems.split_off(before);
        decode.problems.extend(found.into_iter().filter(|problem| !may_be_added(problem)));
    }
    Some(value.clone())
}

/// A list is taken as it is, or not at all; everything else may be completed by whoever writes a block.
fn may_be_added(problem: &Problem) -> bool {
    let in_list = problem.path.0.iter().any(|step| matches!(step, Step::Index(_)));
    matches!(problem.code, Code::AppMissing | Code::AppTogether) && !in_list
}

fn kinds() -> Value {
    json!({"enum": front::ALL.iter().map(|front| front.kind.name()).collect::<Vec<_>>()})
}

fn pins() -> Value {
    let properties: Fields = front::ALL
        .iter()
        .map(|front| {
            (front.kind.name().to_owned(), json!({"type": "string", "examples": front.kind.versions()}))
        })
        .collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn default_blocks() -> Value {
    let properties: Fields =
        front::ALL.iter().map(|front| (front.word.to_owned(), json!({"type": "object"}))).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// What a platform file says, and what is wrong with it.
pub(crate) fn read(value: &Value) -> (Platform, Vec<Problem>) {
    let setting = Setting::default();
    let mut decode = Decode::new(&setting);
    let empty = Fields::new();
    let fields = decode.fields(&BLOCK, value.as_object().unwrap_or(&empty), &At::TOP, &[]);
    (Platform::of(&fields), decode.problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_in_the_newest_version_that_the_target_serves() {
        for (platform, kind, version) in [
            (json!({}), Kind::DestinationRule, "networking.istio.io/v1"),
            (json!({}), Kind::EnvoyFilter, "networking.istio.io/v1alpha3"),
            (json!({"istioVersion": "1.31"}), Kind::Telemetry, "telemetry.istio.io/v1"),
            (json!({"istioVersion": "1.21.5"}), Kind::Telemetry, "telemetry.istio.io/v1alpha1"),
            (json!({"istioVersion": "1.21"}), Kind::VirtualService, "networking.istio.io/v1beta1"),
            (json!({"istioVersion": "1.21"}), Kind::AuthorizationPolicy, "security.istio.io/v1"),
            (
                json!({"apiVersions": {"DestinationRule": "v1alpha3"}}),
                Kind::DestinationRule,
                "networking.istio.io/v1alpha3",
            ),
            (
                json!({"apiVersions": {"DestinationRule": "networking.istio.io/v1beta1"}}),
                Kind::DestinationRule,
                "networking.istio.io/v1beta1",
            ),
        ] {
            let (platform, problems) = read(&platform);
            assert_eq!(problems, []);
            assert_eq!(platform.api_version(kind), version);
        }
    }

    #[test]
    fn what_a_default_lacks_a_block_may_have() {
        let lacking = json!({"defaults": {
            "destinationRules": {"trafficPolicy": {"tlsSettings": {"mode": "MUTUAL"}}},
            "gateways": {"namespace": "edge"},
        }});
        assert_eq!(read(&lacking).1, []);
    }

    #[test]
    fn what_a_platform_cannot_say_is_told() {
        for (platform, message) in [
            (json!({"istioVersion": "newest"}), "must be a version"),
            (json!({"nameTemplate": "{app}"}), "must have {key}"),
            (json!({"nameTemplate": "{key}{x}"}), "in braces"),
            (json!({"allowedKinds": ["DestinationRul"]}), "no kind"),
            (json!({"apiVersions": {"DestinationRule": "v2"}}), "must be one of v1, v1alpha3, v1beta1"),
            (json!({"apiVersions": {"Deployment": "v1"}}), "no kind"),
            (json!({"defaults": {"destinationRule": {}}}), "no kind"),
            (json!({"defaults": {"destinationRules": 1}}), "must be a map"),
            (json!({"defaults": {"destinationRules": {"trafficPolcy": {}}}}), "no attribute `trafficPolcy`"),
            (
                json!({"defaults": {"destinationRules": {"trafficPolicy": {"loadBalancerSettings": {"strategy": "FAST"}}}}}),
                "must be one of",
            ),
            (json!({"defaults": {"gateways": {"listeners": [{"port": 80}]}}}), "`hosts` is missing"),
            (json!({"defaults": {"gateways": {"labels": 1}}}), "must be a map"),
            (json!({"annotation": {}}), "no attribute `annotation`"),
        ] {
            let (_, problems) = read(&platform);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].message.contains(message), "{}", problems[0].message);
        }
    }
}
