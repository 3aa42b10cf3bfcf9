//! Flags and templates: lines of `--set` up to an empty line, then a template that runs on what they set.

use std::time::Duration;

use mizzen_install::{Assignment, get_path};
use mizzen_template::{Failure, Limits, Map, Run, Templates, Value, helm::functions::functions};
use serde_json::{Value as Json, json};

pub fn render(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let (flags, template) = text.split_once("\n\n").unwrap_or(("", text));
    let values = set(flags);
    assert_eq!(values, set(flags), "the same flags set the same");
    // Whatever one rendering changes in its values, the next one starts anew.
    let (once, again) = (run(template, &values), run(template, &values));
    // Where the clock decided, it may decide otherwise.
    let timed = |result: &Result<String, Failure>| result.as_ref().is_err_and(|failure| failure.limit);
    if !timed(&once) && !timed(&again) {
        assert_eq!(once, again, "rendering twice gives the same");
    }
}

fn set(flags: &str) -> Json {
    let mut tree = json!({"spec": {}});
    for flag in flags.lines().take(64) {
        let assignment = Assignment::read(flag);
        if assignment.apply(&mut tree).is_ok() {
            let _ = get_path(&tree, &assignment.path);
        }
    }
    tree
}

fn run(template: &str, values: &Json) -> Result<String, Failure> {
    let limits = Limits { depth: 60, output: 1 << 20, steps: 20_000, time: Duration::from_secs(2) };
    let functions = functions();
    let mut templates = Templates::new();
    templates.add("fuzz.yaml", template, &functions)?;
    let root: Map = Map::from_iter([("Values", Value::from(values))]);
    Run::new(&templates, &functions, &limits).render("fuzz.yaml", &Value::Map(root))
}
