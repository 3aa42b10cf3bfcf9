//! One object out of a chart: the text of a rendered file is split and read, once; and not even that where the text is
//! known to be what printing the object would give, as it is for CRDs, nine tenths of a manifest.

mod head;

use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, OnceLock},
};

use mizzen_template::Printed;
use mizzen_text::{
    Code, Diagnostic, Source,
    yaml::{self, Options},
};
use serde_json::Value;

use crate::Refused;
use head::Head;

/// A Kubernetes object.
#[derive(Clone, Debug)]
pub struct Manifest {
    head: Head,
    /// As it is printed, where that is known without reading it: a part of the rendered file.
    text: Option<(Arc<String>, Range<usize>)>,
    object: OnceLock<Value>,
}

impl From<Value> for Manifest {
    fn from(object: Value) -> Self {
        Self { head: Head::of(&object), text: None, object: OnceLock::from(object) }
    }
}

impl Manifest {
    pub fn kind(&self) -> &str {
        &self.head.kind
    }

    pub fn name(&self) -> &str {
        &self.head.name
    }

    pub fn namespace(&self) -> &str {
        &self.head.namespace
    }

    /// `apps` of `apps/v1`; empty for the core.
    pub fn group(&self) -> &str {
        self.head.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// `Kind:namespace:name`; what is in no namespace by its nature is `Kind:name` here if it is about roles, as istioctl
    /// has it.
    pub fn key(&self) -> String {
        match self.kind() {
            kind @ ("ClusterRole" | "ClusterRoleBinding") => format!("{kind}:{}", self.name()),
            kind => format!("{kind}:{}:{}", self.namespace(), self.name()),
        }
    }

    pub fn object(&self) -> &Value {
        self.object.get_or_init(|| self.read())
    }

    /// A copy to change. It is not kept here as well: definitions are large.
    pub fn to_object(&self) -> Value {
        self.object.get().cloned().unwrap_or_else(|| self.read())
    }

    fn read(&self) -> Value {
        let source = Source::new(self.key(), self.text().unwrap_or_default());
        // It was printed by us, so it can be read.
        yaml::load_first(&source, &Options::KUBERNETES).ok().flatten().unwrap_or_default()
    }

    /// Changes the object.
    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut Value) -> R) -> R {
        self.object();
        self.text = None;
        let mut object = self.object.take().unwrap_or_default();
        let result = change(&mut object);
        *self = Self::from(object);
        result
    }

    fn text(&self) -> Option<&str> {
        self.text.as_ref().map(|(file, part)| &file[part.clone()])
    }

    /// The object as Go prints it, without the end of its last line.
    pub fn printed(&self) -> Cow<'_, str> {
        match self.text() {
            Some(text) => Cow::Borrowed(text),
            None => {
                let mut text = yaml::to_string(self.object());
                text.pop();
                Cow::Owned(text)
            }
        }
    }
}

/// The objects in the text of one rendered file. Documents of nothing but comments are passed by.
pub(crate) fn parse(
    file: &str,
    text: String,
    printed: &Printed,
    objects: &mut Vec<Manifest>,
) -> Result<(), Refused> {
    let text = Arc::new(text);
    for document in documents(&text) {
        let bare = without_comments(document);
        if printed.has(bare)
            && let Some(head) = Head::in_printed(bare)
        {
            // Both are parts of one text.
            let start = bare.as_ptr().addr() - text.as_ptr().addr();
            let part = (Arc::clone(&text), start..start + bare.len());
            objects.push(Manifest { head, text: Some(part), object: OnceLock::new() });
            continue;
        }
        let source = Source::new(format!("{file} (rendered)"), document);
        // Between its own `---` there is one document; what follows a `...` is not read, in Go neither.
        let Some(read) = yaml::load_all(&source, &Options::KUBERNETES).next() else { continue };
        let manifest = Manifest::from(read?.value);
        if manifest.kind().is_empty() {
            let message = format!(
                "{file}: the chart rendered a document that is no Kubernetes object: it has no `kind`"
            );
            return Err(Diagnostic::new(Code::Invalid, message).into());
        }
        objects.push(manifest);
    }
    Ok(())
}

/// From the first line that is no comment.
fn without_comments(document: &str) -> &str {
    let mut rest = document;
    while rest.starts_with(['#', '\n']) {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest
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
        let nothing = Printed::default();
        parse(
            "f",
            "# only\n---\nkind: A\nmetadata: {name: b, namespace: c}\n".into(),
            &nothing,
            &mut objects,
        )
        .unwrap();
        assert_eq!(objects.iter().map(Manifest::key).collect::<Vec<_>>(), ["A:c:b"]);
        let refused = parse("f", "a: 1".into(), &nothing, &mut objects).unwrap_err();
        assert!(refused.to_string().starts_with("f: the chart rendered a document"), "{refused}");
    }
}
