//! An application whose files are texts in a test.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

pub(crate) mod reference;
pub(crate) mod rows;

use mizzen_app::{Built, Choice, Files, build};
use mizzen_text::{Diagnostic, Severity, Source};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(crate) struct Texts {
    files: BTreeMap<String, String>,
    choice: Choice,
}

impl Files for Texts {
    fn file(&self, name: &str) -> Result<Option<Source>, Box<Diagnostic>> {
        Ok(self.files.get(name).map(|text| Source::new(name, text.as_bytes())))
    }

    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    fn folder(&self, name: &str) -> Vec<Result<Source, Box<Diagnostic>>> {
        let within = self.files.iter().filter(|(file, _)| file.starts_with(&format!("{name}/")));
        within.map(|(file, text)| Ok(Source::new(file.as_str(), text.as_bytes()))).collect()
    }
}

/// An application of this one file.
pub(crate) fn app(text: &str) -> Texts {
    Texts::default().file("app.yaml", text)
}

impl Texts {
    pub(crate) fn file(mut self, name: &str, text: &str) -> Self {
        self.files.insert(name.to_owned(), text.to_owned());
        self
    }

    pub(crate) fn stack(mut self, name: &str) -> Self {
        self.choice.stack = Some(name.to_owned());
        self
    }

    pub(crate) fn build(&self) -> Built {
        build(self, &self.choice)
    }

    /// The objects of an application in which nothing is wrong.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let built = self.build();
        assert!(built.accepted(), "{}", told(&built));
        built.spec.resources.into_iter().map(|resource| resource.attributes).collect()
    }

    /// Severity, code, place and message of everything that is told.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.build().diagnostics.iter().map(line).collect()
    }
}

pub(crate) fn line(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.place.as_ref().map(ToString::to_string).unwrap_or_default();
    let hint = diagnostic.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{} {place}: {}{hint}", diagnostic.severity.name(), diagnostic.message)
}

pub(crate) fn told(built: &Built) -> String {
    built.diagnostics.iter().map(|diagnostic| diagnostic.for_people(false)).collect()
}

pub(crate) fn errors(built: &Built) -> Vec<&Diagnostic> {
    built.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect()
}

/// The text under the caret.
pub(crate) fn marked(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.place.as_ref().unwrap();
    let span = place.span.clone().unwrap();
    String::from_utf8(place.source.bytes()[span].to_vec()).unwrap()
}
