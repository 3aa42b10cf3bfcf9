//! Documents → definitions. A document that is none is passed by, with a word; one that is broken is told field by field,
//! and its neighbours are read all the same.

use crate::schema::Schema;
use mizzen_text::{
    At, Code, Diagnostic, Object, Severity, Source,
    yaml::{Document, Options, load_all},
};
use serde_json::Value;

/// One kind, in the versions that have a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub group: String,
    pub kind: String,
    pub versions: Vec<Version>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub name: String,
    pub schema: Schema,
}

/// The definitions of a text, YAML or JSON, alone, several, or in Lists.
pub fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Vec<Definition> {
    let mut definitions = Vec::new();
    for document in load_all(source, &Options::KUBERNETES) {
        match document {
            Err(diagnostic) => diagnostics.push(*diagnostic),
            Ok(document) => {
                diagnostics.extend(document.warnings.iter().cloned());
                let mut reader = Reader { document: &document, object: None, diagnostics };
                reader.document(&document.value, &At::TOP, &mut definitions);
            }
        }
    }
    definitions
}

/// Reads one document, and tells what is wrong at the place of the field.
pub(crate) struct Reader<'d> {
    document: &'d Document,
    object: Option<Object>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Reader<'_> {
    /// A predicate about a field: `must be …`.
    pub(crate) fn refuse(&mut self, at: &At<'_>, message: &str) {
        self.tell(Code::Invalid, at, message.to_owned());
    }

    fn tell(&mut self, code: Code, at: &At<'_>, message: String) -> &mut Diagnostic {
        let path = at.path();
        let mut diagnostic = Diagnostic::new(code, message).at(self.document.place(&path)).path(path);
        diagnostic.object = self.object.clone();
        self.diagnostics.push(diagnostic);
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    fn document(&mut self, value: &Value, at: &At<'_>, definitions: &mut Vec<Definition>) {
        let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let (version, kind) = (word("apiVersion"), word("kind"));
        self.object = Some(Object {
            kind: kind.to_owned(),
            namespace: None,
            name: value["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        });
        if kind == "List" || kind == "CustomResourceDefinitionList" {
            let at = at.field("items");
            for (place, item) in value["items"].as_array().into_iter().flatten().enumerate() {
                self.document(item, &at.index(place), definitions);
            }
        } else if kind != "CustomResourceDefinition" {
            let what = if kind.is_empty() { "no object".to_owned() } else { format!("a {kind}") };
            let message = format!("this is {what}, not a CustomResourceDefinition: nothing is made of it");
            self.tell(Code::PassedBy, at, message).severity = Severity::Warning;
        } else {
            match version {
                "apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1" => {
                    let beta = version.ends_with("beta1");
                    definitions.extend(self.definition(&value["spec"], beta, &at.field("spec")));
                }
                _ => self.refuse(
                    &at.field("apiVersion"),
                    "must be apiextensions.k8s.io/v1 or apiextensions.k8s.io/v1beta1",
                ),
            }
        }
    }

    fn definition(&mut self, spec: &Value, beta: bool, at: &At<'_>) -> Option<Definition> {
        if !spec.is_object() {
            self.refuse(at, "must be a map");
            return None;
        }
        let group = self.name(&spec["group"], &at.field("group"));
        let names = at.field("names");
        let kind = self.name(&spec["names"]["kind"], &names.field("kind"));
        let validation = at.field("validation");
        let beside = &spec["validation"]["openAPIV3Schema"];
        let beside = (!beside.is_null()).then(|| self.schema(beside, &validation.field("openAPIV3Schema")));
        let list = at.field("versions");
        let mut found: Vec<(String, Option<Schema>)> = Vec::new();
        match &spec["versions"] {
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    let at = list.index(place);
                    let name = self.name(&item["name"], &at.field("name"));
                    let own = &item["schema"]["openAPIV3Schema"];
                    let schema = at.field("schema");
                    let own = (!own.is_null()).then(|| self.schema(own, &schema.field("openAPIV3Schema")));
                    found.extend(name.map(|name| (name, own)));
                }
            }
            // As v1beta1 could be written: one version, and no list.
            Value::Null if beta && spec["version"].is_string() => {
                found.extend(self.name(&spec["version"], &at.field("version")).map(|name| (name, None)));
            }
            _ => self.refuse(&list, "must be a list of versions"),
        }
        // Versions of v1beta1 without a schema have that beside them, or that of the first.
        let common = beside.or_else(|| found.first().filter(|_| beta).and_then(|(_, own)| own.clone()));
        let mut versions = Vec::new();
        for (place, (name, own)) in found.into_iter().enumerate() {
            match own.or_else(|| common.clone()) {
                Some(schema) => versions.push(Version { name, schema }),
                None => {
                    let message = format!("version {name} has no schema: nothing is made of it");
                    self.tell(Code::Doubtful, &list.index(place), message);
                }
            }
        }
        let (group, kind) = (group?, kind?);
        if versions.is_empty() {
            let message = "has no schema in any version: there is nothing to make a model of";
            self.refuse(at, message);
            return None;
        }
        Some(Definition { group, kind, versions })
    }

    /// A name that becomes part of names of files and types.
    fn name(&mut self, value: &Value, at: &At<'_>) -> Option<String> {
        let good = |name: &&str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
            name.bytes().all(plain) && name.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        };
        let name = value.as_str().filter(good).map(str::to_owned);
        if name.is_none() {
            self.refuse(at, "must be a name: letters, digits, '.' and '-'");
        }
        name
    }
}
