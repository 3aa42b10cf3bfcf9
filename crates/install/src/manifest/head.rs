//! What an object is, which is all that sorting and finding need.

use serde_json::Value;

use crate::tree;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) namespace: String,
}

impl Head {
    pub(super) fn of(object: &Value) -> Self {
        let text = |way: &[&str]| tree::text(object, way).unwrap_or_default().to_owned();
        Self {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            name: text(&["metadata", "name"]),
            namespace: text(&["metadata", "namespace"]),
        }
    }

    /// Out of the text that printing an object gives, whose form is known: fields of the top stand at the margin, those of
    /// `metadata` two blanks further. None where one of them is written in a way that has to be read.
    pub(super) fn in_printed(text: &str) -> Option<Self> {
        let mut head = Self::default();
        let mut in_metadata = false;
        for line in text.lines() {
            if let Some(field) = line.strip_prefix("  ") {
                if in_metadata && !field.starts_with(' ') {
                    word(field, "name: ", &mut head.name)?;
                    word(field, "namespace: ", &mut head.namespace)?;
                }
            } else if !line.starts_with(['-', ' ']) && !line.is_empty() {
                in_metadata = line == "metadata:";
                word(line, "apiVersion: ", &mut head.api_version)?;
                word(line, "kind: ", &mut head.kind)?;
                // Keys are sorted: nothing of interest comes behind.
                if !head.kind.is_empty() && line > "metadata:" {
                    break;
                }
            }
        }
        (!head.kind.is_empty() && !head.name.is_empty()).then_some(head)
    }
}

/// The text behind `field`, if the line is it; none if that text is more than a plain word.
fn word(line: &str, field: &str, into: &mut String) -> Option<()> {
    let Some(text) = line.strip_prefix(field) else { return Some(()) };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b'_');
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic());
    (starts && text.bytes().all(plain)).then(|| text.clone_into(into))
}

#[cfg(test)]
mod tests {
    use mizzen_text::yaml;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_printed_object_says_what_it_is_without_being_read() {
        let object = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"annotations": {"name": "not-this"}, "name": "a.istio.io", "namespace": "b"},
            "spec": {"names": {"kind": "Other"}, "list": [{"kind": "x"}]}});
        let text = yaml::to_string(&object);
        assert_eq!(Head::in_printed(&text), Some(Head::of(&object)));
        let odd = yaml::to_string(&json!({"kind": "A", "metadata": {"name": "12"}}));
        assert_eq!(Head::in_printed(&odd), None);
        assert_eq!(Head::in_printed("a: 1\n"), None);
    }
}
