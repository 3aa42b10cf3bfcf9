//! Istio's custom resource definitions, one file a kind.
//!
//! In: the definitions as the module of Istio's API has them. Out: `crates/api/crds/<plural>.<group>.json`, with
//! every description dropped (they are most of the bytes, and prose that is not ours) and all else kept. Versions of
//! a kind mostly have one schema: a file keeps each different one once, and its versions hold the number.

mod layout;

use std::{fs, path::Path};

use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};

use crate::Generated;

const INPUT: &str = "kubernetes/customresourcedefinitions.gen.yaml";
const OUTPUT: &str = "crates/api/crds";

/// The files, by their path in the repository.
pub fn generate(istio_api: &Path) -> anyhow::Result<Vec<Generated>> {
    let input = istio_api.join(INPUT);
    let text = fs::read_to_string(&input).with_context(|| format!("{} cannot be read", input.display()))?;
    let definitions: Vec<Value> = serde_saphyr::from_multiple(&text)?;
    definitions.into_iter().filter(|definition| !definition.is_null()).map(file).collect()
}

fn file(mut definition: Value) -> anyhow::Result<Generated> {
    let name = definition["metadata"]["name"].as_str().context("a definition has no name")?.to_owned();
    ensure!(definition["kind"] == "CustomResourceDefinition", "{name} is no definition of a kind");
    let schemas = share_schemas(&mut definition).with_context(|| name.clone())?;
    let content = json!({ "definition": definition, "schemas": schemas });
    let path = Path::new(OUTPUT).join(format!("{name}.json"));
    Ok(Generated { path, bytes: layout::print(&content).into_bytes() })
}

/// Takes the schemas out of the versions, without descriptions, and leaves their numbers.
fn share_schemas(definition: &mut Value) -> anyhow::Result<Vec<Value>> {
    let mut schemas = Vec::new();
    let versions = definition["spec"]["versions"].as_array_mut().context("no versions")?;
    for version in versions {
        let version = version.as_object_mut().context("a version is no map")?;
        let columns = version.get_mut("additionalPrinterColumns").and_then(Value::as_array_mut);
        for column in columns.into_iter().flatten().filter_map(Value::as_object_mut) {
            column.remove("description");
        }
        let mut schema = version.remove("schema").context("a version has no schema")?;
        let schema = schema.get_mut("openAPIV3Schema").context("a schema is of an unknown sort")?.take();
        let schema = bare(schema);
        let number = schemas.iter().position(|known| *known == schema).unwrap_or(schemas.len());
        if number == schemas.len() {
            schemas.push(schema);
        }
        version.insert("schema".to_owned(), number.into());
    }
    Ok(schemas)
}

/// The schema without what describes it; what is *called* `description` stays.
fn bare(schema: Value) -> Value {
    let Value::Object(words) = schema else { return schema };
    let kept = words.into_iter().filter(|(word, _)| word != "description");
    kept.map(|(word, value)| {
        let value = match word.as_str() {
            "properties" | "patternProperties" => each(value, bare),
            "items" | "additionalProperties" | "not" => bare(value),
            "allOf" | "anyOf" | "oneOf" => match value {
                Value::Array(schemas) => schemas.into_iter().map(bare).collect(),
                other => other,
            },
            _ => value,
        };
        (word, value)
    })
    .collect()
}

fn each(value: Value, change: impl Fn(Value) -> Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(name, value)| (name, change(value))).collect::<Map<_, _>>(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_go_and_fields_of_that_name_stay() {
        let schema = json!({
            "description": "prose",
            "properties": { "description": { "description": "prose", "type": "string" } },
            "oneOf": [{ "description": "prose", "required": ["description"] }],
        });
        let expected = json!({
            "properties": { "description": { "type": "string" } },
            "oneOf": [{ "required": ["description"] }],
        });
        assert_eq!(bare(schema), expected);
    }
}
