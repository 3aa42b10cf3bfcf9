//! `app.yaml` and the overlays of its stack: which files there are, and what their head says.

use crate::{
    files::Files,
    front::{
        ANNOTATIONS, LABELS,
        shape::{Block, Shape, attribute, list, map},
        syntax,
    },
    layers::Layers,
    problem::{On, Problem},
    workload,
};
use mizzen_text::{
    Code, Diagnostic, Path, Place, Source, Step, nearest,
    yaml::{Document, Options, load_all},
};
use serde_json::Value;

pub const APP: &str = "app.yaml";

/// The stack of an application that names none.
pub const ONLY_STACK: &str = "default";

pub(crate) static BLOCK: Block = Block::new(&[
    attribute(
        "name",
        "name",
        Shape::Text(syntax::label_value),
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
        map(syntax::key, &Shape::Block(&STACK)),
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

/// The one document of a file.
pub(crate) fn document(source: &Source) -> Result<Document, Vec<Diagnostic>> {
    let whole = |message: &str, hint: &str| {
        vec![Diagnostic::new(Code::AppFile, message).at(Place::whole(source)).hint(hint)]
    };
    let mut documents = load_all(source, &Options::OWN);
    let first = match documents.next() {
        None => return Err(whole("the file is empty", "`mizzen app init` writes one to begin with")),
        Some(first) => first.map_err(|diagnostic| vec![*diagnostic])?,
    };
    if !first.value.is_object() {
        let message = "the file must be a map of attributes";
        return Err(vec![Diagnostic::new(Code::AppFile, message).at(first.place(&Path::default()))]);
    }
    match documents.next() {
        None => Ok(first),
        Some(Err(diagnostic)) => Err(vec![*diagnostic]),
        Some(Ok(second)) => {
            let message = "a second document is not read here";
            let diagnostic = Diagnostic::new(Code::AppFile, message).at(second.place(&Path::default()));
            Err(vec![diagnostic.hint("plain Kubernetes objects go into a folder that `manifests` names")])
        }
    }
}

/// The files of a stack, merged.
pub(crate) struct Project {
    pub(crate) layers: Layers,
    pub(crate) stack: String,
}

pub(crate) fn read(
    files: &dyn Files,
    stack: Option<&str>,
    platform: Option<Document>,
) -> Result<Project, Vec<Diagnostic>> {
    let Some(source) = files.file(APP).map_err(|diagnostic| vec![*diagnostic])? else {
        let place = Place::whole(&Source::new(APP, Vec::new()));
        let diagnostic = Diagnostic::new(Code::AppFile, format!("there is no {APP} here")).at(place);
        return Err(vec![
            diagnostic.hint("`mizzen app init` writes one to begin with; -C names another folder"),
        ]);
    };
    let base = document(&source)?;
    let chain = match chain(&base.value, stack) {
        Ok(chain) => chain,
        Err(problem) => return Err(vec![Layers::new(vec![base], None).diagnostic(*problem)]),
    };
    let stack = chain.last().cloned().unwrap_or_default();
    let mut documents = vec![base];
    let mut wrong = Vec::new();
    for stack in &chain {
        match files.file(&overlay(stack)) {
            Err(diagnostic) => wrong.push(*diagnostic),
            Ok(None) => {}
            Ok(Some(source)) => match document(&source) {
                Ok(document) => {
                    wrong.extend(not_there(&document));
                    documents.push(document);
                }
                Err(more) => wrong.extend(more),
            },
        }
    }
    if wrong.is_empty() {
        Ok(Project { layers: Layers::new(documents, platform), stack })
    } else {
        Err(wrong)
    }
}

/// The name of a stack's own file.
pub fn overlay(stack: &str) -> String {
    format!("app.{stack}.yaml")
}

/// What an overlay cannot say: it is chosen by it.
fn not_there(overlay: &Document) -> Option<Diagnostic> {
    overlay.value.get("stacks")?;
    let path = Path(vec![Step::Field("stacks".to_owned())]);
    let message = format!("`stacks` can only stand in {APP}");
    Some(Diagnostic::new(Code::AppStack, message).at(overlay.key_place(&path)).path(path))
}

/// The stacks whose overlays are put on each other, the lowest first.
fn chain(base: &Value, wanted: Option<&str>) -> Result<Vec<String>, Box<Problem>> {
    let field = |name: &str| Step::Field(name.to_owned());
    let top = Path(vec![field("stacks")]);
    let stacks = base.get("stacks").and_then(Value::as_object);
    let names: Vec<&str> = stacks.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let refused = |path: Path, on: On, message: String, hint: String| {
        Err(Box::new(Problem::new(Code::AppStack, path, on, message).hint(hint)))
    };
    let unknown = |name: &str, path: Path, on: On| {
        let hint = match nearest(name, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if names.is_empty() => format!("`{APP}` names no stacks"),
            None => format!("there are {}", names.join(", ")),
        };
        refused(path, on, format!("there is no stack `{name}`"), hint)
    };
    let first = match (wanted, names.as_slice()) {
        (Some(wanted), _) => wanted,
        (None, []) => return Ok(vec![ONLY_STACK.to_owned()]),
        (None, [only]) => only,
        (None, several) => {
            let hint = format!("--stack {}", several.join("|"));
            return refused(top, On::Key, "there are several stacks, and none is chosen".to_owned(), hint);
        }
    };
    if !names.contains(&first) {
        return unknown(first, top, On::Key);
    }
    let mut chain = vec![first.to_owned()];
    loop {
        let at = chain[0].clone();
        let path = Path(vec![field("stacks"), field(&at), field("extends")]);
        let Some(below) = stacks.and_then(|stacks| stacks[&at].get("extends")).and_then(Value::as_str) else {
            return Ok(chain);
        };
        if !names.contains(&below) {
            return unknown(below, path, On::Value);
        }
        if chain.iter().any(|stack| stack == below) {
            let circle: Vec<_> = chain.iter().rev().map(String::as_str).chain([below]).collect();
            let message = format!("stacks extend each other in a circle: {}", circle.join(" → "));
            return refused(path, On::Value, message, "take one `extends` away".to_owned());
        }
        chain.insert(0, below.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stack_lies_on_those_that_it_extends() {
        let base = json!({"stacks": {"dev": {}, "test": {"extends": "dev"}, "prod": {"extends": "test"}}});
        assert_eq!(chain(&base, Some("prod")).unwrap(), ["dev", "test", "prod"]);
        assert_eq!(chain(&json!({"stacks": {"dev": null}}), None).unwrap(), ["dev"]);
        assert_eq!(chain(&json!({}), None).unwrap(), [ONLY_STACK]);
    }

    #[test]
    fn a_stack_that_cannot_be_had_is_told() {
        let circle = json!({"stacks": {"a": {"extends": "b"}, "b": {"extends": "a"}, "c": {"extends": "x"}}});
        for (wanted, message) in [
            (Some("a"), "circle: a → b → a"),
            (Some("c"), "no stack `x`"),
            (Some("d"), "no stack `d`"),
            (None, "several stacks"),
        ] {
            let problem = chain(&circle, wanted).unwrap_err();
            assert!(problem.message.contains(message), "{}", problem.message);
        }
    }
}
