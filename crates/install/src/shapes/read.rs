//! The generated tables as text → [`Shapes`]. Their format is told where they are generated.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Field, Shape, Shapes, Struct};

/// The tables are ours: a test reads them, so what cannot be read can be left out here.
pub(super) fn table(text: &str) -> Shapes {
    let table: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(structs) = table["structs"].as_object() else { return Shapes::default() };
    let names: BTreeMap<String, usize> =
        structs.keys().enumerate().map(|(number, name)| (name.clone(), number)).collect();
    let kinds = table["kinds"].as_object().into_iter().flatten().filter_map(|(kind, name)| {
        let (version, kind) = kind.split_once(' ')?;
        Some(((version.to_owned(), kind.to_owned()), *names.get(name.as_str()?)?))
    });
    let kinds = kinds.collect();
    let structs = structs.iter().map(|(name, fields)| Struct {
        name: name.clone(),
        fields: fields.as_object().map(|fields| self::fields(fields, &names)).unwrap_or_default(),
    });
    Shapes { structs: structs.collect(), names, kinds }
}

fn fields(fields: &Map<String, Value>, names: &BTreeMap<String, usize>) -> Vec<Field> {
    let field = |(name, said): (&String, &Value)| {
        let part = |part: &str| said.get(part).and_then(Value::as_str);
        let shape = shape(said.as_str().or_else(|| part("type"))?, names)?;
        let strategies = || part("patchStrategy").unwrap_or_default().split(',');
        Some(Field {
            name: name.clone(),
            older: part("older").map(str::to_owned),
            shape,
            merge: strategies().any(|strategy| strategy == "merge"),
            replace: strategies().any(|strategy| strategy == "replace"),
            key: part("patchMergeKey").map(str::to_owned),
        })
    };
    fields.iter().filter_map(field).collect()
}

fn shape(text: &str, names: &BTreeMap<String, usize>) -> Option<Shape> {
    if let Some(item) = text.strip_prefix("[]") {
        return Some(Shape::List(Box::new(shape(item, names)?)));
    }
    if let Some(value) = text.strip_prefix("{}") {
        return Some(Shape::Map(Box::new(shape(value, names)?)));
    }
    if let Some(words) = text.strip_prefix("enum:") {
        return Some(Shape::Word(words.split('|').map(str::to_owned).collect()));
    }
    Some(match text {
        "any" => Shape::Any,
        "bool" => Shape::Bool,
        "bytes" => Shape::Bytes,
        "duration" => Shape::Duration,
        "float64" => Shape::Float,
        "int32" => Shape::Int(32),
        "int64" => Shape::Int(64),
        "intOrString" => Shape::IntOrString,
        "microTime" | "time" => Shape::Time,
        "object" => Shape::Object,
        "quantity" => Shape::Quantity,
        "string" => Shape::Text,
        "uint32" => Shape::Uint(32),
        "uint64" => Shape::Uint(64),
        name => Shape::Struct(*names.get(name)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every field of the text is in the table: nothing was left out because it could not be read.
    #[test]
    fn the_generated_tables_are_read_as_a_whole() {
        for (text, table) in [
            (include_str!("../generated/kubernetes.json"), Shapes::kubernetes()),
            (include_str!("../generated/values.json"), Shapes::values()),
        ] {
            let said: Value = serde_json::from_str(text).unwrap();
            let structs = said["structs"].as_object().unwrap();
            assert!(structs.len() > 40);
            assert_eq!(table.structs.len(), structs.len());
            assert_eq!(table.kinds.len(), said["kinds"].as_object().unwrap().len());
            for (name, fields) in structs {
                let read = table.named(name).unwrap();
                assert_eq!(read.fields.len(), fields.as_object().unwrap().len(), "{name}");
            }
        }
    }

    #[test]
    fn lists_know_their_keys() {
        let pod = Shapes::kubernetes().named("core.v1.PodSpec").unwrap();
        let field = |name: &str| pod.field(name).unwrap();
        assert_eq!((field("containers").merge, field("containers").key.as_deref()), (true, Some("name")));
        assert!(!field("tolerations").merge);
        assert!(pod.field("Containers").is_some() && pod.field("container").is_none());
    }
}
