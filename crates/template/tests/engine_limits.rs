//! Somebody else's template can neither hang us, nor fill the memory, nor overflow the stack.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use mizzen_template::{Call, Failure, Functions, Limits, List, Map, Run, Templates, Value};

fn include(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (name, data) = (call.text(0)?, call.any(1));
    call.host.include(&name, &data).map(Value::from)
}

fn tpl(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (text, data) = (call.text(0)?, call.any(1));
    call.host.tpl(&text, &data).map(Value::from)
}

fn list(call: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(Value::List(List::new(call.args.to_vec())))
}

fn dict(_: &mut Call<'_>) -> Result<Value, Failure> {
    Ok(Value::Map(Map::new()))
}

fn set(call: &mut Call<'_>) -> Result<Value, Failure> {
    let map = call.map(0)?;
    map.insert(call.text(1)?, call.any(2));
    Ok(Value::Map(map))
}

fn functions() -> Functions {
    Functions::default().with(&[
        ("include", include),
        ("tpl", tpl),
        ("list", list),
        ("dict", dict),
        ("set", set),
    ])
}

/// On a thread with the stack that threads have.
fn render(text: &str, limits: &Limits) -> Result<String, Failure> {
    let (text, limits) = (text.to_owned(), limits.clone());
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let (mut templates, functions) = (Templates::new(), functions());
        templates.add("t", &text, &functions)?;
        Run::new(&templates, &functions, &limits).render("t", &Value::Map(Map::new()))
    });
    thread.unwrap().join().unwrap()
}

fn refused(text: &str) -> Failure {
    render(text, &Limits::default()).unwrap_err()
}

#[test]
fn a_template_that_includes_itself_is_told_by_its_chain() {
    let failure = refused(
        r#"{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ template "a" . }}{{ end }}{{ include "a" . }}"#,
    );
    assert!(failure.limit);
    assert!(failure.message.contains("includes itself too deeply"), "{failure}");
    assert!(failure.message.contains("a → b → a") || failure.message.contains("b → a → b"), "{failure}");
    assert_eq!(failure.places[0].template.as_ref(), "t");
}

#[test]
fn recursion_through_every_door_ends_before_the_stack_does() {
    let parentheses = |inner: &str| format!("{}{inner}{}", "(print ".repeat(60), ")".repeat(60));
    let ifs = |inner: &str| format!("{}{inner}{}", "{{ if true }}".repeat(60), "{{ end }}".repeat(60));
    let templates = [
        r#"{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}"#.to_owned(),
        r#"{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}"#.to_owned(),
        r#"{{ define "a" }}{{ tpl "{{ include \"a\" . }}" . }}{{ end }}{{ include "a" . }}"#.to_owned(),
        r#"{{ $d := dict }}{{ $x := set $d "t" "{{ tpl .t . }}" }}{{ tpl $d.t $d }}"#.to_owned(),
        format!(r#"{{{{ define "a" }}}}{{{{ {} }}}}{{{{ end }}}}{{{{ include "a" . }}}}"#, parentheses(r#"(include "a" .)"#)),
        format!(r#"{{{{ define "a" }}}}{}{{{{ end }}}}{{{{ include "a" . }}}}"#, ifs(r#"{{ include "a" . }}"#)),
        format!(
            r#"{{{{ define "a" }}}}{}{{{{ end }}}}{{{{ include "a" . }}}}"#,
            ifs(&format!("{{{{ with {} }}}}{{{{ end }}}}", parentheses(r#"(include "a" .)"#)))
        ),
        r#"{{ define "a" }}{{ range 1 }}{{ range 1 }}{{ with 1 }}{{ with 1 }}{{ include "a" . }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ include "a" . }}"#.to_owned(),
    ];
    for template in templates {
        let failure = refused(&template);
        assert!(failure.limit, "{failure}");
    }
}

#[test]
fn deep_nesting_is_refused_by_the_parser() {
    for count in [300, 100_000] {
        let parentheses = format!("{{{{ {}1{} }}}}", "(".repeat(count), ")".repeat(count));
        let open = format!("{{{{ {}1", "(".repeat(count));
        let ifs = format!("{}{}", "{{ if 1 }}".repeat(count), "{{ end }}".repeat(count));
        let blocks = format!("{}{}", "{{ block \"b\" 1 }}".repeat(count), "{{ end }}".repeat(count));
        for text in [parentheses, open, ifs, blocks, "{{ with 1 }}".repeat(count)] {
            let failure = refused(&text);
            assert!(failure.message.contains("nested deeper than 200 levels"), "{failure}");
        }
    }
}

#[test]
fn two_hundred_levels_less_one_are_fine() {
    let parentheses = format!("{{{{ {}1{} }}}}", "(".repeat(199), ")".repeat(199));
    let ifs = format!("{}x{}", "{{ if 1 }}".repeat(199), "{{ end }}".repeat(199));
    assert_eq!(render(&parentheses, &Limits::default()).unwrap(), "1");
    assert_eq!(render(&ifs, &Limits::default()).unwrap(), "x");
}

#[test]
fn a_long_chain_of_else_if_is_no_nesting() {
    let text =
        format!("{{{{ if false }}}}{}{{{{ else }}}}x{{{{ end }}}}", "{{ else if false }}y".repeat(10_000));
    assert_eq!(render(&text, &Limits::default()).unwrap(), "x");
}

#[test]
fn an_endless_range_stops_by_steps_or_by_the_clock() {
    let endless = "{{ range 1000000000000 }}{{ end }}";
    let failure = render(endless, &Limits { steps: 10_000, ..Limits::default() }).unwrap_err();
    assert!(failure.limit && failure.message.contains("10000 steps"), "{failure}");
    let limits = Limits { steps: u64::MAX, time: Duration::from_millis(5), ..Limits::default() };
    let failure = render(endless, &limits).unwrap_err();
    assert!(failure.limit && failure.message.contains("5ms"), "{failure}");
}

#[test]
fn output_is_counted_wherever_it_is_built() {
    let limits = Limits { output: 100_000, ..Limits::default() };
    for text in [
        "{{ range 100000 }}0123456789{{ end }}",
        r#"{{ define "a" }}{{ range 100000 }}0123456789{{ end }}{{ end }}{{ $x := include "a" . }}"#,
        r#"{{ range 100 }}{{ $x := printf "%10000d" 1 }}{{ end }}"#,
        "{{ $x := `0123456789` }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}",
        "{{ $x := `0123456789` }}{{ range 60 }}{{ $x = html $x $x }}{{ end }}",
    ] {
        let failure = render(text, &limits).unwrap_err();
        assert!(failure.limit && failure.message.contains("more than 100000 bytes"), "{text}: {failure}");
    }
}

#[test]
fn a_value_that_holds_another_twice_and_so_on_is_not_printed_whole() {
    let text = "{{ $x := list 1 }}{{ range 100 }}{{ $x = list $x $x }}{{ end }}";
    for end in ["{{ $x }}", "{{ printf `%d` $x }}", "{{ eq $x $x }}"] {
        let failure =
            render(&format!("{text}{end}"), &Limits { output: 1 << 20, ..Limits::default() }).unwrap_err();
        assert!(failure.limit, "{failure}");
    }
}

#[test]
fn a_value_within_itself_is_not_printed() {
    let failure = refused(r#"{{ $d := dict }}{{ $x := set $d "d" $d }}{{ $d }}"#);
    assert!(failure.limit && failure.message.contains("within itself"), "{failure}");
}

#[test]
fn many_values_of_one_value_are_not_turned_into_json() {
    let mut value = Value::List(List::new(vec![Value::Int(1)]));
    for _ in 0..100 {
        value = Value::List(List::new(vec![value.clone(), value]));
    }
    assert!(value.to_json(200).unwrap_err().limit);
}

#[test]
fn a_run_goes_on_after_a_failure_with_what_is_left() {
    let (mut templates, functions) = (Templates::new(), functions());
    templates
        .add("bad", "{{ if 1 }}{{ with 1 }}{{ $x := 1 }}{{ index nil 1 }}{{ end }}{{ end }}", &functions)
        .unwrap();
    templates.add("good", "{{ $y := 2 }}{{ $y }}", &functions).unwrap();
    let mut run = Run::new(&templates, &functions, &Limits::default());
    for _ in 0..1000 {
        run.render("bad", &Value::Nil).unwrap_err();
    }
    assert_eq!(run.render("good", &Value::Nil).unwrap(), "2");
}
