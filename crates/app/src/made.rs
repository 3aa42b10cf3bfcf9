//! An object of the application, and who asked for it.

use crate::{front::FrontEnd, problem::Problem};
use mizzen_text::{Code, Object, Path, Severity, Step};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) object: Value,
    pub(crate) origin: Origin,
    /// What could not be read of it: rules have nothing to say about what is not there.
    pub(crate) unread: Vec<Unread>,
}

#[derive(Clone, Debug)]
pub(crate) struct Unread {
    path: Path,
    /// Something is missing here, but what is here could be read.
    only_lacks: bool,
}

impl Unread {
    pub(crate) fn of(problem: &Problem) -> Option<Self> {
        let only_lacks = matches!(problem.code, Code::AppMissing | Code::AppTogether);
        let is_error = problem.severity == Severity::Error;
        is_error.then(|| Self { path: problem.path.clone(), only_lacks })
    }

    /// Whether a rule's word about what was written here may be a mistake.
    pub(crate) fn clashes(&self, written: &Path) -> bool {
        self.path.0.starts_with(&written.0) || !self.only_lacks && written.0.starts_with(&self.path.0)
    }
}

#[derive(Debug)]
pub(crate) enum Origin {
    /// A block of `istio`, or one of its attributes that asks for another object.
    Block { front: &'static FrontEnd, key: String, asked_by: Option<&'static str> },
    /// An attribute of `workload`.
    Workload(&'static str),
    /// One of the plain objects: which file, and where in its document.
    Manifest { file: usize, at: Path },
}

impl Origin {
    /// The way to it in the application's files; a manifest is elsewhere.
    pub(crate) fn path(&self) -> Path {
        let steps: Vec<&str> = match self {
            Self::Block { front, key, asked_by } => {
                ["istio", front.word, key].into_iter().chain(*asked_by).collect()
            }
            Self::Workload("") => vec!["name"],
            Self::Workload(attribute) => vec!["workload", attribute],
            Self::Manifest { .. } => Vec::new(),
        };
        Path(steps.into_iter().map(|step| Step::Field(step.to_owned())).collect())
    }
}

impl Made {
    pub(crate) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.object["metadata"]["namespace"].as_str()
    }

    /// `apiVersion:kind:namespace:name`; what lives in no namespace has three parts.
    pub(crate) fn id(&self) -> String {
        let api_version = self.object["apiVersion"].as_str().unwrap_or_default();
        let parts = [Some(api_version), Some(self.kind()), self.namespace(), Some(self.name())];
        parts.into_iter().flatten().collect::<Vec<_>>().join(":")
    }

    pub(crate) fn told(&self) -> Object {
        Object {
            kind: self.kind().to_owned(),
            namespace: self.namespace().map(str::to_owned),
            name: self.name().to_owned(),
        }
    }
}
