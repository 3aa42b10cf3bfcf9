//! What IstioOperators, Kubernetes' kinds and Helm's values look like, as tables that `install` walks along.
//!
//! In: what the oracle says of Go's types, and the messages of the values in Istio's module. Out: two files of one format:
//! `kinds`, then a line for each struct with its fields' types. A type is a word or a struct's name, with `[]` in front for
//! a list of it and `{}` for a map; `enum:a|b` is one of these words. A field that has more to say than its type is a map.

use std::{collections::BTreeMap, path::Path, process::Command};

use anyhow::{Context as _, Result, bail, ensure};
use prost_types::{DescriptorProto, FieldDescriptorProto, field_descriptor_proto::Type};
use serde_json::{Value, json};

use crate::{Generated, protos};

const FOLDER: &str = "crates/install/src/generated";
const VALUES: &str = "operator/pkg/apis/values_types.proto";
const PACKAGE: &str = ".istio.operator.v1alpha1.";

/// `oracle` is the program `istio-oracle`, `istio` the folder of Istio's module.
pub fn generate(oracle: &Path, istio: &Path) -> Result<Vec<Generated>> {
    let file =
        |name: &str, text: String| Generated { path: Path::new(FOLDER).join(name), bytes: text.into_bytes() };
    Ok(vec![file("kubernetes.json", kubernetes(oracle)?), file("values.json", values(istio)?)])
}

fn kubernetes(oracle: &Path) -> Result<String> {
    let output = Command::new(oracle).arg("shapes").output().with_context(|| oracle.display().to_string())?;
    ensure!(output.status.success(), "istio-oracle shapes: {}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).context("istio-oracle shapes")?;
    let structs = said["structs"].as_object().context("the oracle names no structs")?;
    print(&said["kinds"], structs.iter())
}

fn values(istio: &Path) -> Result<String> {
    let set = protos::describe_files(&[VALUES.into()], &[istio.to_owned()])?;
    let file =
        set.file.iter().find(|file| file.name() == VALUES).context("protoc says nothing of the values")?;
    let mut enums = BTreeMap::new();
    let nested = file.message_type.iter().flat_map(|message| {
        message.enum_type.iter().map(move |words| (format!("{}.{}", message.name(), words.name()), words))
    });
    for (name, words) in file.enum_type.iter().map(|words| (words.name().to_owned(), words)).chain(nested) {
        let words: Vec<&str> = words.value.iter().map(|word| word.name()).collect();
        enums.insert(name, format!("enum:{}", words.join("|")));
    }
    let mut structs = BTreeMap::new();
    for message in &file.message_type {
        // It reads itself, as a number or a text.
        if message.name() != "IntOrString" {
            structs.insert(
                message.name().to_owned(),
                fields(message, &enums).with_context(|| message.name().to_owned())?,
            );
        }
    }
    print(&json!({}), structs.iter())
}

fn fields(message: &DescriptorProto, enums: &BTreeMap<String, String>) -> Result<Value> {
    let mut fields = BTreeMap::new();
    for field in &message.field {
        let entry = message.nested_type.iter().find(|nested| {
            field.type_name().strip_prefix(PACKAGE) == Some(&format!("{}.{}", message.name(), nested.name()))
        });
        let shape = match entry.and_then(|entry| entry.field.get(1)) {
            Some(value) => format!("{{}}{}", single(value, enums)?),
            None if field.label() == prost_types::field_descriptor_proto::Label::Repeated => {
                format!("[]{}", single(field, enums)?)
            }
            None => single(field, enums)?,
        };
        let shape = if field.json_name() == field.name() {
            Value::from(shape)
        } else {
            json!({ "older": field.name(), "type": shape })
        };
        fields.insert(field.json_name().to_owned(), shape);
    }
    Ok(json!(fields))
}

/// What one value of a field is.
fn single(field: &FieldDescriptorProto, enums: &BTreeMap<String, String>) -> Result<String> {
    let word = match field.r#type() {
        Type::Bool => "bool",
        Type::String => "string",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Uint32 => "uint32",
        Type::Double => "float64",
        Type::Enum => {
            let name = field.type_name().strip_prefix(PACKAGE).unwrap_or_default();
            return enums.get(name).cloned().with_context(|| format!("{} is an unknown enum", field.name()));
        }
        Type::Message => match field.type_name() {
            ".google.protobuf.BoolValue" => "bool",
            ".google.protobuf.Struct" => "object",
            ".google.protobuf.Value" => "any",
            ".google.protobuf.Duration" => "duration",
            name => match name.strip_prefix(PACKAGE) {
                Some("IntOrString") => "intOrString",
                Some(own) => own,
                None => bail!("{} is of the unknown type {name}", field.name()),
            },
        },
        other => bail!("{} is of the unknown type {other:?}", field.name()),
    };
    Ok(word.to_owned())
}

fn print<'a>(kinds: &Value, structs: impl Iterator<Item = (&'a String, &'a Value)>) -> Result<String> {
    let mut lines = Vec::new();
    for (name, fields) in structs {
        lines.push(format!("{}:{fields}", Value::from(name.as_str())));
    }
    ensure!(!lines.is_empty(), "there is not one struct");
    Ok(format!("{{\"kinds\":{kinds},\n\"structs\":{{\n{}\n}}}}\n", lines.join(",\n")))
}
