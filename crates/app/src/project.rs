//! `app.yaml` and the overlays of its stack: which files there are, and what their head says.

use crate::{
    files::Files,
    front::{
        ANNOTATIONS, LABELS,
        shape::{Block, Shape, attribute, list, map},
        syntax,
    },
    problem::{On, Problem},
    workload,
};
use mizzen_text::{
    Code, Diagnostic, Path, Place, Severity, Source, Step, nearest,
    yaml::{Document, Duplicates, Options, load_all},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub const APP: &str = "app.yaml";

/// The stack of an application that names none.
pub const ONLY_STACK: &str = "default";

pub(crate) static BLOCK: Block = Block::new(&[
    attribute(
        "name",
        "name",
        Shape::Text(syntax::name),
        "The application's name; its objects are named after it",
    )
    .required(),
    attribute(
        "namespace",
        "namespace",
        Shape::Text(syntax::label),
        "Where its objects live. Default: a namespace of the application's name",
    ),
    attribute(
        "createNamespace",
        "createNamespace",
        Shape::Truth,
        "Whether the namespace is one of the objects. Default: with a workload it is",
    ),
    attribute(
        "stacks",
        "stacks",
        map(syntax::name, &Shape::Block(&STACK)),
        "The environments, by name. What differs in one is written in app.<stack>.yaml",
    ),
    attribute("labels", "labels", LABELS, "Labels of all its objects"),
    attribute("annotations", "annotations", ANNOTATIONS, "Annotations of all its objects"),
    attribute(
        "workload",
        "workload",
        Shape::Block(&workload::BLOCK),
        "What runs: a Deployment and a Service are made of it",
    ),
    attribute(
        "manifests",
        "manifests",
        list(&Shape::Text(syntax::not_empty)),
        "Files or folders of plain Kubernetes objects that belong to the application",
    ),
    attribute(
        "istio",
        "istio",
        Shape::Istio,
        "What the application wants from the mesh: kinds, and blocks under names of your own",
    ),
]);

static STACK: Block = Block::new(&[
    attribute("cluster", "cluster", Shape::Text(syntax::label_value), "The cluster that the stack runs in"),
    attribute("extends", "extends", Shape::Text(syntax::key), "A stack whose overlay lies below this one's"),
]);

/// As we read files of our own; a key that stands twice hides nothing else that is wrong.
const OPTIONS: Options = Options { duplicates: Duplicates::Warn, ..Options::OWN };

/// The one document of a file; nothing where there is nothing in it. What can be told without ending there is among its warnings.
pub(crate) fn document(source: &Source) -> Result<Option<Document>, Vec<Diagnostic>> {
    let mut documents = load_all(source, &OPTIONS);
    let mut first = match documents.next() {
        None => return Ok(None),
        Some(first) => first.map_err(|diagnostic| vec![*diagnostic])?,
    };
    if !first.value.is_object() {
        let message = "the file must be a map of attributes";
        return Err(vec![Diagnostic::new(Code::AppFile, message).at(first.place(&Path::default()))]);
    }
    for twice in first.warnings.iter_mut().filter(|warning| warning.code == Code::DuplicateKey) {
        twice.severity = Severity::Error;
        twice.hint = Some("remove one of them".to_owned());
    }
    match documents.next() {
        None => {}
        Some(Err(diagnostic)) => first.warnings.push(*diagnostic),
        Some(Ok(second)) => {
            let message = "a second document is not read here";
            let diagnostic = Diagnostic::new(Code::AppFile, message).at(second.place(&Path::default()));
            let hint = "plain Kubernetes objects go into a folder that `manifests` names";
            first.warnings.push(diagnostic.hint(hint));
        }
    }
    Ok(Some(first))
}

/// That a file says nothing, where it has to.
pub(crate) fn empty(source: &Source, hint: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::new(Code::AppFile, "the file is empty").at(Place::whole(source)).hint(hint)]
}

/// `app.yaml`
pub(crate) fn base(files: &dyn Files) -> Result<Document, Vec<Diagnostic>> {
    let Some(source) = files.file(APP).map_err(|diagnostic| vec![*diagnostic])? else {
        let place = Place::whole(&Source::new(APP, Vec::new()));
        let diagnostic = Diagnostic::new(Code::AppFile, format!("there is no {APP} here")).at(place);
        return Err(vec![
            diagnostic.hint("`mizzen app init` writes one to begin with; -C names another folder"),
        ]);
    };
    document(&source)?.ok_or_else(|| empty(&source, "`mizzen app init` writes one to begin with"))
}

/// The overlays of a chain of stacks, the lowest first, and what is wrong with them. Nothing where one cannot be read: without it
/// everything else would look wrong. One that says nothing changes nothing.
pub(crate) fn overlays(files: &dyn Files, chain: &[String]) -> (Option<Vec<Document>>, Vec<Diagnostic>) {
    let (mut documents, mut told) = (Vec::new(), Vec::new());
    let mut whole = true;
    for stack in chain {
        let read = files.file(&overlay(stack)).map_err(|diagnostic| vec![*diagnostic]);
        match read.and_then(|source| source.map_or(Ok(None), |source| document(&source))) {
            Err(wrong) => {
                told.extend(wrong);
                whole = false;
            }
            Ok(None) => {}
            Ok(Some(mut document)) => {
                told.append(&mut document.warnings);
                told.extend(not_there(&document));
                if let Some(fields) = document.value.as_object_mut() {
                    fields.remove("stacks");
                }
                documents.push(document);
            }
        }
    }
    (whole.then_some(documents), told)
}

/// The name of a stack's own file.
pub fn overlay(stack: &str) -> String {
    format!("app.{stack}.yaml")
}

/// Overlays of stacks that nobody has declared: what is in them goes nowhere.
pub(crate) fn strays(files: &dyn Files, base: &Value) -> Vec<Diagnostic> {
    let stacks = Stacks::of(base);
    let mut told = Vec::new();
    for file in files.names() {
        let Some(stack) = file.strip_prefix("app.").and_then(|rest| rest.strip_suffix(".yaml")) else {
            continue;
        };
        let only = stacks.0.is_empty() && stack == ONLY_STACK;
        if stack.is_empty() || only || stacks.0.contains_key(stack) {
            continue;
        }
        let meant = nearest(stack, stacks.0.keys().copied());
        let message = format!("{file} is read for no stack: there is no stack `{stack}`");
        // At its name, as it is shown elsewhere.
        let source = match files.file(&file) {
            Ok(Some(source)) => source,
            _ => Source::new(file.clone(), Vec::new()),
        };
        let stray = Diagnostic::new(Code::AppStack, message).at(Place::whole(&source));
        told.push(match meant {
            Some(meant) => stray.hint(format!("did you mean {}?", overlay(meant))),
            None => stray
                .severity(Severity::Warning)
                .hint(format!("`stacks: {{ {stack}: {{}} }}` in {APP} makes it one")),
        });
    }
    told
}

/// What an overlay cannot say: it is chosen by it.
fn not_there(overlay: &Document) -> Option<Diagnostic> {
    overlay.value.get("stacks")?;
    let path = Path(vec![Step::Field("stacks".to_owned())]);
    let message = format!("`stacks` can only stand in {APP}");
    Some(Diagnostic::new(Code::AppStack, message).at(overlay.key_place(&path)).path(path))
}

/// Which stack is meant.
#[derive(Debug, PartialEq)]
pub(crate) enum Chosen {
    /// The stacks whose overlays are put on each other, the lowest first.
    One(Vec<String>),
    /// None can be built. Whatever else is wrong is looked for in all that could be.
    None { problems: Vec<Problem>, chains: Vec<Vec<String>> },
}

/// Stacks that lie on each other in no good way are told even if they are not the one that is meant.
pub(crate) fn chosen(base: &Value, wanted: Option<&str>) -> Chosen {
    let stacks = Stacks::of(base);
    let (mut problems, mut chains) = (Vec::new(), Vec::new());
    // A circle is one, wherever somebody begins.
    let mut circles: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for name in stacks.0.keys() {
        match stacks.chain(name) {
            Ok(chain) => chains.push(chain),
            Err(Broken { problem, circle }) if circle.is_empty() || circles.insert(circle.clone()) => {
                problems.push(*problem);
            }
            Err(_) => {}
        }
    }
    let one = match (wanted, chains.as_slice()) {
        (None, []) if stacks.0.is_empty() => return Chosen::One(vec![ONLY_STACK.to_owned()]),
        (None, [only]) if stacks.0.len() == 1 => Some(only.clone()),
        (None, _) if stacks.0.len() > 1 => {
            let several: Vec<&str> = stacks.0.keys().copied().collect();
            let message = "there are several stacks, and none is chosen";
            let problem = Problem::new(Code::AppStack, stacks_path(), On::Key, message);
            problems.insert(0, problem.hint(format!("--stack {}", several.join("|"))));
            None
        }
        (None, _) => None,
        (Some(wanted), _) if !stacks.0.contains_key(wanted) => {
            problems.insert(0, stacks.unknown(wanted, stacks_path(), On::Key));
            None
        }
        (Some(wanted), chains) => {
            chains.iter().find(|chain| chain.last().is_some_and(|last| last == wanted)).cloned()
        }
    };
    match one {
        Some(chain) if problems.is_empty() => Chosen::One(chain),
        Some(chain) => Chosen::None { problems, chains: vec![chain] },
        None => Chosen::None { problems, chains },
    }
}

fn stacks_path() -> Path {
    Path(vec![Step::Field("stacks".to_owned())])
}

/// A stack that lies on nothing, or on itself.
struct Broken {
    problem: Box<Problem>,
    /// The stacks that extend each other.
    circle: BTreeSet<String>,
}

/// The stacks of an application, by name.
struct Stacks<'a>(BTreeMap<&'a str, &'a Value>);

impl<'a> Stacks<'a> {
    fn of(base: &'a Value) -> Self {
        let stacks = base.get("stacks").and_then(Value::as_object).into_iter().flatten();
        Self(stacks.map(|(name, stack)| (name.as_str(), stack)).collect())
    }

    fn unknown(&self, name: &str, path: Path, on: On) -> Problem {
        let hint = match nearest(name, self.0.keys().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.0.is_empty() => format!("`{APP}` names no stacks"),
            None => format!("there are {}", self.0.keys().copied().collect::<Vec<_>>().join(", ")),
        };
        Problem::new(Code::AppStack, path, on, format!("there is no stack `{name}`")).hint(hint)
    }

    /// A stack and those that it lies on, the lowest first.
    fn chain(&self, name: &str) -> Result<Vec<String>, Broken> {
        let mut chain = vec![name.to_owned()];
        loop {
            let at = chain[0].clone();
            let extends = self.0.get(at.as_str()).and_then(|stack| stack.get("extends"));
            let Some(below) = extends.and_then(Value::as_str) else { return Ok(chain) };
            let steps = ["stacks", &at, "extends"].map(|step| Step::Field(step.to_owned()));
            let path = Path(steps.to_vec());
            if !self.0.contains_key(below) {
                return Err(Broken {
                    problem: Box::new(self.unknown(below, path, On::Value)),
                    circle: BTreeSet::new(),
                });
            }
            if let Some(first) = chain.iter().position(|stack| stack == below) {
                let circle = &chain[..=first];
                let way: Vec<_> = circle.iter().rev().map(String::as_str).chain([below]).collect();
                let message = format!("stacks extend each other in a circle: {}", way.join(" → "));
                let problem =
                    Problem::new(Code::AppStack, path, On::Value, message).hint("take one `extends` away");
                let circle = circle.iter().cloned().collect();
                return Err(Broken { problem: Box::new(problem), circle });
            }
            chain.insert(0, below.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chain(base: &Value, wanted: Option<&str>) -> Vec<String> {
        match chosen(base, wanted) {
            Chosen::One(chain) => chain,
            Chosen::None { problems, .. } => panic!("{problems:?}"),
        }
    }

    #[test]
    fn a_stack_lies_on_those_that_it_extends() {
        let base = json!({"stacks": {"dev": {}, "test": {"extends": "dev"}, "prod": {"extends": "test"}}});
        assert_eq!(chain(&base, Some("prod")), ["dev", "test", "prod"]);
        assert_eq!(chain(&json!({"stacks": {"dev": null}}), None), ["dev"]);
        assert_eq!(chain(&json!({}), None), [ONLY_STACK]);
    }

    #[test]
    fn stacks_that_cannot_be_had_are_told_whichever_is_meant() {
        let base = json!({"stacks": {
            "a": {"extends": "b"}, "b": {"extends": "a"}, "c": {"extends": "x"}, "d": {}, "e": {"extends": "d"},
        }});
        let always = ["circle: a → b → a", "no stack `x`"];
        for (wanted, more, looked_at) in [
            (Some("a"), None, 2),
            (Some("c"), None, 2),
            (Some("e"), None, 1),
            (Some("g"), Some("no stack `g`"), 2),
            (None, Some("several stacks"), 2),
        ] {
            let Chosen::None { problems, chains } = chosen(&base, wanted) else { panic!("{wanted:?}") };
            let expected: Vec<&str> = more.into_iter().chain(always).collect();
            assert_eq!(problems.len(), expected.len(), "{problems:?}");
            for (problem, expected) in problems.iter().zip(expected) {
                assert!(problem.message.contains(expected), "{} is not about {expected}", problem.message);
            }
            assert_eq!(chains.len(), looked_at, "{chains:?}");
        }
    }
}
