//! One row for each keyword: a schema, a tree that fits and one that does not, and what is said of it.

use serde_json::json;

use super::*;

fn findings(schema: &Value, values: &Value) -> Vec<String> {
    check(schema.to_string().as_bytes(), values).unwrap()
}

#[test]
fn each_keyword_takes_what_fits_and_refuses_what_does_not() {
    let draft7 = "http://json-schema.org/draft-07/schema#";
    for (schema, fits, not, told) in [
        (
            json!({"type": "object"}),
            json!({}),
            json!([]),
            "the whole of the values must be of type object, but is an array",
        ),
        (
            json!({"properties": {"a": {"type": ["string", "null"]}}}),
            json!({"a": null}),
            json!({"a": 1}),
            "a must be of type string or null, but is 1",
        ),
        (
            json!({"type": "integer"}),
            json!(1.0),
            json!(1.5),
            "the whole of the values must be of type integer, but is 1.5",
        ),
        (
            json!({"enum": [1, "a"]}),
            json!(1.0),
            json!("b"),
            "the whole of the values must be one of 1, \"a\", but is \"b\"",
        ),
        (
            json!({"const": {"a": 1}}),
            json!({"a": 1.0}),
            json!({}),
            "the whole of the values must be {\"a\":1}, but is an object",
        ),
        (json!({"minimum": 3}), json!(3), json!(2), "the whole of the values must be at least 3, but is 2"),
        (
            json!({"exclusiveMaximum": 3}),
            json!(2.9),
            json!(3),
            "the whole of the values must be less than 3, but is 3",
        ),
        (
            json!({"maximum": 3, "exclusiveMaximum": true}),
            json!(2),
            json!(3),
            "the whole of the values must be at most 3, but is 3",
        ),
        (
            json!({"multipleOf": 0.1}),
            json!(0.3),
            json!(0.35),
            "the whole of the values must be a multiple of 0.1, but is 0.35",
        ),
        (
            json!({"minLength": 2}),
            json!("äö"),
            json!("ä"),
            "the whole of the values must have at least 2 characters, but has 1",
        ),
        (
            json!({"pattern": "^a+$"}),
            json!("aa"),
            json!("b"),
            "the whole of the values must match \"^a+$\", but is \"b\"",
        ),
        (
            json!({"$schema": draft7, "format": "ipv4"}),
            json!("1.2.3.4"),
            json!("1.2.3"),
            "the whole of the values must have the format ipv4, but is \"1.2.3\"",
        ),
        (
            json!({"required": ["a"]}),
            json!({"a": null}),
            json!({}),
            "the whole of the values needs the key \"a\"",
        ),
        (
            json!({"properties": {"image": {}}, "additionalProperties": false}),
            json!({"image": 1}),
            json!({"imag": 1}),
            "imag is not a known key; did you mean \"image\"?",
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            json!({"a": "b"}),
            json!({"a": 1}),
            "a must be of type string, but is 1",
        ),
        (
            json!({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}),
            json!({"x-a": ""}),
            json!({"x-a": 1}),
            "x-a must be of type string, but is 1",
        ),
        (
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"a": 1}),
            json!({"ab": 1}),
            "ab must have at most 1 characters, but has 2",
        ),
        (
            json!({"minProperties": 1}),
            json!({"a": 1}),
            json!({}),
            "the whole of the values must have at least 1 keys, but has 0",
        ),
        (
            json!({"dependencies": {"a": ["b"]}}),
            json!({"b": 1}),
            json!({"a": 1}),
            "the whole of the values has \"a\" and so needs the key \"b\"",
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({}),
            json!({"a": 1}),
            "the whole of the values needs the key \"b\"",
        ),
        (
            json!({"items": {"type": "string"}}),
            json!(["a"]),
            json!(["a", 1]),
            "[1] must be of type string, but is 1",
        ),
        (
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            json!(["a"]),
            json!(["a", 1]),
            "[1] is not allowed",
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            json!(["a"]),
            json!(["a", 1]),
            "[1] is not allowed",
        ),
        (
            json!({"contains": {"const": 1}}),
            json!([0, 1]),
            json!([0]),
            "the whole of the values has 0 items of the kind that the schema counts",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, "1", 2]),
            json!([1, 1.0]),
            "the whole of the values may have no item twice, but item 1 is one",
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}),
            json!(2),
            json!(4),
            "the whole of the values must be at most 3, but is 4",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!(null),
            json!(4),
            "the whole of the values fits none of 2 alternatives (the whole of the values must be of type string, but is 4, or the whole of the values must be of type null, but is 4)",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"minimum": 3}]}),
            json!(2),
            json!(4),
            "the whole of the values fits 2 alternatives, but must fit one only",
        ),
        (
            json!({"not": {"type": "null"}}),
            json!(1),
            json!(null),
            "the whole of the values is what the schema excludes",
        ),
        (
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}),
            json!({"c": 1}),
            json!({"a": 1}),
            "the whole of the values needs the key \"b\"",
        ),
        (
            json!({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "string"}}}),
            json!(""),
            json!(1),
            "the whole of the values must be of type string, but is 1",
        ),
        (
            json!({"$ref": "#name", "$defs": {"x": {"$anchor": "name", "type": "string"}}}),
            json!(""),
            json!(1),
            "the whole of the values must be of type string, but is 1",
        ),
        (
            json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            json!({"b": 1}),
            "b is not a known key",
        ),
        (
            json!({"prefixItems": [{}], "unevaluatedItems": false}),
            json!([1]),
            json!([1, 2]),
            "[1] is not allowed",
        ),
        (
            json!({"properties": {"t": {"properties": {"t": {"$ref": "#"}}}}, "type": "object"}),
            json!({"t": {"t": {}}}),
            json!({"t": {"t": 1}}),
            "t.t must be of type object, but is 1",
        ),
    ] {
        assert_eq!(findings(&schema, &fits), Vec::<String>::new(), "{schema} {fits}");
        assert_eq!(findings(&schema, &not), [told], "{schema} {not}");
    }
}

#[test]
fn beside_a_reference_nothing_counts_up_to_draft_7() {
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "null", "definitions": {"a": true}});
    assert!(findings(&old, &json!(1)).is_empty());
    let new = json!({"$ref": "#/definitions/a", "type": "null", "definitions": {"a": true}});
    assert_eq!(findings(&new, &json!(1)).len(), 1);
}

#[test]
fn a_schema_that_cannot_be_used_is_told() {
    for (schema, told) in [
        ("{", "is no JSON"),
        ("[]", "is no schema"),
        (r##"{"$ref": "#/nowhere"}"##, "leads nowhere"),
        (r#"{"$ref": "https://example.com/schema.json"}"#, "are not fetched"),
        (r#"{"properties": {"a": {"pattern": "("}}}"#, "cannot be read as a regular expression"),
        (r#"{"type": 3}"#, "is no type"),
        (r##"{"$ref": "#"}"##, "refers to itself without end"),
        (r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}"##, "refers to itself without end"),
    ] {
        let error = check(schema.as_bytes(), &json!({"a": "b"})).unwrap_err();
        assert!(error.0.contains(told), "{schema}: {}", error.0);
    }
}

#[test]
fn formats_are_told_apart() {
    for (format, fits, not) in [
        ("ipv6", "::1", "1.2.3.4"),
        ("hostname", "a.example", "-a.example"),
        ("email", "a@b.example", "a b@c"),
        ("uri", "https://a.example/x?y#z", "no uri"),
        ("date", "2024-02-29", "2023-02-29"),
        ("time", "23:59:60Z", "24:00:00Z"),
        ("date-time", "2024-02-29T10:00:00.5+01:00", "2024-02-29"),
        ("regex", "a+", "("),
    ] {
        assert!(format::fits(format, fits), "{format} {fits}");
        assert!(!format::fits(format, not), "{format} {not}");
    }
    assert!(format::fits("of our own", "anything"));
}
