//! Rendered files → one text as `helm template` prints it: documents in the order in which kinds are installed, hooks
//! behind them, each with the template that it came from.

use mizzen_text::{Source, yaml};
use serde_json::Value;

use super::{
    error::{HelmError, sentence},
    rendered::Rendered,
};

/// What is printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ManifestOptions {
    pub crds: bool,
    pub no_hooks: bool,
    pub skip_tests: bool,
}

/// One document of a template.
struct Document<'r> {
    file: &'r str,
    text: &'r str,
    kind: String,
}

pub fn manifest(rendered: &Rendered, options: ManifestOptions) -> Result<String, HelmError> {
    let mut plain = Vec::new();
    let mut hooks = Vec::new();
    for (file, text) in &rendered.files {
        for text in split(text) {
            let head = head(file, text)?;
            let document = Document { file, text, kind: head.kind };
            match head.hooks {
                None => plain.push(document),
                Some(hooks_of) if hooks_of.iter().any(|hook| !HOOKS.contains(&hook.as_str())) => {}
                Some(hooks_of) => {
                    let is_test = hooks_of.iter().any(|hook| hook.starts_with("test"));
                    let skipped = options.no_hooks || is_test && options.skip_tests;
                    if !skipped {
                        hooks.push(document);
                    }
                }
            }
        }
    }
    plain.sort_by(|one, other| order(&one.kind).cmp(&order(&other.kind)));
    hooks.sort_by(|one, other| order(&one.kind).cmp(&order(&other.kind)));
    let mut out = String::new();
    for (name, text) in rendered.crds.iter().filter(|_| options.crds) {
        append(&mut out, name, text);
    }
    for document in &plain {
        append(&mut out, document.file, document.text);
    }
    let mut out = format!("{}\n", out.trim());
    for document in &hooks {
        append(&mut out, document.file, document.text);
    }
    Ok(out)
}

fn append(out: &mut String, file: &str, text: &str) {
    out.push_str("---\n# Source: ");
    out.push_str(file);
    out.push('\n');
    out.push_str(text);
    out.push('\n');
}

/// The documents of a rendered file. Helm splits at every line that begins with `---`, whatever follows on it, but not
/// where the line comes right after another such one: then it is part of the document.
pub fn split(text: &str) -> Vec<&str> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c');
    let mut rest = text.trim_start();
    if let Some(after) = rest.strip_prefix("---") {
        rest = after.trim_start_matches(blank);
    }
    let mut documents = Vec::new();
    while let Some((document, after)) = rest.split_once("\n---") {
        documents.push(document.trim());
        rest = after.trim_start_matches(blank);
    }
    documents.push(rest.trim());
    documents.retain(|document| !document.is_empty());
    documents
}

struct Head {
    kind: String,
    hooks: Option<Vec<String>>,
}

/// Kind and hooks of a document.
fn head(file: &str, text: &str) -> Result<Head, HelmError> {
    let source = Source::new(file, text);
    let value = match yaml::load_all(&source, &yaml::Options::KUBERNETES).next() {
        None => Value::Null,
        Some(Ok(document)) => document.value,
        Some(Err(diagnostic)) => {
            return Err(HelmError::Output { file: file.to_owned(), message: sentence(&diagnostic) });
        }
    };
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let hooks = value.pointer("/metadata/annotations/helm.sh~1hook").and_then(Value::as_str);
    let hooks = hooks.map(|hooks| hooks.split(',').map(|hook| hook.trim().to_lowercase()).collect());
    Ok(Head { kind, hooks })
}

const HOOKS: &[&str] = &[
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
];

/// Known kinds in the order in which they are installed, then the others by name. Helm 4 knows the two kinds of webhooks
/// as well and has them before what it does not know; this is Helm 3's order, which we can compare with.
fn order(kind: &str) -> (usize, &str) {
    match INSTALL_ORDER.iter().position(|known| *known == kind) {
        Some(position) => (position, ""),
        None => (usize::MAX, kind),
    }
}

const INSTALL_ORDER: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_split_as_helm_splits_them() {
        for (text, wanted) in [
            ("", &[][..]),
            ("\n---\n", &[]),
            ("a\n", &["a"]),
            ("---\na\n---\nb\n", &["a", "b"]),
            ("a  \n\n--- # comment\nb", &["a", "# comment\nb"]),
            ("a\n---b", &["a", "b"]),
            ("a\n---\n---\nb", &["a", "---\nb"]),
            ("a\n ---\nb", &["a\n ---\nb"]),
        ] {
            assert_eq!(split(text), wanted, "{text:?}");
        }
    }
}
