//! The conventions that all kinds share: text matches, selectors, targets; and the attributes that every block has.

use super::{
    decode::{Decode, brief},
    shape::{Block, Rule, Shape, attribute, map},
    syntax,
};
use crate::problem::On;
use mizzen_text::{At, Code, nearest};
use serde_json::{Value, json};

/// What Envoy takes of a regular expression.
const REGEX: usize = 1024;

/// What an object may be attached to, with its group.
pub(crate) const TARGETS: [(&str, &str); 4] = [
    ("Gateway", "gateway.networking.k8s.io"),
    ("GatewayClass", "gateway.networking.k8s.io"),
    ("Service", ""),
    ("ServiceEntry", "networking.istio.io"),
];

/// Up to so many targets.
pub(crate) const ATTACH_TO: Shape = Shape::List { of: &Shape::Target, least: 1, most: 16 };
pub(crate) const LABELS: Shape = map(syntax::label_key, &Shape::Text(syntax::label_value));
pub(crate) const ANNOTATIONS: Shape = map(syntax::annotation_key, &Shape::Text(syntax::any));

/// In every block of every kind, unless the kind has an attribute of that name.
pub(crate) static COMMON: Block = Block::new(&[
    attribute(
        "name",
        "name",
        Shape::Text(syntax::not_empty),
        "The object's name, instead of one made of the application's name and the block's key",
    ),
    attribute(
        "namespace",
        "namespace",
        Shape::Text(syntax::label),
        "The object's namespace, instead of the application's",
    ),
    attribute("labels", "labels", LABELS, "More labels of the object; they win over those that are made"),
    attribute(
        "annotations",
        "annotations",
        ANNOTATIONS,
        "More annotations of the object; they win over the platform's",
    ),
    attribute(
        "override",
        "override",
        Shape::Free,
        "Fields of the object's spec that are set last, as a JSON merge patch; null removes",
    ),
]);

const MATCH_WAYS: [&str; 3] = ["exact", "prefix", "regex"];

pub(crate) static MATCH: Block = Block::new(&[
    attribute("exact", "exact", Shape::Text(syntax::any), "The whole text"),
    attribute("prefix", "prefix", Shape::Text(syntax::not_empty), "How the text begins"),
    attribute("regex", "regex", Shape::Text(regex), "An RE2 expression for the whole text"),
])
.rules(&[Rule::ExactlyOne(&MATCH_WAYS)]);

fn regex(text: &str) -> syntax::Verdict {
    syntax::not_empty(text)?;
    if text.len() > REGEX { Err(format!("must have at most {REGEX} characters")) } else { Ok(()) }
}

impl Decode<'_> {
    /// A plain text is an exact match.
    pub(super) fn text_match(&mut self, value: &Value, at: &At<'_>) -> Option<Value> {
        match value {
            Value::Object(fields) => Some(self.fields(&MATCH, fields, at, &[]).into()),
            Value::String(text) => Some(json!({"exact": text})),
            other => self.wrong_type("text, or a map with exact, prefix or regex", other, at),
        }
    }

    /// Labels, or the word `self`.
    pub(super) fn selector(&mut self, value: &Value, at: &At<'_>) -> Option<Value> {
        match value {
            Value::String(word) if word.eq_ignore_ascii_case("self") => Some(
                self.setting.selector().into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            ),
            // What labels may be is for the object's own rules to say, which differ by kind.
            Value::Object(_) => self.value(&map(syntax::any, &Shape::Text(syntax::any)), value, at),
            other => self.wrong_type("a map of labels, or the word `self`", other, at),
        }
    }

    /// `Kind/name`; of the application's own ServiceEntries the key will do.
    pub(super) fn target(&mut self, value: &Value, at: &At<'_>) -> Option<Value> {
        let text = self.text(syntax::not_empty, value, at)?;
        let Some((kind, name)) = text.split_once('/').filter(|(_, name)| !name.is_empty()) else {
            let predicate = format!("must be Kind/name, not `{}`", brief(text));
            self.refuse(Code::AppValue, at, On::Value, &predicate).hint =
                Some("for instance Gateway/waypoint".to_owned());
            return None;
        };
        let kinds = TARGETS.map(|(kind, _)| kind);
        let Some((kind, group)) = TARGETS.iter().find(|(known, _)| *known == kind) else {
            let predicate = format!("must be of kind {}, not `{}`", kinds.join(", "), brief(kind));
            let hint = nearest(kind, kinds).map(|kind| format!("did you mean `{kind}/{name}`?"));
            self.refuse(Code::AppWord, at, On::Value, &predicate).hint = hint;
            return None;
        };
        let own = (*kind == "ServiceEntry").then(|| self.setting.own("serviceEntries", name)).flatten();
        Some(json!({"group": group, "kind": kind, "name": own.map_or(name, |own| own.name.as_str())}))
    }
}
