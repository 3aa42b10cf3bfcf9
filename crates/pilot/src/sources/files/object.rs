//! One file → the objects in it, and what is wrong in it, with lines.

use crate::sources::admit::{From, Outcome, admit, one};
use mizzen_mesh::{Event, Key, KeyKind};
use mizzen_text::{
    Path, Source, Step,
    yaml::{self, Document, Options},
};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// An object of a file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) key: Key,
    /// Applied, or Broken.
    pub(super) event: Event,
    /// Of what was written.
    pub(super) hash: u64,
}

#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) objects: Vec<Found>,
    /// `file:line:column: what`, for each thing that does not count.
    pub(super) problems: Vec<String>,
    /// Something could not be read at all, so nobody knows what is missing.
    pub(super) incomplete: bool,
}

/// Lists in lists are read this deep.
const LISTS: usize = 4;

/// Objects without a namespace are in this one.
const NAMESPACE: &str = "default";

pub(super) fn read(source: &Source, registry: bool) -> Contents {
    let mut contents = Contents::default();
    for document in yaml::load_all(source, &Options::default()) {
        match document {
            Ok(mut document) => {
                for warning in &document.warnings {
                    let place = warning.place.as_ref().map_or_else(String::new, ToString::to_string);
                    tracing::warn!("{place}: {}", warning.message);
                }
                let value = std::mem::take(&mut document.value);
                walk(value, &document, &mut Path::default(), registry, 0, &mut contents);
            }
            Err(diagnostic) => {
                let place =
                    diagnostic.place.as_ref().map_or_else(|| source.name().to_owned(), ToString::to_string);
                contents.problems.push(format!("{place}: {}", diagnostic.message));
                contents.incomplete = true;
            }
        }
    }
    contents
}

fn walk(
    mut value: Value,
    document: &Document,
    at: &mut Path,
    registry: bool,
    depth: usize,
    into: &mut Contents,
) {
    let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    if let (true, true, Some(Value::Array(items))) = (is_list, depth < LISTS, value.get_mut("items")) {
        for (index, item) in std::mem::take(items).into_iter().enumerate() {
            at.0.extend([Step::Field("items".to_owned()), Step::Index(index)]);
            walk(item, document, at, registry, depth + 1, into);
            at.0.truncate(at.0.len() - 2);
        }
        return;
    }
    default_namespace(&mut value);
    let place = |path: &Path| {
        let whole = Path(at.0.iter().chain(&path.0).cloned().collect());
        document.place(&whole).to_string()
    };
    match admit(&value, From::File) {
        Outcome::PassedBy => {}
        Outcome::Counts(admitted) => {
            let Some(key) = admitted.event.key() else { return };
            if !registry && !matches!(key.kind, KeyKind::Istio(_)) {
                tracing::info!(object = %key, "{}: services come from the cluster, so this is passed by", place(&Path::default()));
                return;
            }
            for warning in &admitted.warnings {
                tracing::warn!(object = %key, "{}: {}", place(&warning.path), one(warning));
            }
            into.objects.push(Found { key, hash: hash(&value), event: admitted.event });
        }
        Outcome::Refused(refused) => {
            let place = place(&refused.path);
            match refused.key.filter(|key| !key.name.is_empty()) {
                Some(key) => {
                    into.problems.push(format!("{place}: {key}: {}", refused.reason));
                    let reason = format!("{place}: {}", refused.reason).into();
                    let event = Event::Broken { key: key.clone(), reason };
                    into.objects.push(Found { key, hash: hash(&value), event });
                }
                None => {
                    into.problems.push(format!("{place}: {}", refused.reason));
                    into.incomplete = true;
                }
            }
        }
    }
}

fn default_namespace(value: &mut Value) {
    // These two are in no namespace.
    if matches!(value.get("kind").and_then(Value::as_str), Some("Node" | "Namespace")) {
        return;
    }
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        // What is no text (`n` is none in YAML) is for the reader to refuse.
        let unnamed = match metadata.get("namespace") {
            None | Some(Value::Null) => true,
            Some(name) => name == "",
        };
        if unnamed {
            metadata.insert("namespace".to_owned(), NAMESPACE.into());
        }
    }
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
