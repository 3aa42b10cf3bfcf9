//! What is told of a mesh in its resource: a word for each component and the worst of them for the whole, with sentences.

use mizzen_install::{COMPONENTS, deploy::Event};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Istio's words; later ones are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Word {
    None,
    Healthy,
    /// On the way to another version.
    Updating,
    Reconciling,
    ActionRequired,
    Error,
}

impl Word {
    const ALL: [Self; 6] =
        [Self::None, Self::Healthy, Self::Updating, Self::Reconciling, Self::ActionRequired, Self::Error];

    fn text(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Healthy => "HEALTHY",
            Self::Updating => "UPDATING",
            Self::Reconciling => "RECONCILING",
            Self::ActionRequired => "ACTION_REQUIRED",
            Self::Error => "ERROR",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Component {
    word: Word,
    version: String,
    message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    components: BTreeMap<String, Component>,
    /// What concerns no component.
    whole: Option<(Word, String)>,
}

impl Status {
    /// As a resource has it.
    pub(crate) fn read(status: &Value) -> Self {
        let listed = status.get("componentStatus").and_then(Value::as_object).into_iter().flatten();
        let component = |value: &Value| {
            let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
            let word = Word::ALL.into_iter().find(|word| word.text() == text("status"));
            let message = ["error", "message"].map(text).into_iter().find(|text| !text.is_empty());
            Component {
                word: word.unwrap_or(Word::None),
                version: text("version").to_owned(),
                message: message.unwrap_or_default().to_owned(),
            }
        };
        let components = listed.map(|(name, value)| (name.clone(), component(value))).collect();
        Self { components, whole: None }
    }

    /// Before the first write: what is well and stays as it is says so on; the others are worked on.
    /// `parts` are the components with whether anything of them changes.
    pub(crate) fn begin<'p>(&self, version: &str, parts: impl IntoIterator<Item = (&'p str, bool)>) -> Self {
        let mut components = BTreeMap::new();
        for (name, changes) in parts {
            let before = self.components.get(name);
            let word = match before {
                Some(before) if before.word == Word::Healthy && !changes => Word::Healthy,
                Some(before) if !before.version.is_empty() && before.version != version => Word::Updating,
                _ => Word::Reconciling,
            };
            let component = Component { word, version: version.to_owned(), message: String::new() };
            components.insert(name.to_owned(), component);
        }
        Self { components, whole: None }
    }

    pub(crate) fn hear(&mut self, event: &Event) {
        let (title, word, message) = match event {
            Event::Waits { component, for_what } => {
                let told: Vec<String> = for_what.iter().map(ToString::to_string).collect();
                (component, None, format!("waiting for {}", told.join("; ")))
            }
            Event::Ready { component } => (component, Some(Word::Healthy), String::new()),
            Event::Failed { component, reason } => (component, Some(Word::Error), reason.clone()),
            Event::Begins { .. } | Event::Brought { .. } | Event::Deleted { .. } | Event::Kept { .. } => {
                return;
            }
        };
        let Some(known) = COMPONENTS.iter().find(|known| known.title == *title) else { return };
        if let Some(component) = self.components.get_mut(known.name) {
            // Whoever was well and is waited for now is not.
            let waiting = if component.word == Word::Updating { Word::Updating } else { Word::Reconciling };
            component.word = word.unwrap_or(waiting);
            component.message = message;
        }
    }

    /// Something that concerns no component. What was told of them stays.
    #[must_use]
    pub(crate) fn whole(mut self, word: Word, message: impl Into<String>) -> Self {
        self.whole = Some((word, message.into()));
        self
    }

    fn word(&self) -> Word {
        let components = self.components.values().map(|component| component.word);
        let worst = components.max().unwrap_or(Word::Healthy);
        match &self.whole {
            Some((word, _)) => *word.max(&worst),
            None => worst,
        }
    }

    pub(crate) fn is_healthy(&self) -> bool {
        self.word() <= Word::Healthy
    }

    fn message(&self) -> String {
        if let Some((_, message)) = &self.whole {
            return message.clone();
        }
        let told = self.components.iter().filter(|(_, component)| !component.message.is_empty());
        let told: Vec<String> =
            told.map(|(name, component)| format!("{name}: {}", component.message)).collect();
        told.join("\n")
    }

    pub(crate) fn value(&self) -> Value {
        let mut components = Map::new();
        for (name, component) in &self.components {
            let mut value = json!({ "status": component.word.text() });
            let key = if component.word == Word::Error { "error" } else { "message" };
            for (key, text) in [("version", &component.version), (key, &component.message)] {
                if !text.is_empty() {
                    value[key] = text.as_str().into();
                }
            }
            components.insert(name.clone(), value);
        }
        let mut value = json!({ "status": self.word().text(), "componentStatus": components });
        let message = self.message();
        if !message.is_empty() {
            value["message"] = message.into();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_cluster::{ObjectId, wait::Waiting};

    fn of(words: &[(&str, &str)]) -> Status {
        let components: Map<String, Value> =
            words.iter().map(|(name, word)| ((*name).to_owned(), json!({ "status": word }))).collect();
        Status::read(&json!({ "componentStatus": components }))
    }

    #[test]
    fn the_whole_is_as_well_as_its_worst_component() {
        let cases: [(&[&str], &str); 5] = [
            (&["HEALTHY", "HEALTHY"], "HEALTHY"),
            (&["HEALTHY", "UPDATING"], "UPDATING"),
            (&["RECONCILING", "UPDATING"], "RECONCILING"),
            (&["RECONCILING", "ERROR"], "ERROR"),
            (&[], "HEALTHY"),
        ];
        for (words, worst) in cases {
            let words: Vec<(&str, &str)> = ["Base", "Pilot"].into_iter().zip(words.iter().copied()).collect();
            assert_eq!(of(&words).value()["status"], worst, "{words:?}");
        }
        let required = of(&[("Pilot", "HEALTHY")]).whole(Word::ActionRequired, "move the proxies");
        assert_eq!(required.value()["status"], "ACTION_REQUIRED");
        assert_eq!(required.value()["message"], "move the proxies");
        assert_eq!(required.value()["componentStatus"]["Pilot"]["status"], "HEALTHY");
    }

    #[test]
    fn what_is_waited_for_is_said_in_words_until_it_is_there() {
        let mut status = of(&[("Base", "HEALTHY"), ("Pilot", "HEALTHY")]);
        let id = ObjectId::new("apps", "Deployment", "n", "istiod");
        let for_what = vec![Waiting { id, reason: "0 of 1 replicas are ready".into() }];
        status.hear(&Event::Waits { component: "Istiod", for_what });
        let value = status.value();
        assert_eq!(value["componentStatus"]["Pilot"]["status"], "RECONCILING");
        let sentence = "Pilot: waiting for Deployment n/istiod: 0 of 1 replicas are ready";
        assert_eq!((&value["status"], &value["message"]), (&json!("RECONCILING"), &json!(sentence)));
        status.hear(&Event::Failed { component: "Istiod", reason: "no".into() });
        assert_eq!(status.value()["componentStatus"]["Pilot"], json!({ "status": "ERROR", "error": "no" }));
        assert!(!status.is_healthy());
        status.hear(&Event::Ready { component: "Istiod" });
        assert_eq!(status.value(), of(&[("Base", "HEALTHY"), ("Pilot", "HEALTHY")]).value());
    }

    #[test]
    fn only_what_changes_is_worked_on_and_another_version_is_an_update() {
        let before = |word: &str, version: &str| {
            Status::read(&json!({ "componentStatus": { "Pilot": { "status": word, "version": version } } }))
        };
        let cases = [
            (Status::default(), true, "RECONCILING"),
            (before("HEALTHY", "1.30.0"), false, "HEALTHY"),
            (before("HEALTHY", "1.31.0"), true, "RECONCILING"),
            (before("HEALTHY", "1.30.0"), true, "UPDATING"),
            (before("UPDATING", "1.31.0"), false, "RECONCILING"),
            (before("ERROR", "1.31.0"), false, "RECONCILING"),
        ];
        for (before, changes, word) in cases {
            let value = before.begin("1.31.0", [("Pilot", changes)]).value();
            assert_eq!(value["componentStatus"]["Pilot"], json!({ "status": word, "version": "1.31.0" }));
        }
        let gone = before("HEALTHY", "1").begin("1", [("Base", false)]).value();
        assert!(gone["componentStatus"].get("Pilot").is_none(), "what is switched off has no status");
    }

    #[test]
    fn a_status_is_read_as_it_was_written() {
        let mut status = of(&[("Base", "HEALTHY"), ("Pilot", "UPDATING")]);
        status.hear(&Event::Failed { component: "Istiod", reason: "no".into() });
        assert_eq!(Status::read(&status.value()), status);
    }
}
