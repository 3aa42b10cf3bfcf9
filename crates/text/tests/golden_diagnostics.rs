//! The three forms of a diagnostic, as reviewed. `MIZZEN_BLESS=1` writes the files anew.

#![allow(clippy::unwrap_used, reason = "test helpers")]

use std::{env, fs, path::Path};

use mizzen_text::{
    At, Code, Diagnostic, Object, Place, Source,
    yaml::{Options, load_all},
};
use serde_json::Value;

fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("MIZZEN_BLESS").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "{name} differs; `MIZZEN_BLESS=1 cargo test -p mizzen-text` rewrites it");
}

/// Of every kind that the loader gives, and some that later stages give.
fn diagnostics() -> Vec<Diagnostic> {
    let text = concat!(
        "a: 1\nb: {x: 1, x: 2}\na: 3\n",
        "---\nmessage: it failed: again\n",
        "---\nkey: value\n  more: values\n",
        "---\nlist:\n- a\n b: c\n",
        "---\nopen: [1, 2\n",
        "---\nnumber: .inf\n",
        "---\nx: *nowhere\n",
        "---\nt:\n\tindented: by a tab\n",
        "---\n漢字: \"\\q\"\n",
        "---\n{\"a\": \"\u{1b}[31m\"}\n",
        "---BEGIN CERTIFICATE---\n",
        "---\ngood: 1\n...\nmore: text\n",
    );
    let source = Source::new("mesh/in put.yaml", text);
    let mut all: Vec<Diagnostic> = load_all(&source, &Options::KUBERNETES)
        .flat_map(|read| match read {
            Ok(document) => document.warnings,
            Err(diagnostic) => vec![*diagnostic],
        })
        .collect();

    let long = format!("spec: {{hosts: [{}]}}", "\"a.example.com\", ".repeat(100));
    let source = Source::new("-", long);
    let document = load_all(&source, &Options::KUBERNETES).next().unwrap().unwrap();
    let (spec, hosts);
    let path = {
        spec = At::TOP.field("spec");
        hosts = spec.field("hosts");
        hosts.index(50).path()
    };
    let object = Object {
        kind: "VirtualService".into(),
        namespace: Some("shop".into()),
        name: "cart\u{1b}[2J".into(),
    };
    all.push(
        Diagnostic::new(Code::Doubtful, "the host is there already")
            .at(document.place(&path))
            .path(path)
            .object(object),
    );
    let object = Object { kind: "Gateway".into(), namespace: None, name: "public".into() };
    all.push(Diagnostic::new(Code::PassedBy, "not of a kind that is checked").object(object));
    all.push(
        Diagnostic::new(Code::Unreadable, "permission denied").at(Place::whole(&Source::new("/etc/x", ""))),
    );
    all
}

#[test]
fn diagnostics_for_people_are_as_reviewed() {
    let text: Vec<_> = diagnostics().iter().map(|diagnostic| diagnostic.for_people(false)).collect();
    golden("diagnostics.txt", &text.join("\n"));
}

#[test]
fn colours_change_nothing_but_the_colours() {
    let mut painted = 0;
    for diagnostic in diagnostics() {
        let coloured = diagnostic.for_people(true);
        let mut plain = String::new();
        let mut parts = coloured.split('\u{1b}');
        plain.push_str(parts.next().unwrap());
        for part in parts {
            let (sequence, rest) = part.split_once('m').unwrap();
            assert!(sequence.trim_start_matches('[').chars().all(|c| c.is_ascii_digit() || c == ';'));
            plain.push_str(rest);
            painted += 1;
        }
        assert_eq!(plain, diagnostic.for_people(false));
    }
    assert!(painted > 0);
}

#[test]
fn diagnostics_as_json_are_as_reviewed() {
    let all: Value = diagnostics().iter().map(Diagnostic::to_json).collect();
    golden("diagnostics.json", &format!("{all:#}\n"));
}

#[test]
fn diagnostics_as_sarif_are_as_reviewed() {
    golden("diagnostics.sarif", &format!("{:#}\n", mizzen_text::to_sarif(&diagnostics())));
}

/// What the schema of SARIF 2.1.0 demands of the parts that are used.
#[test]
fn the_sarif_has_what_its_schema_requires() {
    let sarif = mizzen_text::to_sarif(&diagnostics());
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "mizzen");
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        assert!(rule["id"].is_string() && rule["shortDescription"]["text"].is_string());
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), diagnostics().len());
    for result in results {
        assert!(result["message"]["text"].is_string());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        let none = Vec::new();
        let locations = result["locations"].as_array().unwrap_or(&none).iter();
        for location in locations.chain(result["relatedLocations"].as_array().unwrap_or(&none)) {
            let physical = &location["physicalLocation"];
            if !physical.is_null() {
                assert!(physical["artifactLocation"]["uri"].is_string());
            }
            if let Some(region) = physical["region"].as_object() {
                for number in ["startLine", "startColumn", "endLine", "endColumn"] {
                    assert!(region[number].as_u64().unwrap() >= 1);
                }
            }
        }
    }
}
