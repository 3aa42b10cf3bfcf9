//! Every example in the documentation can be used as it stands there.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

mod common;

use common::{app, told};
use mizzen_text::Severity;
use std::{fs, path::Path};

/// The YAML of the page, each with the line that it begins at.
fn examples() -> Vec<(usize, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/app-model.md");
    let text = fs::read_to_string(page).unwrap();
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        match line {
            "```yaml" => {
                inside = true;
                found.push((number + 1, String::new()));
            }
            "```" => inside = false,
            _ if inside => found.last_mut().unwrap().1 += &format!("{line}\n"),
            _ => {}
        }
    }
    found
}

#[test]
fn every_example_is_built() {
    let examples = examples();
    let mut kinds = 0;
    for (line, text) in &examples {
        let texts = match text.lines().next().unwrap() {
            "# platform.yaml" => app("name: shop\n").file("platform.yaml", text),
            "# app.yaml" if text.contains("\nname: ") => app(text),
            "# app.yaml" => app(&format!("name: shop\n{text}")),
            other => panic!("line {line}: {other} is no file"),
        };
        let built = texts.build();
        let fine = built.diagnostics.iter().all(|diagnostic| {
            // Istio warns of EnvoyFilters whatever they say.
            diagnostic.severity == Severity::Info
                || diagnostic.message.starts_with("EnvoyFilter exposes internal")
        });
        assert!(fine, "line {line}: {}", told(&built));
        kinds += usize::from(text.starts_with("# app.yaml\nistio:"));
    }
    assert_eq!(kinds, 13, "one for each kind");
}
