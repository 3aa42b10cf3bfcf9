//! JSON against the message that it shall become. In: a patch's value and the message it changes. Out: errors where
//! Istio could not read it, warnings where something has no place in it.
//!
//! Istio reads it with an old JSON library that lets more pass than the mapping of protos to JSON says: `null` anywhere,
//! two arms of a oneof, numbers in quotes. What it refuses is refused here, and no more. The walk builds nothing: it
//! tells everything at its place, where a decoder stops at the first error.
//!
//! Istio would also warn of types in packages that Envoy froze. There are none left in Istio 1.31.

use super::{
    json::{Json, entries},
    newer, scalar,
    types::{Type, find},
};
use crate::Findings;
use mizzen_api::proto::Struct;
use mizzen_text::At;
use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor, Syntax};

/// No configuration is as deep, and no stack shall end because one claims to be.
const DEEPEST: usize = 200;

/// Where the walk is.
#[derive(Clone, Copy)]
struct Place<'a> {
    at: &'a At<'a>,
    depth: usize,
    /// Reached from the top by single fields only. Istio looks for filters that are named only there.
    single: bool,
}

impl<'a> Place<'a> {
    fn at(self, at: &'a At<'a>) -> Self {
        Self { at, ..self }
    }

    fn deeper(self, single: bool) -> Self {
        Self { depth: self.depth + 1, single: self.single && single, ..self }
    }
}

/// A patch's whole value.
pub(super) fn patch_value(message: &MessageDescriptor, value: &Struct, at: &At<'_>, found: &mut Findings) {
    fields(message, value, None, Place { at, depth: 0, single: true }, found);
}

/// One field may have been read by the caller.
fn fields(
    message: &MessageDescriptor,
    object: &Struct,
    read: Option<&str>,
    place: Place<'_>,
    found: &mut Findings,
) {
    if place.depth > DEEPEST {
        found.error(place.at, format!("Envoy filter: nested deeper than {DEEPEST} levels"));
        return;
    }
    for (name, json) in entries(object) {
        if read == Some(name) {
            continue;
        }
        let at = place.at.field(name);
        let Some(field) = field(message, name) else {
            if newer::is_field(message.full_name(), name) {
                continue;
            }
            found.warning(&at, format!("Envoy filter: unknown field {name:?} in {}", message.full_name()));
            continue;
        };
        let outdone = name != field.json_name() && object.fields.contains_key(field.json_name());
        if !json.is_null() && !outdone {
            let single = place.single && stays(&field, object);
            field_value(&field, json, Place { single, ..place.at(&at) }, found);
        }
    }
    required(message, object, place.at, found);
    if place.single {
        typed(message, object, place.at, found);
    }
}

/// Both spellings are read.
fn field(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    let field = message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
    field.filter(newer::is_in_istio)
}

/// Whether there is something for it. If both spellings are there, the one of JSON counts.
fn is_given(field: &FieldDescriptor, object: &Struct) -> bool {
    object
        .fields
        .get(field.json_name())
        .or_else(|| object.fields.get(field.name()))
        .is_some_and(|value| !Json::from(value).is_null())
}

/// Of several arms of a oneof the last stays, in the order of the message.
fn stays(field: &FieldDescriptor, object: &Struct) -> bool {
    field.containing_oneof().is_none_or(|oneof| {
        !oneof.fields().skip_while(|arm| arm != field).skip(1).any(|arm| is_given(&arm, object))
    })
}

/// Only the oldest messages have fields that must be there.
fn required(message: &MessageDescriptor, object: &Struct, at: &At<'_>, found: &mut Findings) {
    if message.parent_file().syntax() != Syntax::Proto2 {
        return;
    }
    for field in message.fields().filter(|field| field.cardinality() == Cardinality::Required) {
        if !is_given(&field, object) {
            found.error(
                &at.field(field.json_name()),
                format!("Envoy filter: required field {} not set", field.full_name()),
            );
        }
    }
}

/// A filter must say what its configuration is; Envoy no longer finds that out by its name.
fn typed(message: &MessageDescriptor, object: &Struct, at: &At<'_>, found: &mut Findings) {
    let given = |json_name: &str| {
        message.get_field_by_json_name(json_name).is_some_and(|field| is_given(&field, object))
    };
    if message.get_field_by_json_name("typedConfig").is_some()
        && !given("typedConfig")
        && !given("configDiscovery")
    {
        let name = match object.fields.get("name").map(Json::from) {
            Some(Json::Text(name)) => name,
            _ => "",
        };
        found.warning(at, format!("using deprecated types by name without typed_config; {name}"));
    }
}

fn field_value(field: &FieldDescriptor, json: Json<'_>, place: Place<'_>, found: &mut Findings) {
    let kind = field.kind();
    if field.is_list() {
        let Json::List(items) = json else { return wrong("a list", json, place.at, found) };
        for (index, item) in items.iter().enumerate() {
            single(&kind, item.into(), place.at(&place.at.index(index)).deeper(false), found);
        }
    } else if field.is_map() {
        let Json::Object(object) = json else { return wrong("an object", json, place.at, found) };
        let Kind::Message(entry) = kind else { return };
        let (key_kind, value_kind) =
            (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
        for (key, json) in entries(object) {
            let at = place.at.field(key);
            found.verdict(&at, scalar::key(&key_kind, key));
            single(&value_kind, json, place.at(&at).deeper(false), found);
        }
    } else {
        single(&kind, json, place.deeper(true), found);
    }
}

/// One value: of a field, of a list, of a map.
fn single(kind: &Kind, json: Json<'_>, place: Place<'_>, found: &mut Findings) {
    if json.is_null() {
        return;
    }
    match kind {
        Kind::Message(message) => message_value(message, json, place, found),
        scalar => found.verdict(place.at, scalar::value(scalar, json)),
    }
}

fn message_value(message: &MessageDescriptor, json: Json<'_>, place: Place<'_>, found: &mut Findings) {
    match (message.full_name(), json) {
        ("google.protobuf.Any", Json::Object(object)) => any(object, place, found),
        ("google.protobuf.Value", _)
        | ("google.protobuf.Struct", Json::Object(_))
        | ("google.protobuf.ListValue", Json::List(_)) => {}
        ("google.protobuf.ListValue", _) => wrong("a list", json, place.at, found),
        ("google.protobuf.Duration", _) => found.verdict(place.at, scalar::duration(json)),
        ("google.protobuf.Timestamp", _) => found.verdict(place.at, scalar::timestamp(json)),
        (name, _) if is_wrapper(name) => {
            if let Some(field) = message.get_field_by_name("value") {
                single(&field.kind(), json, place, found);
            }
        }
        ("google.protobuf.Struct", _) => wrong("an object", json, place.at, found),
        (_, Json::Object(object)) => fields(message, object, None, place, found),
        _ => wrong("an object", json, place.at, found),
    }
}

const TYPE: &str = "@type";

fn any(object: &Struct, place: Place<'_>, found: &mut Findings) {
    let at = place.at.field(TYPE);
    let url = match object.fields.get(TYPE).map(Json::from) {
        Some(Json::Text(url)) => url,
        Some(json) => return wrong("the URL of a type", json, &at, found),
        None => {
            found.error(
                place.at,
                "Envoy filter: the Any has no '@type': it says which message this is, as in \
                 type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
            );
            return;
        }
    };
    match find(url) {
        Some(Type::Described(message)) if has_own_json(message.full_name()) => {
            match object.fields.get("value") {
                Some(value) => {
                    let at = place.at.field("value");
                    single(&Kind::Message(message), value.into(), place.at(&at).deeper(false), found);
                }
                None => found.error(place.at, format!("Envoy filter: the Any of {url} has no 'value'")),
            }
        }
        Some(Type::Described(message)) => fields(&message, object, Some(TYPE), place.deeper(false), found),
        Some(Type::Named) => {}
        None => {
            let hint = if url.contains(".v2.") { " (hint: try using the v3 XDS API)" } else { "" };
            found.error(&at, format!("Envoy filter: referenced type unknown{hint}: {url:?}"));
        }
    }
}

/// Whose JSON is not an object of its fields, and stands in an Any as its `value`.
fn has_own_json(full_name: &str) -> bool {
    is_wrapper(full_name)
        || matches!(
            full_name,
            "google.protobuf.Any"
                | "google.protobuf.Duration"
                | "google.protobuf.Empty"
                | "google.protobuf.ListValue"
                | "google.protobuf.Struct"
                | "google.protobuf.Timestamp"
                | "google.protobuf.Value"
        )
}

/// Whose JSON is that of the one value inside.
fn is_wrapper(full_name: &str) -> bool {
    matches!(
        full_name,
        "google.protobuf.BoolValue"
            | "google.protobuf.BytesValue"
            | "google.protobuf.DoubleValue"
            | "google.protobuf.FloatValue"
            | "google.protobuf.Int32Value"
            | "google.protobuf.Int64Value"
            | "google.protobuf.StringValue"
            | "google.protobuf.UInt32Value"
            | "google.protobuf.UInt64Value"
    )
}

fn wrong(wanted: &str, json: Json<'_>, at: &At<'_>, found: &mut Findings) {
    found.error(at, format!("Envoy filter: {wanted} belongs here, not {}", json.noun()));
}
