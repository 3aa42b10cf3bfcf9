//! The files of an application, one over the other, as one value that still knows where each part was written.
//!
//! Merging never moves anything, so a value stands in the topmost file that has something under the same path. Nothing
//! has to be kept for that; it is looked up when somebody asks. Only the platform's defaults are written elsewhere: what
//! stands under `istio.<kind>.<key>` may come from its `defaults.<kind>`.

use crate::{
    merge::merge,
    problem::{On, Problem},
};
use mizzen_text::{Diagnostic, Path, Place, Step, yaml::Document};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(crate) struct Layers {
    /// The application's, the lowest first.
    files: Vec<Document>,
    platform: Option<Document>,
    pub(crate) merged: Value,
}

impl Layers {
    /// `files` has at least one.
    pub(crate) fn new(files: Vec<Document>, platform: Option<Document>) -> Self {
        let mut merged = Value::Object(Map::new());
        for file in &files {
            merge(&mut merged, &file.value);
        }
        if let (Some(platform), Some(istio)) = (&platform, merged.get_mut("istio")) {
            spread(&platform.value["defaults"], istio);
        }
        Self { files, platform, merged }
    }

    /// The one file of which this was made.
    pub(crate) fn into_only(self) -> Option<Document> {
        self.files.into_iter().next()
    }

    /// Where the platform's file has a key.
    pub(crate) fn platform_key(&self, name: &str) -> Option<Place> {
        let platform = self.platform.as_ref().filter(|platform| platform.value.get(name).is_some())?;
        Some(platform.key_place(&Path(vec![Step::Field(name.to_owned())])))
    }

    pub(crate) fn place(&self, path: &Path, on: On) -> Option<Place> {
        let here = |file: &Document, path: &Path| match on {
            On::Key => file.key_place(path),
            On::Value => file.place(path),
        };
        // The topmost file that goes furthest; of what is in none of them, the platform may go further.
        let depth = |file: &Document, path: &Path| reach(&file.value, &path.0);
        let best = self.files.iter().max_by_key(|file| depth(file, path))?;
        let written = depth(best, path);
        if let (Some(platform), Some(default)) = (&self.platform, default_path(path))
            && written < path.0.len()
            // A default's path is one step shorter.
            && depth(platform, &default) + 1 > written
        {
            return Some(here(platform, &default));
        }
        let path = Path(path.0[..written].to_vec());
        // What is missing is told at the key of what it is missing in.
        Some(here(best, &path))
    }

    pub(crate) fn diagnostic(&self, problem: Problem) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::new(problem.code, problem.message).severity(problem.severity).path(problem.path);
        diagnostic.place = self.place(&diagnostic.path, problem.on);
        diagnostic.hint = problem.hint;
        for (message, path) in problem.related {
            if let Some(place) = self.place(&path, On::Key) {
                diagnostic = diagnostic.related(message, place);
            }
        }
        diagnostic
    }
}

/// The platform's defaults of each kind, below every block of that kind.
fn spread(defaults: &Value, istio: &mut Value) {
    for (kind, default) in defaults.as_object().into_iter().flatten() {
        for block in istio.get_mut(kind).and_then(Value::as_object_mut).into_iter().flatten() {
            let mut whole = default.clone();
            merge(&mut whole, block.1);
            *block.1 = whole;
        }
    }
}

/// How many steps of a path lead to something.
fn reach(value: &Value, steps: &[Step]) -> usize {
    let mut here = value;
    for (depth, step) in steps.iter().enumerate() {
        let next = match step {
            Step::Field(name) => here.get(name),
            Step::Index(index) => here.get(index),
        };
        match next {
            Some(next) => here = next,
            None => return depth,
        }
    }
    steps.len()
}

/// `istio.<kind>.<key>.<rest>` is `defaults.<kind>.<rest>`.
fn default_path(path: &Path) -> Option<Path> {
    match path.0.as_slice() {
        [Step::Field(istio), kind, _, rest @ ..] if istio == "istio" && !rest.is_empty() => {
            let start = [Step::Field("defaults".to_owned()), kind.clone()];
            Some(Path(start.into_iter().chain(rest.iter().cloned()).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_text::{
        Source,
        yaml::{Options, load_all},
    };

    fn file(name: &str, text: &str) -> Document {
        load_all(&Source::new(name, text), &Options::OWN).next().unwrap().unwrap()
    }

    fn path(text: &str) -> Path {
        Path(text.split('.').map(|step| Step::Field(step.to_owned())).collect())
    }

    #[test]
    fn a_value_stands_where_it_was_last_written() {
        let base = file("app.yaml", "istio:\n  gateways:\n    a:\n      name: x\n      labels: {k: v}\n");
        let over =
            file("app.dev.yaml", "istio:\n  gateways:\n    a:\n      name: why\n    b:\n      name: z\n");
        let platform = file("platform.yaml", "defaults:\n  gateways:\n    namespace: edge\n    name: d\n");
        let layers = Layers::new(vec![base, over], Some(platform));
        assert_eq!(layers.merged["istio"]["gateways"]["a"]["name"], "why");
        assert_eq!(layers.merged["istio"]["gateways"]["b"]["namespace"], "edge");
        for (way, on, place) in [
            ("istio.gateways.a.name", On::Value, "app.dev.yaml:4:13"),
            ("istio.gateways.a.labels.k", On::Value, "app.yaml:5:19"),
            ("istio.gateways.b.namespace", On::Value, "platform.yaml:3:16"),
            ("istio.gateways.b.namespace", On::Key, "platform.yaml:3:5"),
            ("istio.gateways.b.hosts", On::Key, "app.dev.yaml:5:5"),
            ("nothing", On::Key, "app.dev.yaml:1:1"),
        ] {
            assert_eq!(layers.place(&path(way), on).unwrap().to_string(), place, "{way}");
        }
    }
}
