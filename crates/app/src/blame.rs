//! What a rule says of a rendered field → the line that the field came from.

use crate::{
    front::trace::Trace,
    layers::Layers,
    made::{Made, Origin},
    problem::{On, sentence},
    render::Renderer,
};
use mizzen_check::{Finding, Outcome};
use mizzen_text::{Code, Diagnostic, Path, Place, Severity, Step, yaml::Document};
use serde_json::Value;

pub(crate) struct Blame<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) manifests: &'a [Document],
    pub(crate) renderer: Renderer<'a>,
}

/// Where a field was written.
pub(crate) struct Written {
    pub(crate) path: Path,
    pub(crate) place: Option<Place>,
    /// It is the field itself, not something around it.
    exact: bool,
}

impl Blame<'_> {
    /// Everything that the rules of its kind say of an object.
    pub(crate) fn check(&self, made: &Made, diagnostics: &mut Vec<Diagnostic>) {
        let namespace = made.namespace().unwrap_or_default();
        // Nobody can write an object that is made on the side otherwise, so doubts about it help nobody.
        let doubts = !matches!(made.origin, Origin::Block { asked_by: Some(_), .. });
        let told = |finding: &&Finding| {
            !is_ours(made, &finding.path) && (doubts || severity(&made.object, finding) == Severity::Error)
        };
        let mut trace = None;
        for checked in mizzen_check::document(&made.object, namespace) {
            let Outcome::Findings(findings) = checked.outcome else { continue };
            for finding in findings.iter().filter(told) {
                let trace = trace.get_or_insert_with(|| self.trace(&made.origin));
                diagnostics.extend(self.told(made, trace.as_ref(), finding));
            }
        }
    }

    /// A diagnostic of a field, unless what was written for it could not even be read.
    pub(crate) fn told(&self, made: &Made, trace: Option<&Trace>, finding: &Finding) -> Option<Diagnostic> {
        let on_key = finding.code == Code::UnknownField;
        let written = self.written(&made.origin, trace, &finding.path, on_key);
        if made.unread.iter().any(|unread| unread.clashes(&written.path)) {
            return None;
        }
        // Of what is not there nobody wrote the name.
        let subject = if written.exact { &written.path } else { &finding.path };
        let mut diagnostic = Diagnostic::new(finding.code, sentence(&finding.message, subject))
            .severity(severity(&made.object, finding))
            .path(written.path)
            .object(made.told());
        diagnostic.place = written.place;
        diagnostic.hint.clone_from(&finding.hint);
        Some(diagnostic)
    }

    /// Where each field of an object came from, if it is one that is rendered.
    pub(crate) fn trace(&self, origin: &Origin) -> Option<Trace> {
        let Origin::Block { front, key, asked_by: None } = origin else { return None };
        let written = &self.layers.merged["istio"][front.word][key];
        self.renderer.render(front, key, written, true).trace
    }

    pub(crate) fn written(
        &self,
        origin: &Origin,
        trace: Option<&Trace>,
        field: &Path,
        on_key: bool,
    ) -> Written {
        if let Origin::Manifest { file, at } = origin {
            let path = Path(at.0.iter().chain(&field.0).cloned().collect());
            let document = self.manifests.get(*file);
            let place = document.map(|document| match on_key || field.0.is_empty() {
                true => document.key_place(&path),
                false => document.place(&path),
            });
            return Written { path, place, exact: true };
        }
        let found = trace.and_then(|trace| trace.written(field));
        let (path, exact) = found.map_or((origin.path(), false), |found| (found.path, found.exact));
        // What is missing is told at the key of what it is missing in.
        let on = if exact && !on_key { On::Value } else { On::Key };
        Written { place: self.layers.place(&path, on), path, exact }
    }

    /// The key of the block, or of the object's first line.
    pub(crate) fn key(&self, made: &Made) -> Written {
        self.written(&made.origin, None, &Path::default(), true)
    }
}

/// Names and labels are looked at where they are made, with better words.
fn is_ours(made: &Made, field: &Path) -> bool {
    let named = |name: &str| Step::Field(name.to_owned());
    let ours = ["labels", "name", "namespace"].map(|name| [named("metadata"), named(name)]);
    !matches!(made.origin, Origin::Manifest { .. }) && ours.iter().any(|name| field.0.starts_with(name))
}

/// How much a finding matters to whoever applies the object. How a Service calls its ports is for the mesh to guess by, and
/// Kubernetes takes it; only one of several ports must have a name.
pub(crate) fn severity(object: &Value, finding: &Finding) -> Severity {
    if object["kind"] != "Service" || object["apiVersion"] != "v1" {
        return finding.severity;
    }
    let ports = object["spec"]["ports"].as_array().map_or(&[][..], Vec::as_slice);
    let port = finding.path.0.iter().find_map(|step| match step {
        Step::Index(index) => ports.get(*index),
        Step::Field(_) => None,
    });
    let nameless = ports.len() > 1 && port.is_some_and(|port| port["name"].is_null());
    if nameless { finding.severity } else { Severity::Warning }
}
