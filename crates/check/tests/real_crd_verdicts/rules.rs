//! Our documents for the rules of the CRDs: what each accepts and what it refuses.

use std::collections::BTreeSet;

use mizzen_api::crd::Crd;
use serde_json::Value;

use crate::{
    documents::{Named, files, in_every_version, own, read},
    server::Verdict,
};

pub(crate) struct Rule {
    text: String,
    kind: String,
    message: String,
    accepted: Vec<Value>,
    refused: Vec<Value>,
}

/// What the server shall say of one document.
pub(crate) struct Expected<'r> {
    rule: &'r Rule,
    accepted: bool,
}

pub(crate) fn all() -> Vec<Rule> {
    let documents = files(&own("rules")).into_iter().flat_map(|file| read(&file)).map(Result::unwrap);
    let rules = documents.map(|document| {
        let text = document["rule"].as_str().unwrap().to_owned();
        let kind = document["kind"].as_str().unwrap().to_owned();
        let message = of_crd(Crd::called(&kind).unwrap()).find(|(rule, _)| **rule == text);
        let message = message.unwrap_or_else(|| panic!("{kind} has no rule {text}")).1;
        let list = |name: &str| document[name].as_array().unwrap().clone();
        Rule { message, accepted: list("accepted"), refused: list("refused"), text, kind }
    });
    rules.collect()
}

pub(crate) fn documents(rules: &[Rule]) -> Vec<Named> {
    let specs = rules
        .iter()
        .flat_map(|rule| rule.accepted.iter().chain(&rule.refused).map(|spec| (&rule.kind, spec)));
    specs.flat_map(|(kind, spec)| in_every_version(kind, spec)).collect()
}

/// In the order of [`documents`].
pub(crate) fn expectations(rules: &[Rule]) -> impl Iterator<Item = Expected<'_>> {
    rules.iter().flat_map(|rule| {
        let versions = Crd::called(&rule.kind).unwrap().served().count();
        let of = |count: usize, accepted| (0..count * versions).map(move |_| Expected { rule, accepted });
        of(rule.accepted.len(), true).chain(of(rule.refused.len(), false))
    })
}

pub(crate) fn texts(rules: &[Rule]) -> BTreeSet<&str> {
    rules.iter().map(|rule| rule.text.as_str()).collect()
}

/// Rules of any CRD that have no good or no bad document.
pub(crate) fn without_documents(rules: &[Rule]) -> Vec<String> {
    let covered = |text: &str| {
        rules.iter().any(|rule| rule.text == text && !rule.accepted.is_empty() && !rule.refused.is_empty())
    };
    let every: BTreeSet<String> = Crd::all().flat_map(of_crd).map(|(rule, _)| rule.to_owned()).collect();
    every.into_iter().filter(|rule| !covered(rule)).collect()
}

impl Expected<'_> {
    pub(crate) fn is_met(&self, verdict: &Verdict) -> Result<(), String> {
        let message = &self.rule.message;
        match (&verdict.0, self.accepted) {
            (None, true) => Ok(()),
            // Whether the rule is false or cannot be evaluated, its message is in the answer; another's only if that
            // is about the very same field, since some rules say the same.
            (Some(refusal), false) if refusal.causes.iter().any(|cause| cause.message.contains(message)) => {
                let fields: BTreeSet<_> = refusal.causes.iter().map(|cause| &cause.field).collect();
                (fields.len() == 1).then_some(()).ok_or_else(|| format!("too much is wrong: {refusal:?}"))
            }
            (verdict, _) => {
                Err(format!("rule {:?} ({message}): the server says {verdict:?}", self.rule.text))
            }
        }
    }
}

/// Texts and messages, of all its schemas.
fn of_crd(crd: &'static Crd) -> impl Iterator<Item = (&'static str, String)> {
    let mut found = Vec::new();
    crd.schemas().iter().for_each(|schema| collect(schema, &mut found));
    found.into_iter()
}

fn collect(value: &'static Value, found: &mut Vec<(&'static str, String)>) {
    match value {
        Value::Object(fields) => {
            let rules = value["x-kubernetes-validations"].as_array().into_iter().flatten();
            let rule =
                |rule: &'static Value| Some((rule["rule"].as_str()?, rule["message"].as_str()?.to_owned()));
            found.extend(rules.filter_map(rule));
            fields.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
