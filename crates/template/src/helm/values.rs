//! YAML files of a chart → JSON trees, with the file's name in every complaint.

use mizzen_text::{Source, yaml};
use serde_json::{Map, Value};

use super::error::ChartError;

pub(super) type Table = Map<String, Value>;

/// The maps of all documents, later ones over earlier ones.
pub(super) fn table(name: &str, bytes: &[u8]) -> Result<Table, ChartError> {
    let source = Source::new(name, bytes);
    let mut all = Table::new();
    for document in yaml::load_all(&source, &yaml::Options::KUBERNETES) {
        let document = document.map_err(|diagnostic| ChartError::yaml(&diagnostic))?;
        let place = document.place(&mizzen_text::Path::default());
        match document.value {
            Value::Object(map) if all.is_empty() => all = map,
            Value::Object(map) => overlay(&mut all, map),
            _ => return Err(ChartError::Yaml(format!("{place}: this must be a map of keys and values"))),
        }
    }
    Ok(all)
}

/// Maps are merged, all else is replaced.
fn overlay(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => overlay(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_documents_lie_over_earlier_ones() {
        let all = table("values.yaml", b"a: {b: 1, c: 2}\n---\na: {c: 3}\nd: null\n").unwrap();
        assert_eq!(Value::Object(all), serde_json::json!({"a": {"b": 1, "c": 3}, "d": null}));
    }

    #[test]
    fn a_mistake_is_told_with_file_line_and_column() {
        let told = table("values.yaml", b"a: 1\nb: [1, 2\n").unwrap_err().to_string();
        assert!(told.starts_with("values.yaml:"), "{told}");
        let told = table("values.yaml", b"# list\n- a\n").unwrap_err().to_string();
        assert_eq!(told, "values.yaml:2:1: this must be a map of keys and values");
    }

    #[test]
    fn an_empty_file_is_an_empty_map() {
        for text in ["", "# nothing\n", "null\n", "---\n"] {
            assert!(table("values.yaml", text.as_bytes()).unwrap().is_empty(), "{text:?}");
        }
    }
}
