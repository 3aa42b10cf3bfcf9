//! A Spec that somebody else has built: read, and checked like one of ours, each mistake at its line.

use crate::{
    naming, project,
    spec::{KUBERNETES, Resource, Spec},
    whereabouts::Whereabouts,
};
use mizzen_text::{Code, Diagnostic, Path, Source, Step, nearest, yaml::Document};
use serde_json::Value;
use std::collections::BTreeMap;

const PARTS: [&str; 5] = ["id", "type", "attributes", "dependsOn", "extensions"];
/// What Kusion writes beside the resources, for its own use.
const ASIDE: [&str; 2] = ["context", "secretStore"];
/// How a value of another resource is named that is known only when that is there.
const REFERENCE: &str = "$kusion_path.";

/// The Spec, where its parts stand, and what is to be said of it. Of one with errors it is not whole.
pub fn given(source: &Source) -> (Spec, Whereabouts, Vec<Diagnostic>) {
    let refused = |wrong| (Spec::default(), Whereabouts::default(), wrong);
    let mut document = match project::document(source) {
        Ok(Some(document)) => document,
        Ok(None) => return refused(project::empty(source, "`mizzen app build` prints a Spec")),
        Err(wrong) => return refused(wrong),
    };
    let told = std::mem::take(&mut document.warnings);
    let mut reader = Reader { document: &document, told };
    reader.head();
    let (spec, mut wrong) = Spec::of(&document);
    reader.told.append(&mut wrong);
    reader.ids(&spec);
    for (number, value) in document.value["resources"].as_array().into_iter().flatten().enumerate() {
        reader.parts(number, value);
        reader.references(&path(number, &[]), value);
    }
    // Each resource stands where it is written, also behind one that could not be read.
    if spec.resources.len() == document.value["resources"].as_array().map_or(0, Vec::len) {
        for (number, resource) in spec.resources.iter().enumerate() {
            reader.resource(number, resource, &spec);
        }
    }
    let told = reader.told;
    (spec, Whereabouts::spec(document), told)
}

/// `resources[number].steps`
pub(crate) fn path(number: usize, steps: &[&str]) -> Path {
    let steps = steps.iter().map(|step| Step::Field((*step).to_owned()));
    Path([Step::Field("resources".to_owned()), Step::Index(number)].into_iter().chain(steps).collect())
}

struct Reader<'a> {
    document: &'a Document,
    told: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn tell(&mut self, code: Code, path: Path, message: impl Into<String>) -> &mut Diagnostic {
        let place = self.document.place(&path);
        self.told.push(Diagnostic::new(code, message).at(place).path(path));
        let last = self.told.len() - 1;
        &mut self.told[last]
    }

    fn unknown(&mut self, path: Path, name: &str, known: &[&str]) {
        let hint = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        let place = self.document.key_place(&path);
        let told = self.tell(Code::AppUnknown, path, format!("there is no attribute `{name}` here"));
        told.place = Some(place);
        told.hint = Some(hint);
    }

    fn head(&mut self) {
        let names: Vec<String> =
            self.document.value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        for name in names.iter().filter(|name| *name != "resources") {
            let path = Path(vec![Step::Field(name.clone())]);
            if ASIDE.contains(&name.as_str()) {
                let told = self.tell(Code::AppDoubtful, path, format!("`{name}` is not read here"));
                told.hint = Some("it is for Kusion's own use".to_owned());
            } else {
                self.unknown(path, name, &["resources"]);
            }
        }
        if self.document.value["resources"].as_array().is_some_and(Vec::is_empty) {
            let path = Path(vec![Step::Field("resources".to_owned())]);
            let told = self.tell(Code::AppFile, path, "the Spec has no resources");
            told.hint = Some(
                "`mizzen app build` prints a Spec; `mizzen app destroy` is for an application that is to go"
                    .to_owned(),
            );
        }
    }

    fn parts(&mut self, number: usize, value: &Value) {
        for (name, _) in value.as_object().into_iter().flatten() {
            if !PARTS.contains(&name.as_str()) {
                self.unknown(path(number, &[name]), name, &PARTS);
            }
        }
        match value.get("dependsOn") {
            None | Some(Value::Null) => {}
            Some(Value::Array(ids)) => {
                for (index, _) in ids.iter().enumerate().filter(|(_, id)| !id.is_string()) {
                    let mut path = path(number, &["dependsOn"]);
                    path.0.push(Step::Index(index));
                    self.tell(Code::AppType, path, "`dependsOn` names resources by their `id`");
                }
            }
            Some(_) => {
                let message = "`dependsOn` must be a list of ids";
                self.tell(Code::AppType, path(number, &["dependsOn"]), message);
            }
        }
    }

    /// Values that only Kusion finds out, in what would be sent as it is.
    fn references(&mut self, at: &Path, value: &Value) {
        let below = |step: Step| Path(at.0.iter().cloned().chain([step]).collect());
        match value {
            Value::String(text) if text.starts_with(REFERENCE) => {
                let message = format!("`{text}` names a value of another resource, and is not resolved here");
                let told = self.tell(Code::AppValue, at.clone(), message);
                told.hint = Some("write the value itself; it would be sent as this very text".to_owned());
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.references(&below(Step::Index(index)), item);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.references(&below(Step::Field(name.clone())), field);
                }
            }
            _ => {}
        }
    }

    fn ids(&mut self, spec: &Spec) {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, resource) in spec.resources.iter().enumerate() {
            if let Some(&before) = first.get(resource.id.as_str()) {
                let place = self.document.place(&path(before, &["id"]));
                let told = self.tell(
                    Code::AppTwice,
                    path(number, &["id"]),
                    format!("{} is in the Spec twice", resource.id),
                );
                *told = told.clone().related("the first one", place);
            } else {
                first.insert(&resource.id, number);
            }
        }
    }

    fn resource(&mut self, number: usize, resource: &Resource, spec: &Spec) {
        for (index, id) in resource.depends_on.iter().enumerate() {
            let mut path = path(number, &["dependsOn"]);
            path.0.push(Step::Index(index));
            if *id == resource.id {
                self.tell(Code::AppTogether, path, format!("{id} depends on itself"));
            } else if !spec.resources.iter().any(|other| other.id == *id) {
                let others = spec.resources.iter().map(|other| other.id.as_str());
                let hint = nearest(id, others).map(|meant| format!("did you mean `{meant}`?"));
                let message = format!("{} depends on {id}, which is not in the Spec", resource.id);
                self.tell(Code::AppMissing, path, message).hint = hint;
            }
        }
        if resource.kind != KUBERNETES {
            let message =
                format!("only resources of type {KUBERNETES} can be applied here, not {}", resource.kind);
            self.tell(Code::AppValue, path(number, &["type"]), message);
            return;
        }
        let object = &resource.attributes;
        match naming::id(object) {
            None => {
                let message = "this is no Kubernetes object: it must have apiVersion, kind and metadata.name";
                self.tell(Code::AppMissing, path(number, &["attributes"]), message);
            }
            Some(id) if id != resource.id => {
                let told = self.tell(
                    Code::AppValue,
                    path(number, &["id"]),
                    format!("the object is {id}, and not {}", resource.id),
                );
                told.hint = Some(
                    "an id is apiVersion:kind:namespace:name, without the namespace for what lives in none"
                        .to_owned(),
                );
            }
            Some(_) => {}
        }
        if let Some((field, message)) = naming::refused_object(object) {
            self.tell(Code::AppName, path(number, &["attributes", "metadata", field]), message);
        }
        self.rules(number, object);
    }

    /// What the rules of its kind say.
    fn rules(&mut self, number: usize, object: &Value) {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        for checked in mizzen_check::document(object, namespace) {
            let mizzen_check::Outcome::Findings(findings) = checked.outcome else { continue };
            for finding in findings.iter() {
                let mut path = path(number, &["attributes"]);
                path.0.extend(finding.path.0.iter().cloned());
                let message = crate::problem::sentence(&finding.message, &finding.path);
                let severity = crate::blame::severity(object, finding);
                let told = self.tell(finding.code, path, message);
                told.severity = severity;
                told.hint.clone_from(&finding.hint);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let (_, _, told) = given(&Source::new("s", text));
        let line = |one: &Diagnostic| {
            let hint = one.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            format!("{} {}: {}{hint}", one.severity.name(), one.place.as_ref().unwrap(), one.message)
        };
        told.iter().map(line).collect()
    }

    const MAP: &str = "\
- id: v1:ConfigMap:shop:a
  type: Kubernetes
  attributes: { apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: shop } }
";

    #[test]
    fn what_a_good_spec_says_is_taken_without_a_word() {
        assert_eq!(told(&format!("resources:\n{MAP}")), Vec::<String>::new());
    }

    #[test]
    fn every_mistake_is_told_at_its_line_in_one_run() {
        let spec = format!(
            "resources:\n{MAP}{}{}{}{}{}",
            MAP.replace("name: a", "name: b"),
            "- { id: 'v1:ConfigMap:shop:c', type: Kubernetes, dependOn: [], dependsOn: x, attributes: { apiVersion: v1, kind: ConfigMap, metadata: { name: c, namespace: shop }, data: { v: '$kusion_path.v1:A:n.spec.x' } } }\n",
            "- { id: 'v1:ConfigMap:shop:d', type: Kubernetes, dependsOn: ['v1:ConfigMap:shop:d', 'v1:ConfigMap:shop:cc', 1], attributes: { apiVersion: v1, kind: ConfigMap, metadata: { name: d, namespace: shop } } }\n",
            "- { id: 'v1:ConfigMap:shop:E_e', type: Kubernetes, attributes: { apiVersion: v1, kind: ConfigMap, metadata: { name: E_e, namespace: shop } } }\n",
            "- { id: aws, type: Terraform, attributes: {} }\n",
        );
        let told = told(&spec);
        for expected in [
            "error s:5:7: v1:ConfigMap:shop:a is in the Spec twice",
            "error s:5:7: the object is v1:ConfigMap:shop:b, and not v1:ConfigMap:shop:a (an id is apiVersion:kind:namespace:name",
            "error s:8:50: there is no attribute `dependOn` here (did you mean `dependsOn`?)",
            "error s:8:75: `dependsOn` must be a list of ids",
            "error s:8:176: `$kusion_path.v1:A:n.spec.x` names a value of another resource, and is not resolved here",
            "error s:9:62: v1:ConfigMap:shop:d depends on itself",
            "error s:9:85: v1:ConfigMap:shop:d depends on v1:ConfigMap:shop:cc, which is not in the Spec (did you mean `v1:ConfigMap:shop:c`?)",
            "error s:9:109: `dependsOn` names resources by their `id`",
            "error s:10:117: Kubernetes refuses the name `E_e`",
            "error s:11:20: only resources of type Kubernetes can be applied here, not Terraform",
        ] {
            assert!(told.iter().any(|told| told.starts_with(expected)), "no {expected} in {told:#?}");
        }
        assert_eq!(told.len(), 10, "{told:#?}");
    }

    #[test]
    fn what_is_empty_is_told_with_what_to_do() {
        for (text, expected) in [
            ("", "error s: the file is empty (`mizzen app build` prints a Spec)"),
            (
                "resources: []\n",
                "error s:1:12: the Spec has no resources (`mizzen app build` prints a Spec; ",
            ),
            (
                "resource: []\n",
                "error s:1:1: there is no attribute `resource` here (did you mean `resources`?)",
            ),
        ] {
            let told = told(text);
            assert!(told.iter().any(|told| told.starts_with(expected)), "no {expected} in {told:#?}");
        }
        let aside = told(&format!("context: {{}}\nresources:\n{MAP}"));
        assert_eq!(aside, ["warning s:1:10: `context` is not read here (it is for Kusion's own use)"]);
    }

    #[test]
    fn a_key_that_stands_twice_hides_nothing() {
        let told = told(&format!(
            "resources:\n{}",
            MAP.replace("  type: Kubernetes\n", "  type: Kubernetes\n  type: Kubernetes\n")
                .replace("name: a", "name: b")
        ));
        assert_eq!(told.len(), 2, "{told:#?}");
        assert!(
            told[0].contains("the key `type` is in this map already") && told[1].contains("the object is"),
            "{told:#?}"
        );
    }
}
