//! One object out of a chart: the text of a rendered file is split and read, once.

use mizzen_text::{
    Code, Diagnostic, Source,
    yaml::{self, Options},
};
use serde_json::Value;

use crate::{Refused, tree};

/// A Kubernetes object.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest(pub Value);

impl Manifest {
    pub fn kind(&self) -> &str {
        tree::text(&self.0, &["kind"]).unwrap_or_default()
    }

    pub fn name(&self) -> &str {
        tree::text(&self.0, &["metadata", "name"]).unwrap_or_default()
    }

    pub fn namespace(&self) -> &str {
        tree::text(&self.0, &["metadata", "namespace"]).unwrap_or_default()
    }

    /// `apps` of `apps/v1`; empty for the core.
    pub fn group(&self) -> &str {
        let version = tree::text(&self.0, &["apiVersion"]).unwrap_or_default();
        version.split_once('/').map_or("", |(group, _)| group)
    }

    /// `Kind:namespace:name`; what is in no namespace by its nature is `Kind:name` here if it is about roles, as istioctl
    /// has it.
    pub fn key(&self) -> String {
        match self.kind() {
            kind @ ("ClusterRole" | "ClusterRoleBinding") => format!("{kind}:{}", self.name()),
            kind => format!("{kind}:{}:{}", self.namespace(), self.name()),
        }
    }
}

/// The objects in the text of one rendered file. Documents of nothing but comments are passed by.
pub(crate) fn parse(file: &str, text: &str, objects: &mut Vec<Manifest>) -> Result<(), Refused> {
    for document in documents(text) {
        let source = Source::new(format!("{file} (rendered)"), document);
        // Between its own `---` there is one document; what follows a `...` is not read, in Go neither.
        let Some(read) = yaml::load_all(&source, &Options::KUBERNETES).next() else { continue };
        let value = read?.value;
        if tree::text(&value, &["kind"]).is_none_or(str::is_empty) {
            let message = format!(
                "{file}: the chart rendered a document that is no Kubernetes object: it has no `kind`"
            );
            return Err(Diagnostic::new(Code::Invalid, message).into());
        }
        objects.push(Manifest(value));
    }
    Ok(())
}

/// Splits as istioctl does: a line that begins with `---` parts documents and is dropped whole; blanks around a
/// document are cut off, which a text at its very end notices.
fn documents(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let here = rest?;
        let mut at = 0;
        for line in here.split_inclusive('\n') {
            if line.starts_with("---") && line.ends_with('\n') {
                rest = Some(&here[at + line.len()..]);
                return Some(&here[..at]);
            }
            at += line.len();
        }
        rest = None;
        Some(here)
    })
    .map(str::trim)
    .filter(|document| !document.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn documents_are_parted_by_lines_that_begin_with_three_dashes() {
        let text = "\n# x\n---\na: 1\n--- # y\n\n  ---\nb: |\n  t\n\n---";
        assert_eq!(documents(text).collect::<Vec<_>>(), ["# x", "a: 1", "---\nb: |\n  t\n\n---"]);
    }

    #[test]
    fn comments_are_no_object_and_a_document_without_kind_is_an_error() {
        let mut objects = Vec::new();
        parse("f", "# only\n---\nkind: A\nmetadata: {name: b, namespace: c}\n", &mut objects).unwrap();
        assert_eq!(objects.iter().map(Manifest::key).collect::<Vec<_>>(), ["A:c:b"]);
        let refused = parse("f", "a: 1", &mut objects).unwrap_err();
        assert!(refused.to_string().starts_with("f: the chart rendered a document"), "{refused}");
    }
}
