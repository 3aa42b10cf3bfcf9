//! What the engine does that no comparison shows: places, hints, objects, options.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::rc::Rc;

use mizzen_template::{
    Call, Failure, Functions, Limits, List, Map, MissingKey, Object, Run, Templates, Value,
};
use serde_json::json;

fn fail(call: &mut Call<'_>) -> Result<Value, Failure> {
    Err(Failure::new(&*call.text(0)?))
}

fn include(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (name, data) = (call.text(0)?, call.any(1));
    call.host.include(&name, &data).map(Value::from)
}

fn boom(_: &mut Call<'_>) -> Result<Value, Failure> {
    Err(Failure::new("it burst"))
}

fn functions() -> Functions {
    Functions::default().with(&[("fail", fail), ("include", include), ("boom", boom)])
}

/// A file with one method and one field, as Helm's objects are.
#[derive(Debug)]
struct Files;

impl Object for Files {
    fn type_name(&self) -> &str {
        "engine.files"
    }

    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure> {
        Ok(match (name, args) {
            ("Get", [Value::Text(path)]) => Some(Value::text(format!("contents of {path}"))),
            ("Get", _) => return Err(Failure::new("wrong number of args for Get: want 1 got 0")),
            ("Name", []) => Some(Value::text("files")),
            _ => None,
        })
    }

    fn plain(&self) -> Value {
        Value::Map([("a.txt", Value::text("A")), ("b.txt", Value::text("B"))].into_iter().collect())
    }
}

fn data() -> Value {
    let labels = Map::texts();
    labels.insert("app", "istiod");
    let data =
        Value::from(&json!({"text": "hello", "list": ["a", "b", "c"], "map": {"a": {"b": 1}}, "none": null}));
    let Value::Map(map) = &data else { unreachable!() };
    map.insert("Files", Value::Object(Rc::new(Files)));
    map.insert("labels", labels);
    map.insert("texts", List::texts(["x", "y"]));
    data
}

fn render_as(text: &str, missing: MissingKey) -> Result<String, Failure> {
    let (mut templates, functions) = (Templates::new(), functions());
    templates.add("chart/templates/file.yaml", text, &functions)?;
    Run::new(&templates, &functions, &Limits::default())
        .missing_key(missing)
        .render("chart/templates/file.yaml", &data())
}

fn render(text: &str) -> Result<String, Failure> {
    render_as(text, MissingKey::Zero)
}

fn assert_gives(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(render(text).unwrap_or_else(|failure| panic!("{text}: {failure}")), *expected, "{text}");
    }
}

fn assert_refuses(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(render(text).unwrap_err().to_string(), *expected, "{text}");
    }
}

#[test]
fn a_failure_says_where_and_what() {
    assert_refuses(&[
        (
            "a\n  {{ .map.x.y }}",
            "chart/templates/file.yaml:2:6: at <.map.x.y>: nil pointer evaluating interface {}.y",
        ),
        (
            "é {{ index .list\n 7 }}",
            "chart/templates/file.yaml:1:7: at <index .list 7>: error calling index: index out of range: 7",
        ),
        ("{{ 1 | boom }}", "chart/templates/file.yaml:1:8: at <boom>: error calling boom: it burst"),
        ("{{ if 1 }}", "chart/templates/file.yaml:1:1: unexpected EOF: this if has no {{end}}"),
        ("\n\n {{ .x", "chart/templates/file.yaml:3:2: unclosed action"),
        (
            "{{ .x | pintf }}",
            "chart/templates/file.yaml:1:9: function \"pintf\" not defined; did you mean \"printf\"?",
        ),
        (
            "{{ $name := 1 }}{{ $nane }}",
            "chart/templates/file.yaml:1:20: undefined variable \"$nane\"; did you mean \"$name\"?",
        ),
        (
            "{{ define \"istio.labels\" }}{{ end }}{{ template \"istio.label\" }}",
            "chart/templates/file.yaml:1:40: at <template \"istio.label\">: template \"istio.label\" not defined; \
             did you mean \"istio.labels\"?",
        ),
    ]);
}

#[test]
fn what_a_chart_tells_its_user_stands_alone() {
    assert_refuses(&[("{{ fail \"remove .Values.x\" }}", "chart/templates/file.yaml:1:4: remove .Values.x")]);
}

#[test]
fn a_failure_knows_every_template_on_the_way() {
    let text = r#"{{ define "in" }}{{ .x.y.z }}{{ end }}{{ define "out" }}{{ template "in" .map }}{{ end }}{{ include "out" . }}"#;
    let failure = render(text).unwrap_err();
    let contexts: Vec<_> = failure.places.iter().map(|place| place.context.as_str()).collect();
    assert_eq!(contexts, [".x.y.z", "template \"in\" .map", "include \"out\" ."]);
    assert_eq!(failure.places[2].column, text.find("include").unwrap() + 1);
}

#[test]
fn an_object_has_methods_and_fields() {
    assert_gives(&[
        ("{{ .Files.Get \"x\" }}", "contents of x"),
        ("{{ \"x\" | .Files.Get }}", "contents of x"),
        ("{{ (.Files.Get \"x\") | len }}", "13"),
        ("{{ .Files.Name }}", "files"),
        ("{{ $f := .Files }}{{ $f.Get .text }}", "contents of hello"),
        ("{{ range $k, $v := .Files }}{{ $k }}={{ $v }} {{ end }}", "a.txt=A b.txt=B "),
        ("{{ len .Files }} {{ index .Files \"a.txt\" }}", "2 A"),
        ("{{ eq .Files .Files }}", "true"),
        ("{{ if .Files }}yes{{ end }}", "yes"),
        ("{{ .Files }}", "map[a.txt:A b.txt:B]"),
    ]);
    assert_refuses(&[
        (
            "{{ .Files.Glob }}",
            "chart/templates/file.yaml:1:4: at <.Files.Glob>: can't evaluate field Glob in type interface {}",
        ),
        (
            "{{ .Files.Get }}",
            "chart/templates/file.yaml:1:4: at <.Files.Get>: wrong number of args for Get: want 1 got 0",
        ),
    ]);
}

#[test]
fn maps_and_lists_of_texts_hold_texts() {
    assert_gives(&[
        ("{{ .labels.app }}|{{ .labels.none }}|{{ index .labels \"none\" }}", "istiod||"),
        (
            "{{ printf \"%T %T %#v\" .labels .texts .texts }}",
            "map[string]string []string []string{\"x\", \"y\"}",
        ),
        ("{{ range .texts }}{{ . }}{{ end }}{{ slice .texts 1 }}", "xy[y]"),
    ]);
    assert_refuses(&[(
        "{{ .labels.app.x }}",
        "chart/templates/file.yaml:1:4: at <.labels.app.x>: can't evaluate field x in type string",
    )]);
}

/// Sprig has a `slice` of its own, so that nobody can be asked but Go's source.
#[test]
fn slice_cuts_texts_and_lists() {
    assert_gives(&[
        (
            "{{ slice .text }} {{ slice .text 1 }} {{ slice .text 1 3 }} [{{ slice .text 5 }}]",
            "hello ello el []",
        ),
        (
            "{{ slice .list 1 }} {{ slice .list 0 2 }} {{ slice .list 0 1 2 }} {{ slice .list 3 }}",
            "[b c] [a b] [a] []",
        ),
    ]);
    for (text, words) in [
        ("{{ slice .text 6 }}", "index out of range: 6"),
        ("{{ slice .text 3 2 }}", "invalid slice index: 3 > 2"),
        ("{{ slice .text 0 1 2 }}", "cannot 3-index slice a string"),
        ("{{ slice .list 0 2 1 }}", "invalid slice index: 2 > 1"),
        ("{{ slice .list 0 1 2 3 }}", "too many slice indexes: 4"),
        ("{{ slice .none }}", "slice of untyped nil"),
        ("{{ slice .map }}", "can't slice item of type map[string]interface {}"),
        ("{{ slice .list .map.a.b }}", "cannot index slice/array with type interface {}"),
        ("{{ slice `é` 1 }}", "1 to 2 cuts through a character"),
    ] {
        let failure = render(text).unwrap_err();
        assert!(failure.message.ends_with(words), "{text}: {failure}");
    }
}

#[test]
fn a_missing_key_is_what_the_option_says() {
    for (text, invalid, zero, error) in [
        ("{{ .missing }}", Some("<no value>"), Some("<no value>"), None),
        ("{{ .missing.below }}", Some("<no value>"), None, None),
        ("{{ (.none).below }}", Some("<no value>"), Some("<no value>"), None),
        ("{{ .labels.none }}", Some("<no value>"), Some(""), None),
        ("{{ .none }}", Some("<no value>"), Some("<no value>"), Some("<no value>")),
        ("{{ if .missing }}{{ end }}", Some(""), Some(""), None),
    ] {
        for (missing, expected) in
            [(MissingKey::Invalid, invalid), (MissingKey::Zero, zero), (MissingKey::Error, error)]
        {
            assert_eq!(render_as(text, missing).ok().as_deref(), expected, "{text} {missing:?}");
        }
    }
    let failure = render_as("{{ .missing }}", MissingKey::Error).unwrap_err();
    assert_eq!(failure.message, "map has no entry for key \"missing\"");
}

#[test]
fn later_files_replace_earlier_definitions_unless_they_are_empty() {
    let (mut templates, functions) = (Templates::new(), functions());
    for (name, text) in [
        ("a", "{{ define \"d\" }}first{{ end }}"),
        ("b", "{{ define \"d\" }}second{{ end }}"),
        ("c", "{{ define \"d\" }}  \n{{/* nothing */}}{{ end }}"),
        ("d.yaml", "{{ template \"d\" }}"),
    ] {
        templates.add(name, text, &functions).unwrap();
    }
    let mut run = Run::new(&templates, &functions, &Limits::default());
    assert_eq!(run.render("d.yaml", &Value::Nil).unwrap(), "second");
    assert_eq!(run.render("a", &Value::Nil).unwrap(), "");
}

#[test]
fn a_run_renders_many_templates_on_one_root() {
    fn set(call: &mut Call<'_>) -> Result<Value, Failure> {
        call.map(0)?.insert(call.text(1)?, call.any(2));
        Ok(Value::text(""))
    }
    let functions = Functions::default().with(&[("set", set)]);
    let mut templates = Templates::new();
    templates.add("one", "{{ set . \"x\" 5 }}", &functions).unwrap();
    templates.add("two", "{{ .x }}", &functions).unwrap();
    let (mut run, root) = (Run::new(&templates, &functions, &Limits::default()), Value::Map(Map::new()));
    run.render("one", &root).unwrap();
    assert_eq!(run.render("two", &root).unwrap(), "5");
}

#[test]
fn templates_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Templates>();
    shared::<mizzen_template::Template>();
}
