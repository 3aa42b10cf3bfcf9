//! What the engine does with small templates, on its own; beside the real one in `real_templates.rs`.

#![allow(clippy::unwrap_used, reason = "tests")]

use mizzen_template::{Failure, Functions, Limits, Run, Templates, Value};
use serde_json::json;

fn data() -> Value {
    Value::from(&json!({
        "text": "hello", "number": 1_000_000, "yes": true, "no": false, "none": null, "empty": "",
        "list": ["a", "b", "c"], "map": {"b": 2, "a": {"deep": "sea"}},
    }))
}

fn render(text: &str) -> Result<String, Failure> {
    let (mut templates, functions) = (Templates::new(), Functions::default());
    templates.add("t", text, &functions)?;
    Run::new(&templates, &functions, &Limits::default()).render("t", &data())
}

#[test]
fn small_templates_give_what_go_gives() {
    let table = [
        ("plain", "plain"),
        ("{{ .text }} {{- .number }}", "hello1e+06"),
        ("{{ .missing }}", "<no value>"),
        ("{{ range $i, $x := .list }}{{ $i }}={{ $x }};{{ end }}", "0=a;1=b;2=c;"),
        ("{{ range $k, $v := .map }}{{ $k }}={{ $v }};{{ end }}", "a=map[deep:sea];b=2;"),
        ("{{ with .map.a.deep }}{{ . }}{{ else }}no{{ end }}", "sea"),
        ("{{ if eq .text \"x\" }}1{{ else if .no }}2{{ else }}3{{ end }}", "3"),
        ("{{ (index .map \"a\").deep }}{{ (.none).x }}", "sea<no value>"),
        (
            "{{ define \"d\" }}[{{ . }}]{{ end }}{{ template \"d\" .text }}{{ template \"d\" }}",
            "[hello][<no value>]",
        ),
        ("{{ $x := 1 }}{{ range .list }}{{ $x = . }}{{ end }}{{ $x }}", "c"),
        ("{{ printf \"%5.2f|%-4d|%q|%v\" .number 3 .text .list }}", "1000000.00|3   |\"hello\"|[a b c]"),
        ("a {{- /* c */}} b {{- /* d */ -}} e", "a be"),
        ("{{ range 3 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ end }}", "02"),
        ("{{ and .text .none | or .empty }}", "<no value>"),
    ];
    for (text, expected) in table {
        assert_eq!(render(text).unwrap(), expected, "{text}");
    }
}
