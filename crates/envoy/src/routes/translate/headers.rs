//! Headers that a route sets, adds and removes.

use mizzen_proto::{
    envoy::config::core::v3::{
        HeaderValue, HeaderValueOption,
        header_value_option::HeaderAppendAction::{self, AppendIfExistsOrAdd, OverwriteIfExistsOrAdd},
    },
    istio::networking::v1alpha3::{Headers, headers::HeaderOperations},
};
use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq)]
pub(in crate::routes) struct Operations {
    pub(in crate::routes) request_add: Vec<HeaderValueOption>,
    pub(in crate::routes) request_remove: Vec<String>,
    pub(in crate::routes) response_add: Vec<HeaderValueOption>,
    pub(in crate::routes) response_remove: Vec<String>,
    /// Envoy does not let the host be changed as a header: it is rewritten.
    pub(in crate::routes) authority: Option<String>,
}

impl Operations {
    pub(in crate::routes) fn of(headers: &Headers) -> Self {
        let request = headers.request.as_ref();
        let (request_add, request_remove) = request.map(operations).unwrap_or_default();
        let (response_add, response_remove) = headers.response.as_ref().map(operations).unwrap_or_default();
        let authority =
            request.and_then(|request| authority(&request.set).or_else(|| authority(&request.add)));
        Self { request_add, request_remove, response_add, response_remove, authority: authority.cloned() }
    }
}

fn operations(operations: &HeaderOperations) -> (Vec<HeaderValueOption>, Vec<String>) {
    let mut add = options(&operations.set, OverwriteIfExistsOrAdd);
    add.extend(options(&operations.add, AppendIfExistsOrAdd));
    let remove = operations.remove.iter().filter(|key| !is_internal(key)).cloned().collect();
    (add, remove)
}

fn options(values: &BTreeMap<String, String>, action: HeaderAppendAction) -> Vec<HeaderValueOption> {
    let option = |(key, value): (&String, &String)| HeaderValueOption {
        header: Some(HeaderValue { key: key.clone(), value: value.clone(), ..HeaderValue::default() }),
        append_action: action.into(),
        ..HeaderValueOption::default()
    };
    values.iter().filter(|(key, _)| !is_internal(key)).map(option).collect()
}

fn authority(values: &BTreeMap<String, String>) -> Option<&String> {
    let is_authority = |key: &str| key.eq_ignore_ascii_case("host") || key.eq_ignore_ascii_case(":authority");
    let mut values = values.iter().filter(|(key, _)| is_authority(key));
    values.next_back().map(|(_, value)| value).filter(|value| !value.is_empty())
}

/// Envoy refuses a configuration that changes these.
fn is_internal(key: &str) -> bool {
    key.starts_with(':') || key.eq_ignore_ascii_case("host")
}

#[cfg(test)]
mod tests {
    use super::Operations;
    use mizzen_proto::istio::networking::v1alpha3::Headers;
    use serde_json::json;

    fn read(value: serde_json::Value) -> Operations {
        Operations::of(&serde_json::from_value::<Headers>(value).unwrap())
    }

    fn names(options: &[mizzen_proto::envoy::config::core::v3::HeaderValueOption]) -> Vec<(&str, i32)> {
        let name = |option: &mizzen_proto::envoy::config::core::v3::HeaderValueOption| option.append_action;
        options.iter().map(|option| (option.header.as_ref().unwrap().key.as_str(), name(option))).collect()
    }

    #[test]
    fn what_is_set_comes_before_what_is_added_and_each_in_order() {
        let read = read(json!({
            "request": {"add": {"c": "1", "b": "1"}, "set": {"z": "1", "a": "1"}, "remove": ["y", "x"]},
            "response": {"add": {"e": "1"}, "remove": ["Host", ":path", "f"]},
        }));
        assert_eq!(names(&read.request_add), [("a", 2), ("z", 2), ("b", 0), ("c", 0)]);
        assert_eq!(read.request_remove, ["y", "x"]);
        assert_eq!(names(&read.response_add), [("e", 0)]);
        assert_eq!(read.response_remove, ["f"]);
        assert_eq!(read.authority, None);
    }

    #[test]
    fn the_host_is_rewritten_and_not_set_as_a_header() {
        for (request, authority) in [
            (json!({"set": {"Host": "a"}}), Some("a")),
            (json!({"add": {":authority": "a"}}), Some("a")),
            (json!({"add": {"host": "b"}, "set": {"HOST": "a"}}), Some("a")),
            (json!({"add": {"host": "b"}, "set": {"HOST": ""}}), Some("b")),
            (json!({"set": {":path": "b"}}), None),
        ] {
            let read = read(json!({"request": request}));
            assert_eq!(read.authority.as_deref(), authority, "{request}");
            assert_eq!(read.request_add, []);
        }
    }
}
