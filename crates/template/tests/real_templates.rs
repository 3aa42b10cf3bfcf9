//! The engine beside the real one: Helm's and Istio's own use of Go's text/template, on the same templates and values.
//!
//! Every template is run by four: Helm's library (a missing key is the type's empty value) and ours, Istio's injector (a
//! missing key is no value) and ours. Equal is: the same output, or both refuse and ours says what Go says.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "real_templates/functions.rs"]
mod functions;
#[path = "real_templates/grammar.rs"]
mod grammar;
#[path = "real_templates/rows/mod.rs"]
mod rows;

use mizzen_template::{Failure, Limits, MissingKey, Run, Templates, Value};
use mizzen_testkit::{Oracle, needs};
use serde_json::{Value as Json, json};

/// Below `Values`, as a chart has it.
fn values() -> Json {
    json!({
        "text": "hello", "empty": "", "unicode": "héllo ✓ wörld", "quotes": "it's \"so\" <b>&=", "lines": "a\nb\tc",
        "digits": "12", "yes": true, "no": false, "zero": 0, "one": 1, "int": 42, "float": 1.5, "big": 1_000_000,
        "huge": 1e21, "tiny": 0.000_01, "negative": -3,
        "list": ["a", "b", "c"], "numbers": [3, 1.5, -2], "nothing": [], "mixed": ["a", 1, true, null, {"k": "v"}, [1, "x"]],
        "map": {"b": 2, "a": {"deep": {"er": "sea"}}, "z": "last"}, "blank": {},
        "items": [{"name": "x", "port": 80}, {"name": "y", "on": true}, {"name": "z", "port": 8.5}],
    })
}

fn ours(template: &str, missing: MissingKey) -> Result<String, Failure> {
    let functions = functions::functions();
    let mut templates = Templates::new();
    templates.add("c/templates/a.yaml", template, &functions)?;
    let data = Value::from(&json!({"Values": values()}));
    Run::new(&templates, &functions, &Limits::default())
        .missing_key(missing)
        .render("c/templates/a.yaml", &data)
}

/// Why the two are not equal.
fn difference(ours: &Result<String, Failure>, theirs: &str, refusal: Option<&str>) -> Option<String> {
    match (ours, refusal) {
        (Ok(ours), None) => (ours != theirs).then(|| format!("ours {ours:?}\n  Go's {theirs:?}")),
        (Ok(ours), Some(refusal)) => Some(format!("ours {ours:?}\n  Go refuses: {refusal}")),
        (Err(failure), None) => Some(format!("ours refuses: {failure}\n  Go's {theirs:?}")),
        (Err(failure), Some(refusal)) => {
            // What we add to Go's words: the nearest name, which structure is not closed.
            let words = failure.message.split("; did you mean").next().unwrap_or_default();
            let words = words.split(": this ").next().unwrap_or_default();
            let reason = reason(refusal);
            let reworded = REWORDED.iter().any(|(our, go)| words.contains(our) && reason.contains(go));
            let same = refusal.contains(words) || words.contains(reason) || reworded;
            (!same).then(|| format!("ours refuses: {failure}\n  Go refuses: {refusal}"))
        }
    }
}

/// Go's words without the places that it puts before them.
fn reason(refusal: &str) -> &str {
    match refusal.rsplit_once(">:") {
        Some((_, reason)) => reason.trim(),
        None => refusal.split_once(": ").map_or(refusal, |(_, rest)| {
            rest.strip_prefix("inject:")
                .and_then(|rest| rest.split_once(": "))
                .map_or(rest, |(_, reason)| reason)
        }),
    }
}

/// Where we say it otherwise: ours, and Go's.
const REWORDED: &[(&str, &str)] = &[
    ("len of nothing", "reflect.Value.Type on zero Value"),
    ("not defined", "no template"),
    // Functions see values here, not the words that they were written with.
    ("expected string", "expected string; found"),
    ("expected string", "cannot assign nil to string"),
    ("non-function of type", "non-function"),
    // A byte of a text is an int with us.
    ("type int", "type uint8"),
];

/// How many comparisons there were, and what was not equal.
fn compare(templates: &[String]) -> (usize, Vec<String>) {
    let metadata = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
    let charts: Vec<_> = templates
        .iter()
        .map(|text| json!({"chart": {"Chart.yaml": metadata, "templates/a.yaml": text}, "values": values()}))
        .collect();
    let questions: Vec<_> =
        templates.iter().map(|text| json!({"template": text, "data": {"Values": values()}})).collect();
    let oracle = Oracle::shared();
    let (helm, istio) = (oracle.templates(&charts).unwrap(), oracle.injection(&questions).unwrap());
    let (mut total, mut different) = (templates.len(), Vec::new());
    for ((text, helm), istio) in templates.iter().zip(&helm).zip(&istio) {
        let mine = ours(text, MissingKey::Zero).map(|text| text.replace("<no value>", ""));
        let theirs = helm.files.get("c/templates/a.yaml").map_or("", String::as_str);
        if let Some(why) = difference(&mine, theirs, helm.error.as_deref().or(helm.panic.as_deref())) {
            different.push(format!("{text}\n  by Helm: {why}"));
        }
        // The injector has neither.
        if text.contains("include") || text.contains("tpl") {
            continue;
        }
        total += 1;
        let mine = ours(text, MissingKey::Invalid);
        if let Some(why) = difference(&mine, &istio.output, istio.error.as_deref().or(istio.panic.as_deref()))
        {
            different.push(format!("{text}\n  by the injector: {why}"));
        }
    }
    (total, different)
}

fn report(what: &str, (total, different): (usize, Vec<String>)) {
    let equal = total - different.len();
    let shown = different.iter().take(40).map(|text| format!("{text}\n")).collect::<String>();
    assert!(different.is_empty(), "{what}: {equal} / {total} equal\n{shown}");
    let _ =
        std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{what}: {equal} / {total} equal\n"));
}

#[test]
fn every_row_of_the_table_is_as_in_go() {
    needs!(Oracle::NEEDS);
    let (mut total, mut different) = (0, Vec::new());
    for (sentence, rows) in rows::rows() {
        let templates: Vec<_> = rows.iter().map(|row| (*row).to_owned()).collect();
        let (count, group) = compare(&templates);
        total += count;
        different.extend(group.into_iter().map(|text| format!("{sentence}: {text}")));
    }
    report("rows", (total, different));
}

#[test]
fn random_templates_are_as_in_go() {
    needs!(Oracle::NEEDS);
    let mut grammar = grammar::Grammar::new(0x6d69_7a7a_656e);
    let templates: Vec<_> = (0..3000).map(|_| grammar.template()).collect();
    report("random templates", compare(&templates));
}
