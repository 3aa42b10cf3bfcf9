//! One block of `istio` → its object. A pure function of what was written, so that it can be asked again with a trace.

use crate::{
    front::{Beside, COMMON, FrontEnd, decode::Decode, shape::Fields, trace::Trace},
    merge::patch,
    naming,
    platform::Platform,
    problem::{On, Problem},
    setting::{ObjectName, Setting},
};
use mizzen_api::Kind;
use mizzen_text::{At, Code};
use serde_json::{Value, json};

pub(crate) struct Renderer<'a> {
    pub(crate) setting: &'a Setting,
    pub(crate) platform: &'a Platform,
    /// The application's own labels and annotations.
    pub(crate) head: &'a Fields,
}

pub(crate) struct Rendered {
    pub(crate) object: Value,
    /// Another object that the block asks for, and the attribute that did.
    pub(crate) beside: Option<(Value, &'static str)>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) trace: Option<Trace>,
}

impl Renderer<'_> {
    pub(crate) fn render(
        &self,
        front: &'static FrontEnd,
        key: &str,
        written: &Value,
        traced: bool,
    ) -> Rendered {
        let istio = At::TOP.field("istio");
        let kind = istio.field(front.word);
        let at = kind.field(key);
        let name = self.setting.own(front.word, key).cloned().unwrap_or_default();
        let mut decode = Decode::new(self.setting);
        decode.namespace = &name.namespace;
        if traced {
            decode = decode.traced();
        }
        if let Some(trace) = &mut decode.trace {
            trace.remember(&[], at.path());
        }
        let (metadata, mut spec) = match written {
            Value::Object(fields) => split(front, fields, &mut decode, &at),
            other => {
                decode.wrong_type::<()>("a map of attributes", other, &at);
                (Fields::new(), json!({}))
            }
        };
        if let Some(over) = metadata.get("override") {
            patch(&mut spec, over);
        }
        let beside = front.beside.and_then(|beside| beside(written.as_object()?, &spec));
        let beside = beside.map(|Beside { kind, suffix, asked_by, spec }| {
            let name = ObjectName { name: format!("{}{suffix}", name.name), ..name.clone() };
            (self.object(kind, &name, &metadata, spec), asked_by)
        });
        let object = self.object(front.kind, &name, &metadata, spec);
        Rendered { object, beside, problems: decode.problems, trace: decode.trace }
    }

    fn object(&self, kind: Kind, name: &ObjectName, own: &Fields, spec: Value) -> Value {
        let labels = naming::labels(self.setting, self.platform, self.head, own.get("labels"));
        let mut metadata = json!({"name": name.name, "namespace": name.namespace, "labels": labels});
        if let Some(annotations) = naming::annotations(self.platform, self.head, own.get("annotations")) {
            metadata["annotations"] = annotations;
        }
        let mut object = json!({
            "apiVersion": self.platform.api_version(kind),
            "kind": kind.name(),
            "metadata": metadata,
        });
        // Moved, not copied: it is most of the object.
        object["spec"] = spec;
        object
    }
}

/// What every block has, and what is its kind's own.
pub(crate) fn split(
    front: &FrontEnd,
    written: &Fields,
    decode: &mut Decode<'_>,
    at: &At<'_>,
) -> (Fields, Value) {
    let names = COMMON.attributes.iter().map(|attribute| attribute.name);
    let names: Vec<&str> = names.filter(|name| front.block.attribute(name).is_none()).collect();
    let common = names.iter().filter_map(|name| Some(((*name).to_owned(), written.get(*name)?.clone())));
    let mut common: Fields = common.collect();
    let over = common.remove("override").filter(|over| !over.is_null());
    // A list of namespaces is what the attribute beside it takes.
    if common.get("namespace").is_some_and(Value::is_array) && front.block.attribute("namespaces").is_some() {
        common.remove("namespace");
        decode.refuse(Code::AppUnknown, &at.field("namespace"), On::Key, "is no list").hint =
            Some("did you mean `namespaces`?".to_owned());
    }
    let mut metadata = decode.below("metadata", |decode| decode.fields(&COMMON, &common, at, &[]));
    let spec = decode.below("spec", |decode| {
        let spec = decode.fields(front.block, written, at, &names);
        // Last, as it is applied last.
        match over {
            None => {}
            Some(over @ Value::Object(_)) => {
                decode.remember_all(&over, &at.field("override"));
                metadata.insert("override".to_owned(), over);
            }
            Some(other) => {
                decode.wrong_type::<()>("a map", &other, &at.field("override"));
            }
        }
        spec
    });
    (metadata, Value::Object(spec))
}
