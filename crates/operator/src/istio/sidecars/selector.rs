//! Whom a label selector selects, as Kubernetes reads it.

use serde_json::Value;
use std::collections::BTreeMap;

pub(super) type Labels = BTreeMap<String, String>;

/// Of anything that has metadata.
pub(super) fn labels(object: &Value) -> Labels {
    let all = object["metadata"]["labels"].as_object().into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// An empty selector takes everything, a wrong one nothing.
pub(super) fn matches(selector: &Value, labels: &Labels) -> bool {
    let has = |key: &str| labels.get(key).map(String::as_str);
    let mut wanted = selector["matchLabels"].as_object().into_iter().flatten();
    let mut expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    wanted.all(|(key, value)| has(key).is_some() && has(key) == value.as_str())
        && expressions.all(|expression| {
            let here = has(expression["key"].as_str().unwrap_or_default());
            let mut values = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let is_among = here.is_some_and(|here| values.any(|value| value == here));
            match expression["operator"].as_str() {
                Some("In") => is_among,
                Some("NotIn") => !is_among,
                Some("Exists") => here.is_some(),
                Some("DoesNotExist") => here.is_none(),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_operator_is_understood_and_a_label_that_is_not_there_is_not_in_anything() {
        let of = |labels: &[(&str, &str)]| -> Labels {
            labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let expression = |operator: &str| json!({ "matchExpressions": [{ "key": "k", "operator": operator, "values": ["a", "b"] }] });
        let cases = [
            (json!({}), [true, true, true]),
            (json!({ "matchLabels": { "k": "a" } }), [false, true, false]),
            (expression("In"), [false, true, false]),
            (expression("NotIn"), [true, false, true]),
            (expression("Exists"), [false, true, true]),
            (expression("DoesNotExist"), [true, false, false]),
            (expression("Near"), [false, false, false]),
        ];
        for (selector, expected) in cases {
            let found =
                [of(&[]), of(&[("k", "a")]), of(&[("k", "c")])].map(|labels| matches(&selector, &labels));
            assert_eq!(found, expected, "{selector}");
        }
    }
}
