//! The Spec: every object of an application with its id and what it depends on. Text is made of it so that the same
//! application gives the same bytes, whoever builds it and how often.

use mizzen_text::{
    Code, Diagnostic, Path, Source, Step,
    yaml::{self, Document},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of everything that an API server holds.
pub(crate) const KUBERNETES: &str = "Kubernetes";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub resources: Vec<Resource>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// `apiVersion:kind:namespace:name`, without the namespace for what lives in none.
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// The object.
    pub attributes: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub extensions: Value,
}

impl Resource {
    pub(crate) fn new(id: String, attributes: Value, depends_on: Vec<String>) -> Self {
        Self { id, kind: KUBERNETES.to_owned(), attributes, depends_on, extensions: Value::Null }
    }
}

impl Spec {
    /// The parts of a resource in their order; inside of an object keys are sorted.
    pub fn to_yaml(&self) -> String {
        if self.resources.is_empty() {
            return "resources: []\n".to_owned();
        }
        let mut out = "resources:\n".to_owned();
        for resource in &self.resources {
            out += "- id: ";
            yaml::print_string(&mut out, &resource.id, 4);
            out += "  type: ";
            yaml::print_string(&mut out, &resource.kind, 4);
            below(&mut out, "attributes", &resource.attributes);
            if !resource.depends_on.is_empty() {
                out += "  dependsOn:\n";
                for id in &resource.depends_on {
                    out += "  - ";
                    yaml::print_string(&mut out, id, 4);
                }
            }
            if !resource.extensions.is_null() {
                below(&mut out, "extensions", &resource.extensions);
            }
        }
        out
    }

    /// A Spec that somebody has built, as text.
    pub fn read(source: &Source) -> Result<Self, Vec<Diagnostic>> {
        let hint = "`mizzen app build` prints a Spec";
        let document =
            crate::project::document(source)?.ok_or_else(|| crate::project::empty(source, hint))?;
        let (spec, wrong) = Self::of(&document);
        if wrong.is_empty() { Ok(spec) } else { Err(wrong) }
    }

    /// What can be read of it, and what is wrong with the rest.
    pub(crate) fn of(document: &Document) -> (Self, Vec<Diagnostic>) {
        let mut wrong = Vec::new();
        let mut resources = Vec::new();
        let field = |name: &str| Step::Field(name.to_owned());
        let list = document.value.get("resources").and_then(Value::as_array);
        if list.is_none() {
            let message = "a Spec has a list of `resources`";
            wrong.push(
                Diagnostic::new(Code::AppType, message).at(document.place(&Path(vec![field("resources")]))),
            );
        }
        for (index, value) in list.into_iter().flatten().enumerate() {
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            let texts = value.get("dependsOn").and_then(Value::as_array).into_iter().flatten();
            match (text("id"), text("type"), value.get("attributes")) {
                (Some(id), Some(kind), Some(attributes)) if attributes.is_object() => {
                    let resource = Resource {
                        id,
                        kind,
                        attributes: attributes.clone(),
                        depends_on: texts.filter_map(Value::as_str).map(str::to_owned).collect(),
                        extensions: value.get("extensions").cloned().unwrap_or_default(),
                    };
                    resources.push(resource);
                }
                _ => {
                    let path = Path(vec![field("resources"), Step::Index(index)]);
                    let message = "a resource has an `id`, a `type` and `attributes`";
                    wrong.push(
                        Diagnostic::new(Code::AppMissing, message).at(document.place(&path)).path(path),
                    );
                }
            }
        }
        (Self { resources }, wrong)
    }
}

fn below(out: &mut String, name: &str, value: &Value) {
    if value.as_object().is_some_and(serde_json::Map::is_empty) {
        out.push_str(&format!("  {name}: {{}}\n"));
        return;
    }
    out.push_str(&format!("  {name}:\n"));
    for line in yaml::to_string(value).lines() {
        if !line.is_empty() {
            out.push_str("    ");
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_spec_that_was_printed_is_read_again() {
        let text = "first\n\n  second\n";
        let object =
            json!({"kind": "ConfigMap", "data": {"b": text, "a": "1", "c": {}}, "list": [[1, "x"], {}]});
        let mut other = Resource::new("v1:B:n".to_owned(), json!({}), vec!["v1:A:n".to_owned()]);
        other.extensions = json!({"x": 1});
        let spec = Spec { resources: vec![Resource::new("v1:A:n".to_owned(), object, Vec::new()), other] };
        let printed = spec.to_yaml();
        assert_eq!(Spec::read(&Source::new("spec", printed.clone())).unwrap(), spec, "{printed}");
        assert_eq!(Spec::read(&Source::new("spec", "resources: []")).unwrap().to_yaml(), "resources: []\n");
    }

    #[test]
    fn what_is_no_spec_is_told_at_its_line() {
        for (text, place) in [
            ("a: 1\n", "s:1:1"),
            ("resources:\n- id: a\n  type: Kubernetes\n", "s:2:3"),
            ("resources:\n- {id: a, type: b, attributes: 1}\n", "s:2:3"),
        ] {
            let wrong = Spec::read(&Source::new("s", text)).unwrap_err();
            assert_eq!(wrong[0].place.as_ref().unwrap().to_string(), place, "{text}");
        }
    }
}
