//! The user's own tree: every file laid on the one before it, then every flag.

use mizzen_text::{
    Code, Diagnostic, Path, Place, Severity, Source, Step, nearest,
    yaml::{self, Document, Options},
};
use serde_json::{Value, json};

use crate::{Input, Origins, Refused, set::Assignment, tree};

/// What the user said, before any profile.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) tree: Value,
    pub(crate) origins: Origins,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Paths that a flag set to null: nothing shall be there, whatever the profile says.
    removed: Vec<Path>,
}

impl User {
    pub(crate) fn read(input: &Input) -> Result<Self, Refused> {
        let tree = json!({"apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator",
                          "metadata": {}, "spec": {}});
        let mut user = Self { tree, origins: Origins::default(), warnings: Vec::new(), removed: Vec::new() };
        for source in &input.files {
            if let Some(document) = user.document(source)? {
                tree::merge(&mut user.tree, &document.value);
                user.origins.file(document);
            }
        }
        let mut wrong = Vec::new();
        for (shown, text) in input.assignments() {
            wrong.extend(user.assign(shown, &text).err().map(|diagnostic| *diagnostic));
        }
        if wrong.is_empty() { Ok(user) } else { Err(Refused(wrong)) }
    }

    /// The one document of a file; none where it is empty.
    fn document(&mut self, source: &Source) -> Result<Option<Document>, Refused> {
        let mut documents = yaml::load_all(source, &Options::KUBERNETES);
        let Some(document) = documents.next() else { return Ok(None) };
        let mut document = document?;
        if let Some(second) = documents.next() {
            let place = second?.place(&Path::default());
            let message = "the file contains multiple IstioOperator CRs, only one per file is supported";
            let hint = "put each into a file of its own and give `-f` for each";
            return Err(Diagnostic::new(Code::Invalid, message).at(place).hint(hint).into());
        }
        self.warnings.append(&mut document.warnings);
        check_kind(&document)?;
        for way in [&["spec", "values"][..], &["spec", "components"], &["spec"], &["metadata"]] {
            // A key with nothing behind it says nothing; taken literally it would delete the profile.
            if tree::get(&document.value, way).is_some_and(Value::is_null) {
                tree::remove(&mut document.value, way);
            }
        }
        Ok(Some(document))
    }

    fn assign(&mut self, shown: String, text: &str) -> Result<(), Box<Diagnostic>> {
        let assignment = Assignment::read(text);
        let place = || Place::whole(&Source::new(shown.clone(), Vec::new()));
        if assignment.path.trim_end_matches('.') == "spec" {
            let message = "there is no path in front of `=`";
            return Err(Box::new(Diagnostic::new(Code::Invalid, message).at(place())));
        }
        if assignment.path.starts_with("spec.spec.") {
            let message = "paths of `--set` begin below `spec`";
            let diagnostic = Diagnostic::new(Code::Invalid, message).at(place());
            return Err(Box::new(diagnostic.hint("leave `spec.` out")));
        }
        if assignment.bare {
            let message = format!("there is no `=`, so `{text}` is set to an empty text");
            let hint = format!("write `{text}=VALUE`");
            let warning = Diagnostic::new(Code::Doubtful, message).severity(Severity::Warning);
            self.warnings.push(warning.at(place()).hint(hint));
        }
        let path = assignment
            .apply(&mut self.tree)
            .map_err(|error| Box::new(Diagnostic::new(Code::Invalid, error.to_string()).at(place())))?;
        if assignment.value.is_null() {
            self.remove(&path);
        }
        self.origins.flag(shown, path);
        Ok(())
    }

    /// Items of lists go at once; fields stay as null until they have been laid over the profile's.
    fn remove(&mut self, path: &Path) {
        let Some((last, parents)) = path.0.split_last() else { return };
        let parent = walk_mut(&mut self.tree, parents);
        match (parent, last) {
            (Some(Value::Array(items)), Step::Index(index)) => {
                items.remove(*index);
            }
            // Like a key with nothing behind it in a file.
            (Some(Value::Object(map)), Step::Field(name)) if is_block(path) => {
                map.remove(name);
            }
            _ => self.removed.push(path.clone()),
        }
    }

    /// Takes out of the merged tree what flags removed. In values and the mesh's configuration null stays: it is how a
    /// chart's own default is removed.
    pub(crate) fn finish(&self, merged: &mut Value) {
        for path in &self.removed {
            let to_charts =
                matches!(path.0.get(1), Some(Step::Field(name)) if name == "values" || name == "meshConfig");
            let Some((Step::Field(last), parents)) = path.0.split_last() else { continue };
            if to_charts {
                continue;
            }
            if let Some(Value::Object(map)) = walk_mut(merged, parents)
                && map.get(last).is_some_and(Value::is_null)
            {
                map.remove(last);
            }
        }
    }
}

/// `spec.values` and the like.
fn is_block(path: &Path) -> bool {
    let names = ["values", "components", "meshConfig", "unvalidatedValues"];
    matches!(&path.0[..], [_, Step::Field(name)] if names.contains(&name.as_str()))
}

fn walk_mut<'t>(tree: &'t mut Value, steps: &[Step]) -> Option<&'t mut Value> {
    steps.iter().try_fold(tree, |here, step| match step {
        Step::Field(name) => here.get_mut(name),
        Step::Index(index) => here.get_mut(index),
    })
}

/// Istioctl takes any kind; but whoever gives another one gave the wrong file.
fn check_kind(document: &Document) -> Result<(), Refused> {
    let top = Path::default();
    if !document.value.is_object() {
        let message = "the file is no IstioOperator: it has no fields";
        return Err(Diagnostic::new(Code::WrongType, message).at(document.place(&top)).into());
    }
    let kind = document.value.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind == "IstioOperator" {
        return Ok(());
    }
    let path = Path(vec![Step::Field("kind".to_owned())]);
    let (message, place) = match kind {
        "" => ("`kind` is missing: it must be `IstioOperator`".to_owned(), document.place(&top)),
        kind => {
            let meant = match nearest(kind, ["IstioOperator"]) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "it must be `IstioOperator`".to_owned(),
            };
            (format!("the kind is `{kind}`; {meant}"), document.place(&path))
        }
    };
    Err(Diagnostic::new(Code::Invalid, message).path(path).at(place).into())
}
