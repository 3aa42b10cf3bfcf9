//! One document of a file → what is to be said of each object in it. A `List` is its items.

use crate::{Finding, Findings, schema, service, validate};
use mizzen_api::{Identity, Kind, Object, Unreadable};
use mizzen_text::{At, Code, Path, Step, nearest};
use serde_json::Value;
use std::borrow::Cow;

/// Lists in lists are read this deep; nobody writes more than one.
const LISTS: usize = 8;

/// One object and what was found in it.
#[derive(Debug)]
pub struct Checked<'a> {
    /// Where the object stands in its document: nowhere special, or `items[3]`.
    pub at: Path,
    pub kind: &'a str,
    pub namespace: Option<&'a str>,
    pub name: &'a str,
    pub outcome: Outcome,
}

#[derive(Debug)]
pub enum Outcome {
    /// One of Istio's. Paths are from the top of the document.
    Findings(Findings),
    /// Something else, with the reason in words.
    PassedBy(&'static str),
}

/// Everything that Istio's CRDs and its webhook would say of the objects in a document. `namespace` is that of objects
/// that name none.
pub fn document<'a>(document: &'a Value, namespace: &str) -> Vec<Checked<'a>> {
    let mut checked = Vec::new();
    walk(document, namespace, &mut Path::default(), 0, &mut checked);
    checked
}

fn walk<'a>(
    document: &'a Value,
    namespace: &str,
    at: &mut Path,
    depth: usize,
    checked: &mut Vec<Checked<'a>>,
) {
    if let (Some(items), true) = (list(document), depth < LISTS) {
        for (index, item) in items.iter().enumerate() {
            at.0.extend([Step::Field("items".to_owned()), Step::Index(index)]);
            walk(item, namespace, at, depth + 1, checked);
            at.0.truncate(at.0.len() - 2);
        }
        return;
    }
    let text = |part: &'a Value, name| part.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let metadata = document.get("metadata").unwrap_or(&Value::Null);
    let outcome = match object(document, namespace, depth) {
        Outcome::Findings(found) => Outcome::Findings(found.below(at)),
        passed_by @ Outcome::PassedBy(_) => passed_by,
    };
    checked.push(Checked {
        at: at.clone(),
        kind: text(document, "kind").unwrap_or_default(),
        namespace: text(metadata, "namespace"),
        name: text(metadata, "name").or_else(|| text(metadata, "generateName")).unwrap_or_default(),
        outcome,
    });
}

/// `v1 List`, and the lists that an API server answers with, such as `VirtualServiceList`.
fn list(document: &Value) -> Option<&Vec<Value>> {
    let identity = Identity::of(document)?;
    let is_list = identity.kind.ends_with("List") && identity.istio_kind().is_none();
    let items = if is_list { document.get("items") } else { None };
    items.and_then(Value::as_array)
}

fn object(document: &Value, namespace: &str, depth: usize) -> Outcome {
    let Some(identity) = Identity::of(document) else { return no_identity(document, depth) };
    if identity.kind == "List" {
        let finding = Finding::error(Code::WrongType, "must be a list");
        let path = Path(vec![Step::Field("items".to_owned())]);
        return Outcome::Findings(Finding { path, ..finding }.into());
    }
    if identity.kind == "Service" && document["apiVersion"] == "v1" {
        let found = service::ports(document, namespace);
        if !found.accepted() {
            return Outcome::Findings(found);
        }
    }
    if identity.istio_kind().is_none() {
        return match unknown_kind(&identity) {
            Some(finding) => Outcome::Findings(finding.into()),
            None => Outcome::PassedBy("it is none of Istio's kinds"),
        };
    }
    let mut found = schema::check(document, schema::Unknown::Refuse).unwrap_or_default();
    let (object, unreadable) = read_around(document);
    let blanked: Vec<Path> = unreadable.iter().map(|finding| finding.path.clone()).collect();
    found.extend_where_silent(unreadable, &[]);
    match object {
        Ok(mut object) => {
            let metadata = &mut object.metadata;
            if metadata.namespace.is_empty() {
                namespace.clone_into(&mut metadata.namespace);
            }
            // The webhook is asked when the API server has made the name.
            if metadata.name.is_empty() && !metadata.generate_name.is_empty() {
                metadata.name = format!("{}xxxxx", metadata.generate_name);
            }
            found.extend_where_silent(validate(&object), &blanked);
        }
        Err(error) if found.accepted() => found.error(&At::TOP, error.to_string()),
        // The schema has said why.
        Err(_) => {}
    }
    Outcome::Findings(found)
}

/// How many fields that cannot be read are passed over to get at the rest.
const UNREADABLE: usize = 32;

/// The object without the fields that cannot be read, and these. One wrong type must not hide what else is wrong.
fn read_around(document: &Value) -> (Result<Object, Unreadable>, Findings) {
    let mut unreadable = Findings::default();
    let mut count = 0;
    let mut rest = Cow::Borrowed(document);
    loop {
        match Object::read(&rest) {
            Err(Unreadable::Field { path, message }) if count < UNREADABLE => {
                count += 1;
                let blanked = blank(rest.to_mut(), &path);
                unreadable.push(Finding { path: path.clone(), ..Finding::error(Code::WrongType, &message) });
                if !blanked {
                    return (Err(Unreadable::Field { path, message }), unreadable);
                }
            }
            outcome => return (outcome, unreadable),
        }
    }
}

/// A field that cannot be read is as good as absent; where even `null` cannot be read, it is taken away.
fn blank(document: &mut Value, path: &Path) -> bool {
    if at(document, &path.0).is_some_and(|value| !std::mem::take(value).is_null()) {
        return true;
    }
    let Some((Step::Field(name), way)) = path.0.split_last() else { return false };
    at(document, way).and_then(Value::as_object_mut).is_some_and(|fields| fields.remove(name).is_some())
}

/// A document that does not say what it is. A file of values for a chart is none of ours; half an object, or something
/// in a List, was meant to be one.
fn no_identity(document: &Value, depth: usize) -> Outcome {
    let missing = |name: &str| document.get(name).and_then(Value::as_str).is_none_or(str::is_empty);
    let (message, field) = match (document.is_object(), missing("apiVersion"), missing("kind")) {
        (false, _, _) => ("a Kubernetes object must be a map".to_owned(), None),
        (true, true, true) if depth == 0 => {
            return Outcome::PassedBy("it has no apiVersion and kind, so it is no Kubernetes object");
        }
        (true, true, _) => ("is required".to_owned(), Some("apiVersion")),
        (true, false, _) => ("is required".to_owned(), Some("kind")),
    };
    let path = Path(field.into_iter().map(|name| Step::Field(name.to_owned())).collect());
    Outcome::Findings(Finding { path, ..Finding::error(Code::Invalid, message) }.into())
}

fn at<'a>(document: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(document, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Index(index) => value.get_mut(index),
    })
}

/// A kind that does not exist in a group of Istio's: an API server would not know it either.
fn unknown_kind(identity: &Identity<'_>) -> Option<Finding> {
    let group = || Kind::ALL.iter().filter(|kind| kind.group() == identity.group());
    group().next()?;
    let message = format!("{} has no kind {:?}", identity.group(), identity.kind);
    let hint = match nearest(identity.kind, Kind::ALL.iter().map(|kind| kind.name())) {
        Some(name) => {
            let group = Kind::ALL.iter().find(|kind| kind.name() == name).map_or("", |kind| kind.group());
            format!("did you mean {name} of {group}?")
        }
        None => format!("it has {}", group().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")),
    };
    let path = Path(vec![Step::Field("kind".to_owned())]);
    Some(Finding { path, hint: Some(hint), ..Finding::error(Code::Invalid, message) })
}
