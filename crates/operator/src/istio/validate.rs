//! What is wrong with a resource before anything is done about it.

use super::{
    reason::{self, Reason},
    sidecars::Window,
};
use mizzen_api::istio::{Spec, State};
use std::collections::BTreeSet;

/// A resource that is not acted upon, and what its status says.
pub(super) struct Refusal {
    pub(super) state: State,
    pub(super) reason: &'static Reason,
    pub(super) description: String,
}

/// Providers that are always there.
const BUILT_IN: [&str; 4] = ["kyma-traces", "envoy", "stdout-json", "kyma-logs"];

/// The first thing that is wrong; `experimental` is whether this process takes such wishes.
pub(super) fn validate(spec: &Spec, experimental: bool) -> Result<(), Refusal> {
    if spec.experimental.is_some() && !experimental {
        return refused(
            State::Error,
            &reason::UNKNOWN,
            "Experimental features are not supported in this image flavour: istio CR contains experimental feature".to_owned(),
        );
    }
    let mut names = BTreeSet::new();
    for authorizer in &spec.config.authorizers {
        let name = authorizer.name.as_str();
        if !names.insert(name) {
            let description = format!("Authorizer name needs to be unique: {name} is duplicated");
            return refused(State::Warning, &reason::VALIDATION, description);
        }
        if BUILT_IN.contains(&name) {
            let description =
                format!("Authorizer name needs to be unique: {name} is the name of a built-in provider");
            return refused(State::Warning, &reason::VALIDATION, description);
        }
    }
    for expression in &spec.config.proxy_stats_matcher.inclusion_regexps {
        if let Err(why) = mizzen_check::regular_expression(expression) {
            let description =
                format!("ProxyStatsMatcher inclusionRegexps contains an invalid regular expression: {why}");
            return refused(State::Error, &reason::VALIDATION, description);
        }
    }
    for window in spec.mizzen.restart.iter().flat_map(|restart| &restart.windows) {
        if Window::read(window).is_none() {
            let description = format!(
                "spec.mizzen.restart.windows: {window:?} is no window: write it as `Sat-Sun 00:00-04:00`"
            );
            return refused(State::Error, &reason::VALIDATION, description);
        }
    }
    Ok(())
}

fn refused(state: State, reason: &'static Reason, description: String) -> Result<(), Refusal> {
    Err(Refusal { state, reason, description })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(spec: &serde_json::Value, experimental: bool) -> Option<(State, &'static str, String)> {
        let spec = Spec::of(&json!({ "spec": spec })).unwrap();
        let refusal = validate(&spec, experimental).err()?;
        Some((refusal.state, refusal.reason.name, refusal.description))
    }

    #[test]
    fn what_is_wrong_is_told_in_the_words_of_the_reference() {
        let ambient = json!({ "experimental": { "enableAmbient": true } });
        let (state, reason, words) = told(&ambient, false).unwrap();
        assert_eq!((state, reason), (State::Error, "ReconcileUnknown"));
        assert_eq!(
            words,
            "Experimental features are not supported in this image flavour: istio CR contains experimental feature"
        );
        assert!(told(&ambient, true).is_none());

        let twice = |one: &str, other: &str| json!({ "config": { "authorizers": [{ "name": one, "port": 1 }, { "name": other, "port": 2 }] } });
        assert!(told(&twice("a", "b"), false).is_none());
        let (state, reason, words) = told(&twice("a", "a"), false).unwrap();
        assert_eq!((state, reason), (State::Warning, "ValidationFailed"));
        assert_eq!(words, "Authorizer name needs to be unique: a is duplicated");
        let (state, _, words) = told(&twice("a", "kyma-logs"), false).unwrap();
        assert!(state == State::Warning && words.contains("kyma-logs is the name of a built-in"), "{words}");

        let matcher =
            |all: &[&str]| json!({ "config": { "proxyStatsMatcher": { "inclusionRegexps": all } } });
        assert!(told(&matcher(&[".*upstream.*"]), false).is_none());
        let (state, reason, words) = told(&matcher(&[".*", "(a"]), false).unwrap();
        assert_eq!((state, reason), (State::Error, "ValidationFailed"));
        assert!(
            words.starts_with("ProxyStatsMatcher inclusionRegexps contains an invalid regular expression: "),
            "{words}"
        );
        assert!(told(&json!({}), false).is_none());
    }
}
